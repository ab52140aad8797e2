// The frame of every measurement: the order in which stream, knobs, loads, memory lock and what measures come and go, the header, the
// watch, the account and the summary. What measures, and where its samples go meanwhile, is the recording: a ring that a thread of the
// recorder's drains (cell/cell.cpp), rows in memory until the end (points/run.cpp), or none (tests/unmeasured.cpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cell/document_parts.hpp"
#include "cell/live.hpp"
#include "cell/sampler.hpp"
#include "cell/surroundings.hpp"
#include "cell/wake_fd.hpp"
#include "sys/memory.hpp"

namespace howlate {

// Called once. run() goes through the steps in the order in which they stand here; their results are undone in reverse.
class CellFrame {
 public:
  CellFrame(Cell& cell, std::vector<int> measuring, Labels labels);
  CellFrame(const CellFrame&) = delete;
  CellFrame& operator=(const CellFrame&) = delete;
  virtual ~CellFrame() = default;

  // For a cell that is only checked: the steps that can refuse it, and nothing more.
  Result<ExitCode> run();

 protected:
  // ---- the recording, step by step
  virtual Status check() { return {}; }    // what can refuse it before anything is started or changed
  virtual Status set_up() { return {}; }   // while there is no other thread
  virtual Status prepare() { return {}; }  // threads are made and wait at a gate
  virtual void undo() {}                   // of the two, where the cell cannot begin
  virtual void begin() = 0;                // chooses t0, opens the gate; see write_opening()
  virtual void look(std::int64_t now_ns) { sampler_->tick(now_ns); }  // now and then, while it is measured
  virtual void join() = 0;     // waits for what measures, and sets outcome_.duration_ns
  virtual void account() = 0;  // accounts, statistics, why it ended; writes what is not yet written
  [[nodiscard]] virtual Status right() const { return {}; }  // what went wrong, once everything is written

  // ---- what the frame asks it
  [[nodiscard]] virtual std::int64_t t0_ns() const = 0;  // 0: not yet chosen
  [[nodiscard]] virtual bool ended() const = 0;
  [[nodiscard]] virtual bool stopping() const { return false; }
  virtual void stop() = 0;  // asked from outside
  virtual void kick() {}    // again and again while it is stopping
  [[nodiscard]] virtual std::int64_t look_again_ns() const { return 100'000'000; }
  // For a recording that ends by itself and signals no wake_fd.
  [[nodiscard]] virtual std::int64_t end_ns() const { return INT64_MAX; }
  [[nodiscard]] virtual SoFar so_far() const { return {}; }
  // For how long the machine's tables are kept in memory.
  [[nodiscard]] virtual double seconds_kept() const { return 3600; }
  // Whether its loads run alone for a stretch first.
  [[nodiscard]] virtual bool needs_reference() const { return true; }
  [[nodiscard]] virtual bool locks_memory() const { return true; }

  // ---- its members of header and summary
  // The CPU of each table `samples`; -1: not pinned.
  [[nodiscard]] virtual std::vector<int> table_cpus() const = 0;
  [[nodiscard]] virtual std::span<const ColumnSpec> columns() const { return cell_.test().columns; }
  virtual void write_head(JsonWriter& /*json*/) const {}
  virtual void write_threads(JsonWriter& /*json*/) const {}
  virtual void write_recorder(JsonWriter& json) const { json.member("record", "memory"); }
  virtual void write_in_force(JsonWriter& /*json*/) const {}  // further members of it
  virtual void write_more_tables(JsonWriter& /*json*/, std::size_t /*first_id*/) const {
  }  // behind the machine's
  [[nodiscard]] virtual std::string_view late_policy() const { return ""; }
  virtual void write_statistics(JsonWriter& json) const = 0;
  virtual void write_statistics(std::string& text) const = 0;
  virtual void write_histograms(std::string& text) const = 0;

  // The stream's header. Its text may be had before t0 is known.
  [[nodiscard]] std::string header(std::int64_t t0_ns) const;
  void write_opening(std::int64_t t0_ns);
  [[nodiscard]] SamplerSpec sampler_spec() const;
  // Whose interrupts are counted: the CPUs of the threads that record.
  [[nodiscard]] virtual std::vector<int> counted_cpus() const { return measuring_; }
  // The number of the first of write_more_tables().
  [[nodiscard]] std::size_t more_tables_at() const { return table_cpus().size() + machine_tables; }

  Cell& cell_;
  std::vector<int> allowed_;
  std::vector<int> measuring_;
  Labels labels_;
  Surroundings around_;
  Sink sink_;
  CellOutcome outcome_;
  std::optional<WakeFd> wake_fd_;
  std::optional<SystemSampler> sampler_;
  std::optional<MemoryLock> memory_;

 private:
  Status get_ready();
  void measure();
  void watch(Live& live);
  void conclude();
  [[nodiscard]] std::string summary_json() const;
  [[nodiscard]] std::string summary_text() const;
};

}  // namespace howlate
