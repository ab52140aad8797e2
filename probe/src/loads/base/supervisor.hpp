// The process that stands over a load's workers: starts them, adds up what they did, reports, and ends them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "loads/base/request.hpp"
#include "loads/load.hpp"
#include "sys/file.hpp"
#include "sys/memory.hpp"
#include "sys/root.hpp"

namespace howlate {

// What a load did from the moment it was ready until it was stopped.
struct LoadSummary {
  LoadReport totals{};
  std::int64_t duration_ns = 0;
  double achieved_cpu = 0;  // share of the CPUs given
  std::string results = "{}";
  std::vector<std::string> warnings;
};

class Supervisor {
 public:
  explicit Supervisor(const LoadRequest& request) : request_(request) {}
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor();  // ends what is left

  // Everything, from the start of the workers to their end. Called once, by a process that has no other
  // threads.
  Result<LoadSummary> run();

 private:
  Status prepare();
  Status take_place() const;
  Status map_slots(std::size_t workers);
  Status start_worker(std::size_t index, bool pinned);
  [[noreturn]] void be_worker(std::size_t index, bool pinned);
  Status wait_until_ready();
  Status supervise();
  Status read_signals();
  Status child_ended();
  [[nodiscard]] LoadReport totals();
  void report();
  void write_report(const LoadReport& now) const;
  void live_line(const LoadReport& now) const;
  void end_workers();

  const LoadRequest& request_;
  std::span<WorkerSlot> slots_;
  std::vector<pid_t> pids_;
  Fd signals_, ready_read_, ready_write_;
  const std::optional<std::int64_t> memory_kills_before_ = out_of_memory_kills(Root());
  bool stopping_ = false, asked_ = false;
  std::int64_t cpu_before_ns_ = 0, cpu_last_ns_ = 0, ready_ns_ = 0;
};

}  // namespace howlate
