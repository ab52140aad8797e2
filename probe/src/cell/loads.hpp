// The loads of one cell: started before the measuring process locks its memory, read while it measures,
// stopped afterwards.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "loads/base/goal.hpp"
#include "loads/load.hpp"
#include "sys/file.hpp"

namespace howlate {

// The outcome of one load: an entry of the trailer's "loads" (docs/stream.md).
struct LoadOutcome {
  std::string name;                  // "cpu"
  std::string spec;                  // "cpu:50,nice=10", as given
  std::string unit;                  // "iterations"
  std::string target;                // "50", as given or by default
  std::optional<double> target_cpu;  // share of the CPUs given; none where the target is of another kind
  std::string cpus;                  // "0-1"
  std::string policy;                // "other"
  int nice = 0;
  // Share of the CPUs given. Of a load that is held at one: while it was measured. Of others: between the reports before and after it;
  // none where they did not come.
  std::optional<double> achieved_cpu;
  std::int64_t units = 0;        // from mark() (else: ready) to close() (else: stop())
  std::int64_t duration_ns = 0;  // that time
  Goal goal;                     // what it was to achieve, and what it did in that time
  std::string results = "{}";    // JSON object: what the load itself reports, over its whole life
  LoadRounds rounds;             // of one that works in rounds
  std::vector<std::string> warnings;

  [[nodiscard]] std::string to_json() const;
  [[nodiscard]] std::string not_loaded() const { return goal.not_loaded(spec); }
};

class LoadSet {
 public:
  // Whether `start` could begin with these: their options, their CPUs, their memory, and what each needs from the machine. Starts nothing.
  static Status check(const std::vector<std::string>& specs, const std::vector<int>& measuring_cpus);
  // The first half of that: their words and their CPUs.
  static Status read(const std::vector<std::string>& specs, const std::vector<int>& measuring_cpus);
  // Starts every load as a process of its own, executed anew from /proc/self/exe, and waits until each says
  // that it is ready. When one cannot, all are ended and its own sentence and exit code are returned. "none"
  // starts nothing and stands alone. `measuring_cpus` gives cpus=same and cpus=other their meaning. To be
  // called from the main thread (the kernel ends the loads when the *thread* that started them ends), before
  // the caller locks its memory. A signal that waits on `signals` (take_end_signals) or comes meanwhile ends what was started and
  // is an error.
  static Result<LoadSet> start(const std::vector<std::string>& specs, const std::vector<int>& measuring_cpus,
                               const Fd& signals);

  LoadSet();
  LoadSet(LoadSet&& other) noexcept;
  LoadSet& operator=(LoadSet&& other) noexcept;
  LoadSet(const LoadSet&) = delete;
  LoadSet& operator=(const LoadSet&) = delete;
  ~LoadSet();  // kills loads that were not stopped, and waits for them

  [[nodiscard]] std::size_t size() const;  // 0 for "none"
  [[nodiscard]] const std::string& name(std::size_t load) const;
  [[nodiscard]] const std::string& spec(std::size_t load) const;
  [[nodiscard]] pid_t pid(std::size_t load) const;  // of its supervisor, which leads its process group

  // Runs loads that ask for as much as the machine gives, or that compete with one another, for a stretch with nothing measured
  // beside them, and ends them: what they did there is what those of this set, which has not been started from other specs, are
  // held against. To be called before start(), so that a load's own results are of the cell alone. Signals: as start().
  static Result<std::vector<LoadOutcome>> run_alone(const std::vector<std::string>& specs,
                                                    const std::vector<int>& measuring_cpus,
                                                    const Fd& signals);
  // For how long run_alone() runs them at least; 0 where it has nothing to say of them. To be called from a thread that may run where
  // the loads may.
  static std::int64_t alone_least_ns(const std::vector<std::string>& specs,
                                     const std::vector<int>& measuring_cpus);
  static constexpr std::int64_t alone_most_ns = 5'000'000'000;
  void hold_against(const std::vector<LoadOutcome>& alone);

  // The newest totals; empties the pipe without blocking.
  const LoadReport& latest(std::size_t load);

  // The time in which a load's work counts begins with mark() and ends with close(). Threads that measure call them: the main thread
  // may run much later, and what a load does in between does not count. Both read memory that the loads share and the CPU clocks of
  // their workers; they wait for nobody and allocate nothing. Neither is called by two threads, and whoever calls stop() has joined both.
  void mark();
  void close();

  // The CPU time of tasks that come and go is known to their supervisor alone: asks each load for its totals before and after what is
  // measured, and waits for them (at most a fifth of a second each).
  void ask_before();
  void ask_after();

  // Ends all loads and returns what each did. A load that does not end within its time is killed with its whole
  // process group, which is a warning in its outcome, as is a load that had ended before.
  Result<std::vector<LoadOutcome>> stop();

 private:
  struct Running;
  void end();  // asks all to end, also those that are not ready yet, and kills those that do not
  void ask();
  void watch_alone();
  [[nodiscard]] bool is_known() const;
  std::vector<std::unique_ptr<Running>> running_;
};

}  // namespace howlate
