// The recorder: one thread that takes samples out of the measuring threads' rings and appends them to the
// stream, and samples the machine once a second. docs/recorder.md says where and how it runs, and why.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cell/cell.hpp"
#include "cell/lanes.hpp"
#include "cell/sampler.hpp"
#include "cell/sink.hpp"
#include "cell/table.hpp"
#include "cell/tally.hpp"
#include "trace/watch.hpp"

namespace howlate {

// Where and how the recorder runs.
struct RecorderPlace {
  std::vector<int> cpus;  // one where no thread measures, or all
  bool in_gaps = false;   // all CPUs measure: it runs unpinned between activations and writes in small pieces
  SchedPolicy policy;  // one below the lowest measuring priority; in the gaps `other` where a thread is other
  std::string why_other;  // in the gaps of real-time threads and yet `other`: a sentence; else empty
};
RecorderPlace choose_recorder_place(const std::vector<std::unique_ptr<MeasuringThread>>& lanes,
                                    const std::vector<int>& allowed, const std::vector<int>& measuring);

// How many samples a ring holds: a power of two. Ten seconds of releases, in stream mode no more than the
// bound on memory allows; the whole run in memory mode, or the sentence that says why not. `other_bytes` is
// what else is kept in memory until the end.
Result<std::size_t> choose_ring_samples(const CellPlan& plan, std::int64_t memory_available,
                                        std::size_t other_bytes = 0);

// A sentence where the rings hold less than ten seconds, because of the bound on memory; else empty.
std::string short_ring_warning(const CellPlan& plan, std::size_t ring_samples);

class Recorder {
 public:
  static constexpr std::int64_t wake_ns = 50'000'000;
  static constexpr std::size_t gap_write_bytes = 4096;
  // So long before the first release, which is where --first has it by default, when_near() is called.
  static constexpr std::int64_t near_ns = 1'000'000;
  // In the gaps of the measuring threads a round keeps this distance from their releases: it would come before a thread in which the
  // kernel lets a timer expire, and that reads /proc/stat on a machine of some dozen CPUs.
  static constexpr std::int64_t clear_ns = 500'000;
  // Reading one page of the kernel's trace keeps this distance: it takes some microseconds, and some kernels do not preempt it.
  static constexpr std::int64_t page_clear_ns = 50'000;

  Recorder(const CellPlan& plan, std::span<const ColumnSpec> columns, Lanes& lanes, SystemSampler& sampler,
           Sink& sink, WakeFd& wake_fd);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() { finish(); }

  // Makes the thread, which waits for begin(). A policy that cannot be had becomes `other`, with the sentence
  // in not_had().
  Status start(const RecorderPlace& place, const Root& root);
  // Chooses t0, opens the lanes' gate, writes the magic and the header. `header` makes the JSON with t0 in
  // it.
  void begin(std::function<std::string(std::int64_t t0_ns)> header);
  // Called by the recorder's thread right before the first release, and not at all where it gets the CPU too late for that; to be
  // set before begin().
  void when_near(std::function<void()> near) { near_ = std::move(near); }
  // Shown each sample, and asked for a round after those of each round; to be set before begin().
  void watch_with(TraceWatch& watch) { watch_ = &watch; }
  // Takes the remaining samples and ends. Call it after the lanes have ended.
  void finish();

  [[nodiscard]] const ThreadInForce& in_force() const { return thread_.in_force(); }
  [[nodiscard]] const std::string& not_had() const { return not_had_; }
  [[nodiscard]] std::int64_t t0_ns() const {
    return t0_ns_.load(std::memory_order_acquire);
  }  // 0: not yet chosen
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }
  // How many releases of the lane were due by its end, computed only from its schedule. Call it after finish().
  [[nodiscard]] std::int64_t count_releases(std::size_t lane);
  [[nodiscard]] const Tally& tally(std::size_t lane) const { return lanes_record_[lane].tally; }
  [[nodiscard]] const TableWriter& table(std::size_t lane) const { return lanes_record_[lane].table; }

 private:
  struct LaneRecord {
    TableWriter table;
    Tally tally;
    std::size_t looked = 0;  // samples in the ring that the watch was shown, in memory mode
    Schedule counted;  // the lane's, apart from the loop's own: passed over as far as samples were taken
  };

  void body();
  void open();
  void tell_if_near();
  void drain(std::size_t lane);
  void drain_all();
  void flush(LaneRecord& record);
  void look_for_cases();
  void stay_clear();

  const CellPlan& plan_;
  Lanes& lanes_;
  SystemSampler& sampler_;
  Sink& sink_;
  WakeFd& wake_fd_;
  std::vector<LaneRecord> lanes_record_;
  // Of the first lane, where rounds are in its gaps; passed as far as the last round.
  std::optional<Schedule> releases_;
  std::function<std::string(std::int64_t)> header_;
  TraceWatch* watch_ = nullptr;
  std::function<void()> near_;  // empty when it was called
  std::vector<std::byte> opening_;
  std::string not_had_;
  std::atomic<int> phase_{0};
  std::atomic<std::int64_t> t0_ns_{0};
  std::atomic<bool> failed_{false};
  RtThread thread_;
};

}  // namespace howlate
