// Interrupts: which CPUs they may go to, and which they went to since boot.
#include <algorithm>
#include <cctype>
#include <climits>

#include "facts/fact.hpp"

namespace howlate {
namespace {

struct InterruptLine {
  std::string label;                              // "24", "LOC"
  std::string name;                               // what stands behind the counts
  std::vector<std::pair<int, long long>> counts;  // CPU, count; zeros left out
};

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char letter) { return std::isdigit(letter) != 0; });
}

// The first line names the CPUs in the order of the columns (offline ones are left out).
std::vector<int> columns_of(std::string_view header) {
  std::vector<int> cpus;
  for (const std::string& word : parts_of(header, ' ')) {
    const auto cpu = to_integer(std::string_view(word).substr(std::min<std::size_t>(3, word.size())));
    if (word.starts_with("CPU") && cpu && *cpu >= 0 && *cpu < INT_MAX) cpus.push_back(static_cast<int>(*cpu));
  }
  return cpus;
}

InterruptLine parse(std::string_view line, const std::vector<int>& cpus) {
  InterruptLine out;
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return out;
  out.label = trimmed(line.substr(0, colon));
  const auto words = parts_of(line.substr(colon + 1), ' ');
  std::size_t at = 0;
  for (; at < words.size() && at < cpus.size() && is_number(words[at]); ++at) {
    const auto count = to_integer(words[at]);
    if (count && *count != 0) out.counts.emplace_back(cpus[at], *count);
  }
  for (; at < words.size(); ++at) out.name += (out.name.empty() ? "" : " ") + words[at];
  return out;
}

std::string counts_json(const InterruptLine& line) {
  JsonWriter json;
  json.begin_object();
  for (const auto& [cpu, count] : line.counts) json.member(std::to_string(cpu), count);
  json.end_object();
  return json.take();
}

FactRow device_row(const Root& tree, const InterruptLine& line) {
  FactRow row;
  const std::string path = "/proc/irq/" + line.label;
  row.text("irq", line.label).text("name", without_addresses(line.name));
  const auto affinity = tree.read_text(path + "/smp_affinity_list");
  affinity ? row.text("affinity", *affinity) : row.json("affinity", "null");
  const auto effective = tree.read_text(path + "/effective_affinity_list");
  effective ? row.text("effective", *effective) : row.json("effective", "null");
  row.json("counts", counts_json(line));
  return row;
}

void gather_irqs(const Root& tree, FactList& facts) {
  const auto text = tree.read("/proc/interrupts");
  const auto lines = text ? parts_of(*text, '\n') : std::vector<std::string>{};
  if (lines.empty()) {
    for (const auto key : {"irq.devices", "irq.internal"}) {
      facts.missing(key, text ? broken("/proc/interrupts is empty") : text.error());
    }
    return;
  }
  const std::vector<int> cpus = columns_of(lines.front());
  std::vector<FactRow> devices;
  std::vector<FactRow> internal;
  for (std::size_t at = 1; at < lines.size(); ++at) {
    const InterruptLine line = parse(lines[at], cpus);
    if (line.label.empty()) continue;
    if (is_number(line.label)) {
      devices.push_back(device_row(tree, line));
    } else {
      internal.push_back(
          FactRow().text("irq", line.label).text("name", line.name).json("counts", counts_json(line)));
    }
  }
  facts.json("irq.devices", table_json(devices));
  facts.json("irq.internal", table_json(internal));
}

}  // namespace

extern const FactGroup fact_irqs;
const FactGroup fact_irqs = {"irqs", gather_irqs};

}  // namespace howlate
