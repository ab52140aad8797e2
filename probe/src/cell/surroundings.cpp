#include "cell/surroundings.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <iterator>
#include <tuple>

#include "cell/document_parts.hpp"
#include "core/json.hpp"
#include "sys/clock.hpp"
#include "sys/cpus.hpp"
#include "sys/process.hpp"
#include "sys/tasks.hpp"

namespace howlate {

std::vector<int> without(const std::vector<int>& all, const std::vector<int>& some) {
  std::vector<int> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  return rest;
}

Status Surroundings::check() const {
  if (const Status knobs = KnobSet::check(cell_.params().texts("knob"), knob_context()); !knobs) return knobs;
  return LoadSet::check(cell_.params().texts("load"), asking_);
}

KnobContext Surroundings::knob_context() const {
  KnobContext context;
  context.root = cell_.root().at("/");
  context.measuring_cpus = measuring_;
  return context;
}

Status Surroundings::begin(bool with_reference) {
  auto signals = take_end_signals();
  if (!signals) return signals.error();
  signals_ = std::move(*signals);
  auto knobs = KnobSet::apply(cell_.params().texts("knob"), knob_context());
  if (!knobs) return knobs.error();
  knobs_ = std::move(*knobs);
  if (Status started = start_loads(with_reference); !started) return started;
  if (const auto others = without(allowed_, measuring_); !others.empty())
    if (const Status moved = set_affinity(others); !moved)
      cell_.warn("probe.not-moved-away", moved.error().message);
  return {};
}

Status Surroundings::start_loads(bool with_reference) {
  const std::vector<std::string>& specs = cell_.params().texts("load");
  // Asked here, before this thread is moved off the measuring CPUs: where loads may run is read from its affinity.
  const bool needed = LoadSet::alone_least_ns(specs, asking_) != 0;
  its_own_reference_ = needed && !with_reference;
  std::vector<LoadOutcome> alone;
  if (needed && with_reference) {
    auto ran = LoadSet::run_alone(specs, asking_, signals_);
    if (!ran) return ran.error();
    alone = std::move(*ran);
  }
  tasks_before_ = look_at_tasks(cell_.root(), Order::newest_first);
  auto loads = LoadSet::start(specs, asking_, signals_);
  if (!loads) return loads.error();
  loads_ = std::move(*loads);
  loads_.hold_against(alone);
  return {};
}

Error Surroundings::give_up(Error error) {
  loads_ = LoadSet();
  if (const Status restored = knobs_.restore(); !restored)
    return broken(error.message + "; and " + restored.error().message, restored.error().remedy);
  return error;
}

void Surroundings::read_before(CellOutcome& outcome) {
  loads_.ask_before();
  outcome.clock_source_before = clock_source(cell_.root());
  outcome.clocks_before = read_clock_offsets();
  outcome.smis = read_smis_before(cell_.root(), measuring_);
  for (const int cpu : measuring_)
    outcome.frequencies.push_back({cpu, cpu_frequency_khz(cell_.root(), cpu), 0});
  outcome.heat_before = read_heat(cell_.root(), online_cpus(cell_.root()));
  rt_throttling_.emplace(cell_.root());
}

void Surroundings::read_after(CellOutcome& outcome) {
  loads_.ask_after();
  outcome.clock_source_after = clock_source(cell_.root());
  outcome.clocks_after = read_clock_offsets();
  read_smis_after(cell_.root(), outcome.smis);
  for (FrequencyReading& one : outcome.frequencies) one.after_khz = cpu_frequency_khz(cell_.root(), one.cpu);
  look_for_throttling(outcome);
  if (outcome.clock_source_before != outcome.clock_source_after)
    cell_.warn("probe.clock-source-changed", "the clock source changed from " + outcome.clock_source_before +
                                                 " to " + outcome.clock_source_after +
                                                 " while measuring: the times are not valid");
}

void Surroundings::look_for_throttling(CellOutcome& outcome) {
  outcome.heat_after = read_heat(cell_.root(), online_cpus(cell_.root()));
  outcome.rt_throttled = rt_throttling_->happened();
  if (outcome.rt_throttled.value_or(false))
    cell_.warn("probe.rt-throttled",
               "the kernel throttled real-time tasks (sched_rt_runtime_us) while it was measured");
  for (const auto& [what, before, after] :
       {std::tuple{"cores", outcome.heat_before.core, outcome.heat_after.core},
        std::tuple{"packages", outcome.heat_before.package, outcome.heat_after.package}})
    if (before && after && *after > *before)
      cell_.warn("probe.slowed-by-heat", "the CPUs' " + std::string(what) +
                                             " were slowed because of heat while it was measured, " +
                                             std::to_string(*after - *before) + " times counted");
}

void Surroundings::end(CellOutcome& outcome) {
  auto loads = loads_.stop();
  if (loads) {
    outcome.loads = std::move(*loads);
  } else {
    cell_.warn("probe.loads-not-stopped", loads.error().message);
  }
  if (its_own_reference_)
    for (LoadOutcome& load : outcome.loads)
      load.goal.reference = load.goal.achieved;  // nothing was beside it
  for (const LoadOutcome& load : outcome.loads)
    if (std::string reason = load.not_loaded(); !reason.empty())
      cell_.warn("load.not-loaded", std::move(reason));
  for (const LoadOutcome& load : outcome.loads)
    for (const std::string& warning : load.warnings)
      cell_.warn("probe.load", "load " + load.spec + ": " + warning);
  look_for_others(outcome);
  restored_ = knobs_.restore();
  outcome.knobs = knobs_.to_json();
  if (!restored_) cell_.warn("probe.knob-not-restored", restored_.error().message);
}

void Surroundings::look_for_others(CellOutcome& outcome) {
  const Root& root = cell_.root();
  const TasksSeen after = look_at_tasks(root, Order::oldest_first);
  const auto own = executable_of(root, ::getpid());
  const Kin kin = kin_of(after.processes, ::getpid(),
                         [&](pid_t pid) { return own.has_value() && executable_of(root, pid) == own; });
  const OthersOutcome others = account_others(tasks_before_, after, kin, measuring_, !outcome.loads.empty(),
                                              [&](pid_t pid) { return read_task_place(root, pid); });
  const bool expected = cell_.params().text("others") == "expected";
  if (!others.alone() && !expected) cell_.warn("probe.others-ran", others.sentence());
  outcome.others = others.to_json(expected);
}

std::string Surroundings::loads_json() const {
  JsonWriter json;
  json.begin_array();
  for (std::size_t i = 0; i < loads_.size(); ++i)
    json.begin_object()
        .member("name", loads_.name(i))
        .member("spec", loads_.spec(i))
        .member("pid", loads_.pid(i))
        .end_object();
  return json.end_array().take();
}

Status open_sink(const Params& params, Sink& sink) {
  if (!params.is_set("stream")) return {};
  auto file = AppendFile::create(params.text("stream"));
  if (!file) return file.error();
  sink = Sink(std::move(*file));
  return {};
}

Status write_trailer(Sink& sink, const CellOutcome& outcome, const std::vector<Warning>& warnings) {
  std::vector<std::byte> frame;
  StreamEncoder::trailer(frame, trailer_json(outcome, warnings));
  const bool kept = sink.put_last(frame);
  if (sink.error() == 0 && kept) return {};
  const std::string why = sink.error() != 0 ? errno_text(sink.error()) : "its end could not be written";
  return broken(
      "the stream " + sink.path() + " is cut: " + why + "; it is readable up to its last whole batch",
      "Free some space, or give --stream a file on another disk");
}

namespace {

// The signals are blocked (take_end_signals).
bool is_asked_to_end() {
  sigset_t waiting;
  ::sigemptyset(&waiting);
  ::sigpending(&waiting);
  return ::sigismember(&waiting, SIGINT) == 1 || ::sigismember(&waiting, SIGTERM) == 1 ||
         ::sigismember(&waiting, SIGHUP) == 1;
}

// To standard output, whose errors are told at the end (sys/standard.hpp). A signal ends it where nobody reads.
void put_out(std::string_view text) {
  constexpr int look_again_ms = 100;
  std::fflush(stdout);
  while (!text.empty()) {
    struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&out, 1, look_again_ms) == 0 && is_asked_to_end()) return;
    if (out.revents == 0) continue;
    const ssize_t many = ::write(STDOUT_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (many > 0) {
      text.remove_prefix(static_cast<std::size_t>(many));
    } else if (many == 0 || (errno != EINTR && errno != EAGAIN)) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      return;
    }
  }
}

}  // namespace

void print_report(Cell& cell, const std::function<std::string()>& json,
                  const std::function<std::string()>& text) {
  if (cell.params().flag("json")) {
    put_out(json());
  } else if (!cell.params().flag("quiet")) {
    put_out(text());
  } else {
    for (const Warning& warning : cell.warnings())
      std::fprintf(stderr, "howlate-probe: warning: %s.\n", warning.text.c_str());
  }
  std::fflush(stdout);
}

}  // namespace howlate
