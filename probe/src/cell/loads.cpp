#include "cell/loads.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <map>

#include "cell/running_load.hpp"
#include "core/text.hpp"
#include "loads/base/memory.hpp"
#include "loads/base/request.hpp"
#include "loads/base/steady.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "sys/process.hpp"
#include "sys/sched.hpp"

namespace howlate {
namespace {

constexpr std::int64_t answer_within_ns = 200'000'000;
// How long loads run with nothing measured beside them: at least so long, on until each has done what it does often enough and the
// rate at which it does it is known, and not longer than the second figure. The plan has both (plan/matrix.py).
constexpr std::int64_t alone_at_least_ns = 250'000'000;
constexpr std::int64_t alone_window_ns =
    alone_at_least_ns / static_cast<std::int64_t>(SteadyRate::windows_least);
constexpr std::int64_t end_within_ns = 10'000'000'000;

}  // namespace

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
  const std::int64_t end_ns = monotonic_now_ns() + load_ready_within_ns;
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
