// The other tasks: who runs under a real-time policy, and which services that change the machine are about.
#include "sys/tasks.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include "facts/fact.hpp"

namespace howlate {
namespace {

constexpr std::size_t most_rows = 4096;

// Services that move interrupts, change frequencies, or run on their own real-time priorities.
constexpr std::array<std::string_view, 14> service_names = {
    "irqbalance", "tuned", "thermald", "tlp",          "power-profiles-", "auto-cpufreq", "multipathd",
    "ksmtuned",   "numad", "corosync", "rtkit-daemon", "chronyd",         "ptp4l",        "phc2sys"};

std::string_view policy_name(long long policy) {
  constexpr std::array<std::string_view, 8> names = {"other", "fifo", "rr",       "batch",
                                                     "iso",   "idle", "deadline", "ext"};
  return policy >= 0 && policy < static_cast<long long>(names.size())
             ? names[static_cast<std::size_t>(policy)]
             : "?";
}

std::string allowed_cpus(const Root& tree, const std::string& task) {
  const auto cpus = tree.read_line(task + "/status", "Cpus_allowed_list:");
  return cpus ? json_string(*cpus) : "null";
}

class TaskScan {
 public:
  explicit TaskScan(const Root& tree) : tree_(tree), self_(tree.is_machine() ? ::getpid() : -1) {}

  void run() {
    for (const int pid : tree_.numbered("/proc", "")) {
      if (pid == self_) continue;
      const std::string process = "/proc/" + std::to_string(pid);
      const std::vector<int> threads = tree_.numbered(process + "/task", "");
      if (threads.empty()) task(process, pid == 0);
      for (const int tid : threads) task(process + "/task/" + std::to_string(tid), tid == pid);
    }
  }
  [[nodiscard]] long long seen() const { return seen_; }
  [[nodiscard]] const std::vector<FactRow>& rows() const { return rows_; }
  [[nodiscard]] const std::set<std::string>& services() const { return services_; }

 private:
  void task(const std::string& path, bool leader) {
    const auto text = tree_.read(path + "/stat");
    if (!text) return;  // ended meanwhile
    const auto stat = parse_task_stat(*text);
    if (!stat) return;
    ++seen_;
    if (leader && std::find(service_names.begin(), service_names.end(), stat->name) != service_names.end()) {
      services_.insert(stat->name);
    }
    const bool real_time = stat->policy == 1 || stat->policy == 2 || stat->policy == 6;
    if (!real_time || rows_.size() >= most_rows) return;
    rows_.push_back(FactRow()
                        .text("name", without_addresses(stat->name))
                        .text("policy", policy_name(stat->policy))
                        .integer("priority", stat->priority)
                        .flag("kernel", stat->kernel)
                        .json("cpus", allowed_cpus(tree_, path)));
  }

  const Root& tree_;
  int self_;
  long long seen_ = 0;
  std::vector<FactRow> rows_;
  std::set<std::string> services_;
};

void gather_tasks(const Root& tree, FactList& facts) {
  TaskScan scan(tree);
  scan.run();
  if (scan.seen() == 0) {
    for (const auto key : {"tasks.real_time", "tasks.services", "tasks.seen"}) {
      facts.missing(key, "no task is to be seen in /proc");
    }
    return;
  }
  facts.json("tasks.real_time", table_json(scan.rows()));
  facts.integer("tasks.seen", scan.seen());
  JsonWriter json;
  json.begin_array();
  for (const std::string& name : scan.services()) json.value(name);
  json.end_array();
  facts.json("tasks.services", json.take());
}

}  // namespace

extern const FactGroup fact_tasks;
const FactGroup fact_tasks = {"tasks", gather_tasks};

}  // namespace howlate
