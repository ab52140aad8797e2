// `--explain`: the kernel's trace ring records what can delay the measuring threads, and the stretches around late
// activations are kept. docs/explain.md describes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cell/sink.hpp"
#include "core/json.hpp"
#include "core/result.hpp"
#include "sys/changes.hpp"
#include "sys/root.hpp"
#include "sys/sched.hpp"
#include "sys/trace_ring.hpp"
#include "sys/tracefs.hpp"
#include "trace/decode.hpp"
#include "trace/events.hpp"
#include "trace/options.hpp"
#include "trace/watch.hpp"

namespace howlate {

// A measuring thread that waits at the gate.
struct TracedThread {
  std::vector<int> cpus;  // where it may run
  pid_t tid = 0;
  SchedPolicy policy;
};

class Explain {
 public:
  // Asked before anything is started; changes nothing. The reason and the remedy where it is not possible.
  static Status possible(const Root& root, const ExplainOptions& options, std::size_t threads,
                         std::size_t cpus, std::int64_t memory_available);
  // Records from now on.
  static Result<std::unique_ptr<Explain>> begin(const Root& root, const ExplainOptions& options,
                                                const std::vector<TracedThread>& threads,
                                                std::int64_t warm_up);
  Explain(const Explain&) = delete;
  Explain& operator=(const Explain&) = delete;
  ~Explain() { end(); }

  [[nodiscard]] TraceWatch& watch() { return *watch_; }
  // Nothing is recorded afterwards.
  void stop() const { instance_->stop(); }
  // Reads the rest, gives the tracing back and writes both tables. Call it after stop() and the recorder's end.
  void finish(Sink& sink, std::uint16_t first_table, std::int64_t t0_ns);

  void write_in_force(JsonWriter& json) const;                       // the value of in_force.trace
  static void write_tables(JsonWriter& json, std::size_t first_id);  // trace_cases, trace_events
  [[nodiscard]] std::string trailer_json() const;
  [[nodiscard]] std::string summary() const;  // a line for people
  [[nodiscard]] std::optional<std::string> incomplete()
      const;  // a sentence, where something could not be kept

 private:
  Explain(const Root& root, const ExplainOptions& options, Tracefs tracefs, EventPlan plan)
      : root_(root),
        options_(options),
        tracefs_(std::move(tracefs)),
        plan_(std::move(plan)),
        changes_(root) {}
  Status set_up(const std::vector<TracedThread>& threads, std::int64_t warm_up);
  Status set_up_ring();
  void leave_names_out() const;
  void write(Sink& sink, std::uint16_t first_table, std::int64_t t0_ns);
  void end();

  Root root_;
  ExplainOptions options_;
  Tracefs tracefs_;
  EventPlan plan_;
  Changes changes_;
  std::optional<TraceInstance> instance_;
  std::optional<TraceRing> ring_;
  std::optional<TraceWatch> watch_;
  std::vector<TracedThread> threads_;
  std::vector<int> cpus_;
  std::int64_t buffer_bytes_ = 0;
  std::optional<std::int64_t> event_cost_ns_;
  Decoded decoded_;
  std::map<std::int64_t, std::string> functions_;
  std::vector<std::string> ipis_;
};

}  // namespace howlate
