// Who is looking at the kernel at the moment: tracers, events, probes, perf and BPF.
#include <unistd.h>

#include <algorithm>

#include "facts/fact.hpp"

namespace howlate {
namespace {

constexpr std::size_t most_names = 20;

// tracefs has a place of its own since 4.1; before, and on some systems still, it stands in debugfs alone.
std::string trace_folder(const Root& tree) {
  for (const auto folder : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
    if (tree.exists(std::string(folder) + "/current_tracer")) return folder;
  }
  return {};
}

std::string first_names(const std::vector<std::string>& lines) {
  JsonWriter json;
  json.begin_array();
  for (std::size_t at = 0; at < std::min(lines.size(), most_names); ++at) json.value(lines[at]);
  if (lines.size() > most_names) json.value("and " + std::to_string(lines.size() - most_names) + " more");
  json.end_array();
  return json.take();
}

// Comments ("#### all functions enabled ####") and empty lines are no entries.
std::vector<std::string> entries(const Result<std::string>& text) {
  std::vector<std::string> out;
  for (std::string& line : text ? parts_of(*text, '\n') : std::vector<std::string>{}) {
    if (!line.starts_with('#')) out.push_back(std::move(line));
  }
  return out;
}

void gather_tracefs(const Root& tree, FactList& facts) {
  constexpr std::string_view keys[] = {"trace.tracer",  "trace.on",        "trace.events",   "trace.kprobes",
                                       "trace.uprobes", "trace.functions", "trace.instances"};
  const std::string folder = trace_folder(tree);
  if (folder.empty()) {
    for (const auto key : keys) facts.missing(key, "tracefs is not mounted, or may not be read without root");
    return;
  }
  facts.text_of("trace.tracer", tree.read_text(folder + "/current_tracer"));
  facts.integer_of("trace.on", tree.read_integer(folder + "/tracing_on"));
  const auto events = tree.read(folder + "/set_event");
  events ? facts.json("trace.events", first_names(entries(events)))
         : facts.missing("trace.events", events.error());
  for (const auto& [key, file] : {std::pair{"trace.kprobes", "/kprobe_events"},
                                  {"trace.uprobes", "/uprobe_events"},
                                  {"trace.functions", "/enabled_functions"}}) {
    const auto text = tree.read(folder + file);
    text ? facts.integer(key, static_cast<long long>(entries(text).size()))
         : facts.missing(key, text.error());
  }
  std::vector<std::string> instances;
  for (const std::string& name : tree.list(folder + "/instances")) {
    const auto on = tree.read_integer(folder + "/instances/" + name + "/tracing_on");
    const auto seen = entries(tree.read(folder + "/instances/" + name + "/set_event"));
    if (on && *on != 0 && !seen.empty()) instances.push_back(name);
  }
  facts.json("trace.instances", first_names(instances));
}

// Perf counters and BPF programs live as descriptors of other processes.
void gather_descriptors(const Root& tree, FactList& facts) {
  long long perf = 0;
  long long bpf = 0;
  const std::vector<int> processes = tree.numbered("/proc", "");
  bool all = !processes.empty();
  const int self = tree.is_machine() ? ::getpid() : -1;
  for (const int pid : processes) {
    if (pid == self) continue;
    const std::string folder = "/proc/" + std::to_string(pid) + "/fd";
    if (tree.is_machine() && ::access(folder.c_str(), R_OK) != 0) all = false;
    for (const std::string& fd : tree.list(folder)) {
      const auto target = tree.read_link(folder + "/" + fd);
      if (!target) continue;
      perf += *target == "anon_inode:[perf_event]" ? 1 : 0;
      bpf += target->starts_with("anon_inode:bpf") ? 1 : 0;
    }
  }
  if (!all) {
    for (const auto key : {"trace.perf_descriptors", "trace.bpf_descriptors"}) {
      facts.missing(key, processes.empty() ? "no process is to be seen in /proc"
                                           : "other users' processes may not be looked into without root");
    }
    return;
  }
  facts.integer("trace.perf_descriptors", perf);
  facts.integer("trace.bpf_descriptors", bpf);
}

void gather_traces(const Root& tree, FactList& facts) {
  gather_tracefs(tree, facts);
  gather_descriptors(tree, facts);
}

}  // namespace

extern const FactGroup fact_traces;
const FactGroup fact_traces = {"traces", gather_traces};

}  // namespace howlate
