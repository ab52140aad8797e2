#include "cell/loads.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <map>

#include "cell/load_child.hpp"
#include "core/json.hpp"
#include "core/text.hpp"
#include "loads/base/member.hpp"
#include "loads/base/memory.hpp"
#include "loads/base/progress.hpp"
#include "loads/base/request.hpp"
#include "loads/base/steady.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/process.hpp"
#include "sys/sched.hpp"

namespace howlate {
namespace {

constexpr std::int64_t ms_ns = 1'000'000;
constexpr std::int64_t ready_within_ns = 30'000 * ms_ns;
constexpr std::int64_t answer_within_ns = 200 * ms_ns;
// How long loads run with nothing measured beside them: at least so long, on until each has done what it does often enough and the
// rate at which it does it is known, and not longer than the second figure. The plan has both (plan/matrix.py).
constexpr std::int64_t alone_at_least_ns = 250 * ms_ns;
constexpr std::int64_t alone_window_ns =
    alone_at_least_ns / static_cast<std::int64_t>(SteadyRate::windows_least);
constexpr double target_reached = 0.9;
constexpr std::int64_t end_within_ns = 10'000 * ms_ns;

struct Pipe {
  Fd read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return broken("cannot make a pipe to a load: " + errno_text(errno));
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return pipe;
}

// Appends what is there. False at the end of the file.
bool drain(const Fd& fd, std::string& text) {
  char bytes[4096];
  for (;;) {
    const ssize_t got = ::read(fd.get(), bytes, sizeof bytes);
    if (got > 0) {
      text.append(bytes, static_cast<std::size_t>(got));
    } else {
      return got < 0 && (errno == EAGAIN || errno == EINTR);
    }
  }
}

// The sentence that a load left on standard error, without its beginning; its last line.
std::string last_sentence(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const std::size_t line = text.rfind('\n');
  if (line != std::string::npos) text.erase(0, line + 1);
  constexpr std::string_view prefix = "howlate-probe: ";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

Error stopped_early() {
  return {ExitCode::inconclusive, "it was stopped before anything was measured", ""};
}

int milliseconds_until(std::int64_t end_ns) {
  const std::int64_t left_ns = end_ns - monotonic_now_ns();
  return left_ns <= 0 ? 0 : static_cast<int>(left_ns / ms_ns) + 1;
}

}  // namespace

// One load: its process, the three pipes from it, and the memory that it counts in.
struct LoadSet::Running {
  LoadOutcome outcome;  // what is known before it is stopped
  const Load* load = nullptr;
  std::size_t cpu_count = 1;
  pid_t pid = 0;  // 0: ended and waited for
  int how = 0;    // as waitpid() says
  Fd out, err, report;
  std::string out_text, err_text, report_text;
  SharedSlots slots;
  Progress ready, begun;          // begun: at mark()
  std::optional<Progress> ended;  // at close()
  SteadyRate rate;                // of a load that runs alone
  LoadReport last{};
  LoadReport before{};              // the answer to ask_before(), or the newest report at that time
  std::optional<LoadReport> after;  // to ask_after(); none where it is no newer than `before`
  std::int64_t reports = 0;

