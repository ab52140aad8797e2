// `--explain`: what can delay the measuring threads is recorded (trace/source.hpp), and the stretches around late
// activations are kept. docs/explain.md describes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cell/sink.hpp"
#include "core/json.hpp"
#include "core/result.hpp"
#include "sys/root.hpp"
#include "sys/sched.hpp"
#include "trace/decode.hpp"
#include "trace/events.hpp"
#include "trace/options.hpp"
#include "trace/source.hpp"
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
                                                const std::vector<TracedThread>& threads);
  Explain(const Explain&) = delete;
  Explain& operator=(const Explain&) = delete;
  ~Explain() { end(); }

  [[nodiscard]] TraceWatch& watch() { return *watch_; }
  // Nothing is recorded afterwards. From any thread: a measuring thread calls it at its threshold.
  void stop() {
    if (!stopped_.exchange(true, std::memory_order_acq_rel)) source_->stop();
  }
  // Reads the rest, gives the tracing back and writes both tables. Call it after stop() and the recorder's end.
  void finish(Sink& sink, std::uint16_t first_table, std::int64_t t0_ns);

  void write_in_force(JsonWriter& json) const;  // the value of in_force.trace
  static constexpr std::size_t tables = 2;
  static void write_tables(JsonWriter& json, std::size_t first_id);  // trace_cases, trace_events
  [[nodiscard]] std::string trailer_json() const;
  [[nodiscard]] std::string summary() const;  // a line for people
  [[nodiscard]] std::optional<std::string> incomplete()
      const;  // a sentence, where something could not be kept

 private:
  Explain(const Root& root, const ExplainOptions& options, ChosenSource chosen)
      : root_(root),
        options_(options),
        source_(std::move(chosen.source)),
        events_(chosen.events),
        no_bpf_(std::move(chosen.no_bpf)) {}
  Status set_up(const std::vector<TracedThread>& threads);
  void write(Sink& sink, std::uint16_t first_table, std::int64_t t0_ns);
  void end();

  Root root_;
  ExplainOptions options_;
  std::unique_ptr<EventSource> source_;
  std::atomic<bool> stopped_{false};
  ExplainEvents events_;
  std::string no_bpf_;
  std::optional<TraceWatch> watch_;
  std::vector<TracedThread> threads_;
  std::vector<int> cpus_;
  Decoded decoded_;
  std::int64_t missed_ = 0;
  std::map<std::int64_t, std::string> functions_;
  std::vector<std::string> ipis_;
};

}  // namespace howlate