  Status launch(const std::vector<std::string>& words);
  void read_all();
  bool has_ended();
  void kill_family();
  Status wait_ready(std::int64_t end_ns, const Fd& signals);
  void wait_report(std::int64_t after_report, std::int64_t end_ns);
  void wait_end(std::int64_t end_ns);
  [[nodiscard]] Progress look() const { return slots.look(*load); }
  [[nodiscard]] bool known() const;
  void finish();
};

Status LoadSet::Running::launch(const std::vector<std::string>& words) {
  Result<Pipe> out_pipe = make_pipe(), err_pipe = make_pipe(), report_pipe = make_pipe();
  for (const Result<Pipe>* pipe : {&out_pipe, &err_pipe, &report_pipe})
    if (!*pipe) return pipe->error();
  Result<SharedSlots> memory = SharedSlots::make();
  if (!memory) return memory.error();
  std::vector<std::string> argv = {"howlate-probe", "load"};
  argv.insert(argv.end(), words.begin(), words.end());
  const pid_t parent = ::getpid();
  for (const char* word : {"--report-fd=3", "--slots-fd=4", "--json", "--end-with-parent"})
    argv.emplace_back(word);
  argv.push_back("--parent=" +
                 std::to_string(parent));  // where exec grants rights it forgets what was asked before
  std::vector<char*> pointers;
  for (std::string& word : argv) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  pid = ::fork();
  if (pid == 0)
    become_load(parent, pointers.data(), out_pipe->write.get(), err_pipe->write.get(),
                report_pipe->write.get(), memory->fd());
  if (pid < 0) {
    pid = 0;
    return not_possible("cannot start the load " + in_quotes(outcome.spec) + ": " + errno_text(errno),
                        "look at 'ulimit -u'");
  }
  ::setpgid(pid, pid);  // by both, so that it holds whoever comes first
  out = std::move(out_pipe->read);
  err = std::move(err_pipe->read);
  report = std::move(report_pipe->read);
  slots = std::move(*memory);
  return {};
}

void LoadSet::Running::read_all() {
  drain(out, out_text);
  drain(err, err_text);
  drain(report, report_text);
  while (report_text.size() >= sizeof(LoadReport)) {
    std::copy_n(report_text.data(), sizeof(LoadReport), reinterpret_cast<char*>(&last));
    report_text.erase(0, sizeof(LoadReport));
    ++reports;
  }
}

bool LoadSet::Running::has_ended() {
  if (pid != 0 && ::waitpid(pid, &how, WNOHANG) == pid) {
    pid = 0;
    read_all();
  }
  return pid == 0;
}

void LoadSet::Running::kill_family() {
  if (pid == 0) return;
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  while (::waitpid(pid, &how, 0) < 0 && errno == EINTR) {
  }
  pid = 0;
}

Status LoadSet::Running::wait_ready(std::int64_t end_ns, const Fd& signals) {
  for (;;) {
    if (take_signal(signals) != 0) return stopped_early();
    read_all();
    if (reports > 0) return {};
    if (has_ended()) {
      const std::string why = last_sentence(err_text);
      const bool has_reason = WIFEXITED(how) && WEXITSTATUS(how) != 0 && !why.empty();
      const ExitCode code = has_reason ? static_cast<ExitCode>(WEXITSTATUS(how)) : ExitCode::broken;
      return Error{
          code,
          "load " + in_quotes(outcome.spec) + ": " + (has_reason ? why : "it ended before it was ready"), ""};
    }
    const int left = milliseconds_until(end_ns);
    if (left == 0)
      return broken("load " + in_quotes(outcome.spec) + ": it was not ready within " +
                        format_duration_ns(ready_within_ns),
                    "try it alone: howlate-probe load " + outcome.spec);
    struct pollfd fds[] = {{report.get(), POLLIN, 0}, {err.get(), POLLIN, 0}, {signals.get(), POLLIN, 0}};
    ::poll(fds, 3, std::min(left, 20));
  }
}

void LoadSet::Running::wait_report(std::int64_t after_report, std::int64_t end_ns) {
  for (read_all(); reports <= after_report && !has_ended(); read_all()) {
    const int left = milliseconds_until(end_ns);
    if (left == 0) return;
    struct pollfd fd {
      report.get(), POLLIN, 0
    };
    ::poll(&fd, 1, std::min(left, 20));
  }
}

// Of a pipe that the load has closed poll() says so at once, again and again: a real-time thread that asks on the load's only CPU
// would keep it from its end.
void LoadSet::Running::wait_end(std::int64_t end_ns) {
  bool is_open = true;
  while (!has_ended()) {
    const int left = milliseconds_until(end_ns);
    if (left == 0) break;
    struct pollfd fd {
      is_open ? out.get() : -1, POLLIN, 0
    };
    ::poll(&fd, 1, std::min(left, 5));
    if ((fd.revents & (POLLHUP | POLLERR)) != 0) is_open = false;
    read_all();
  }
}

LoadSet::LoadSet() = default;
LoadSet::LoadSet(LoadSet&&) noexcept = default;
LoadSet& LoadSet::operator=(LoadSet&& other) noexcept {
  std::swap(running_, other.running_);
  return *this;
}
LoadSet::~LoadSet() {
  for (const auto& one : running_) one->kill_family();
}

namespace {

Result<std::vector<LoadRequest>> read_requests(const std::vector<std::string>& specs,
                                               const std::vector<int>& measuring_cpus) {
  std::vector<LoadRequest> requests;
  for (const std::string& spec : specs) {
    Result<LoadRequest> request = read_load_request({spec}, &measuring_cpus);
    if (!request) {
      Error error = request.error();
      error.message = "load " + in_quotes(spec) + ": " + error.message;
      return error;
    }
    for (const ParamSpec& option : load_common_params().subspan(3))  // after cpus, policy and nice
      if (request->params.given(option.name))
        return usage_error("load " + in_quotes(spec) + ": its test sets " + in_quotes(option.name),
                           "leave it out");
    if (request->load->spread == Spread::none && specs.size() > 1)
      return usage_error("the load \"none\" stands beside others", "give it alone, or leave it out");
    requests.push_back(std::move(*request));
  }
  return requests;
}

// Each load that starts competes with those that run already, so the time that all of them take grows with the square of their number:
// 50 on a CPU take about five seconds, which a plan counts, and 300 take minutes.
constexpr std::size_t workers_on_cpu_most = 50;

Status check_crowd(const std::vector<LoadRequest>& requests) {
  std::map<int, std::size_t> workers;
  for (const LoadRequest& request : requests)
    if (request.load->spread != Spread::none)
      for (const int cpu : request.cpus) ++workers[cpu];
  for (const auto& [cpu, many] : workers)
    if (many > workers_on_cpu_most)
      return usage_error(std::to_string(many) + " loads on CPU " + std::to_string(cpu) +
                             " would take longer to start than a plan allows for (at most " +
                             std::to_string(workers_on_cpu_most) + " on a CPU)",
                         "give fewer loads, with larger targets, or spread them over more CPUs with cpus=");
  return {};
}

// What a request says of the outcome before the load runs.
LoadOutcome asked_outcome(const LoadRequest& request, const std::string& spec) {
  LoadOutcome outcome;
  outcome.name = request.load->name;
  outcome.spec = spec;
  outcome.unit = request.load->unit;
  outcome.target = request.target;
  outcome.target_cpu = request.target_cpu;
  outcome.cpus = cpu_list_text(request.cpus);
  outcome.policy = policy_text(request.policy);
  outcome.nice = request.policy.nice;
  outcome.goal = goal_of(*request.load, request.params);
  return outcome;
}

}  // namespace

Status LoadSet::read(const std::vector<std::string>& specs, const std::vector<int>& measuring_cpus) {
  const auto requests = read_requests(specs, measuring_cpus);
  return requests ? check_crowd(*requests) : Status(requests.error());
}

Status LoadSet::check(const std::vector<std::string>& specs, const std::vector<int>& measuring_cpus) {
  const auto requests = read_requests(specs, measuring_cpus);
  if (!requests) return requests.error();
  if (const Status fits = check_crowd(*requests); !fits) return fits;
  if (const Status fits = check_memory_of_all(*requests); !fits) return fits;
  for (const LoadRequest& request : *requests)
    if (const Status right = request.check(); !right) return right;
  return {};
}

Result<LoadSet> LoadSet::start(const std::vector<std::string>& specs, const std::vector<int>& measuring_cpus,
                               const Fd& signals) {
  if (take_signal(signals) != 0) return stopped_early();
  const auto requests = read_requests(specs, measuring_cpus);
  if (!requests) return requests.error();
  if (const Status fits = check_crowd(*requests); !fits) return fits.error();
  if (const Status fits = check_memory_of_all(*requests); !fits) return fits.error();
  LoadSet set;
  for (std::size_t i = 0; i < requests->size(); ++i) {
    const LoadRequest& request = (*requests)[i];
    if (request.load->spread == Spread::none) continue;
    auto load = std::make_unique<Running>();
    load->outcome = asked_outcome(request, specs[i]);
    load->cpu_count = request.cpus.size();
    load->load = request.load;
    set.running_.push_back(std::move(load));
    if (const Status status = set.running_.back()->launch(request.words()); !status) return status.error();
  }
  const std::int64_t end_ns = monotonic_now_ns() + ready_within_ns;
  for (const auto& one : set.running_) {
    if (const Status status = one->wait_ready(end_ns, signals); !status) {
      if (status.error().code == ExitCode::inconclusive) set.end();  // in order, not killed
      return status.error();
    }
    if (const Status mapped = one->slots.map(); !mapped) return mapped.error();
    one->ready = one->begun = one->look();
    one->before = one->last;
  }
  return set;
}

std::size_t LoadSet::size() const {
  return running_.size();
}
const std::string& LoadSet::name(std::size_t load) const {
  return running_[load]->outcome.name;
}
const std::string& LoadSet::spec(std::size_t load) const {
  return running_[load]->outcome.spec;
}
pid_t LoadSet::pid(std::size_t load) const {
  return running_[load]->pid;
}

const LoadReport& LoadSet::latest(std::size_t load) {
  running_[load]->read_all();
  return running_[load]->last;
}

std::int64_t LoadSet::alone_least_ns(const std::vector<std::string>& specs,
                                     const std::vector<int>& measuring_cpus) {
  bool needed = specs.size() > 1;
  std::int64_t least_ns = alone_at_least_ns;
  for (const std::string& spec : specs) {
    const Result<LoadRequest> request = read_load_request({spec}, &measuring_cpus);
    if (!request) continue;
    needed = needed || asks_for_all(*request->load, request->params);
    least_ns = std::max(least_ns, request->load->alone_ns);
  }
  return needed ? least_ns : 0;
}

Result<std::vector<LoadOutcome>> LoadSet::run_alone(const std::vector<std::string>& specs,
                                                    const std::vector<int>& measuring_cpus,
                                                    const Fd& signals) {
  Result<LoadSet> loads = start(specs, measuring_cpus, signals);
  if (!loads) return loads.error();
  const ServedFirst on_time(
      ::getpid());  // among the loads' tasks this thread would come late; nothing is measured
  loads->mark();
  loads->watch_alone();
  const std::int64_t begin_ns = monotonic_now_ns();
  for (std::int64_t until_ns = begin_ns + alone_window_ns;; until_ns += alone_window_ns) {
    if (await_signal(signals, until_ns) != 0) {
      static_cast<void>(loads->stop());
      return stopped_early();
    }
    loads->watch_alone();
    if (loads->is_known() || until_ns - begin_ns >= alone_most_ns) break;
  }
  return loads->stop();
}

void LoadSet::watch_alone() {
  close();
  for (const auto& one : running_)
    one->rate.add(one->ended->time_ns, one->load->held ? one->ended->cpu_ns : one->ended->units);
}

bool LoadSet::is_known() const {
  return std::all_of(running_.begin(), running_.end(), [](const auto& one) { return one->known(); });
}

// A load with a target of its own is held against the smaller of the two: where it reaches the target its reference decides nothing.
bool LoadSet::Running::known() const {
  if (const std::optional<double>& target = outcome.goal.target) {
    const double per_second =
        load->held ? rate.per_second() / 1e9 / static_cast<double>(cpu_count) : rate.per_second();
    if (*target <= 0 || per_second >= target_reached * *target) return rate.begun();
  } else if (ended->actions - begun.actions < load->action.wanted ||
             ended->time_ns - begun.time_ns < load->alone_ns) {
    return false;
  }
  return rate.known();
}

void LoadSet::hold_against(const std::vector<LoadOutcome>& alone) {
  for (std::size_t i = 0; i < std::min(running_.size(), alone.size()); ++i)
    running_[i]->outcome.goal.reference = alone[i].goal.achieved;
}

void LoadSet::mark() {
  for (const auto& one : running_) one->begun = one->look();
}

void LoadSet::close() {
  for (const auto& one : running_) one->ended = one->look();
}

void LoadSet::ask_before() {
  ask();
  for (const auto& one : running_) one->before = one->last;
}

void LoadSet::ask_after() {
  ask();
  for (const auto& one : running_)
    if (one->last.time_ns > one->before.time_ns) one->after = one->last;
}

void LoadSet::ask() {
  std::vector<std::int64_t> before;
  std::deque<ServedFirst> first;  // among thousands of tasks the answer would come late
  for (const auto& one : running_) {
    one->read_all();
    before.push_back(one->reports);
    first.emplace_back(one->pid);
    if (!one->has_ended()) ::kill(one->pid, SIGUSR1);
  }
  for (std::size_t i = 0; i < running_.size(); ++i)
    running_[i]->wait_report(before[i], monotonic_now_ns() + answer_within_ns);
}

// From what the load counted, printed and reported to its outcome.
void LoadSet::Running::finish() {
  const Progress to = *ended;
  const Progress& from = begun.time_ns < to.time_ns ? begun : ready;  // nothing was measured between them
  outcome.duration_ns = to.time_ns - from.time_ns;
  outcome.units = to.units - from.units;
  const auto share_of = [this](std::int64_t cpu_ns, std::int64_t time_ns) {
    return std::max(
        0.0, static_cast<double>(cpu_ns) / (static_cast<double>(time_ns) * static_cast<double>(cpu_count)));
  };
  const LoadReport& newest = after ? *after : last;  // the last one comes when the load ends
  if (load->held && outcome.duration_ns > 0) {
    outcome.achieved_cpu = share_of(to.cpu_ns - from.cpu_ns, outcome.duration_ns);
  } else if (newest.time_ns > before.time_ns) {
    outcome.achieved_cpu = share_of(newest.cpu_ns - before.cpu_ns, newest.time_ns - before.time_ns);
  }
  Goal& goal = outcome.goal;
  goal.duration_ns = outcome.duration_ns;
  goal.actions = to.actions - from.actions;
  if (load->held) {
    goal.achieved = outcome.achieved_cpu.value_or(0);
  } else if (outcome.duration_ns > 0) {
    goal.achieved = 1e9 * static_cast<double>(outcome.units) / static_cast<double>(outcome.duration_ns);
  }
  if (const std::string_view results = json_member(out_text, "results"); !results.empty())
    outcome.results = results;
  if (load->rounds != nullptr) outcome.rounds = load->rounds(slots.slots().front());
  for (const std::string_view line : split(err_text, '\n')) {
    std::string words = last_sentence(std::string(line));
    if (words.starts_with("warning: ")) words.erase(0, 9);
    if (!words.empty()) outcome.warnings.push_back(std::move(words));
  }
}

void LoadSet::end() {
  std::deque<ServedFirst> first;
  for (const auto& one : running_) {
    if (one->has_ended()) {
      one->outcome.warnings.push_back(
          "it had ended before it was stopped, so the machine was not under this load to the end");
    } else {
      first.emplace_back(one->pid);
      ::kill(one->pid, SIGTERM);
    }
  }
  const std::int64_t end_ns = monotonic_now_ns() + end_within_ns;
  for (const auto& one : running_) {
    one->wait_end(end_ns);
    if (one->pid == 0) continue;
    one->kill_family();
    one->outcome.warnings.push_back("it did not end when it was asked to and was killed");
  }
}

Result<std::vector<LoadOutcome>> LoadSet::stop() {
  for (const auto& one : running_)
    if (!one->ended) one->ended = one->look();
  end();
  std::vector<LoadOutcome> outcomes;
  for (const auto& one : running_) {
    one->read_all();
    one->finish();
    outcomes.push_back(one->outcome);
  }
  running_.clear();
  return outcomes;
}

}  // namespace howlate
