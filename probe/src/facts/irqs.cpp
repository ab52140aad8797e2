// Interrupts: which CPUs they may go to, and which they went to since boot.
#include "facts/fact.hpp"
#include "sys/interrupts.hpp"
#include "sys/setting.hpp"

namespace howlate {
namespace {

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
  const auto affinity = read_setting(tree, Form::cpus, path + "/smp_affinity_list", {});
  affinity ? row.text("affinity", *affinity) : row.json("affinity", "null");
  const auto effective = tree.read_text(path + "/effective_affinity_list");
  effective ? row.text("effective", *effective) : row.json("effective", "null");
  row.json("counts", counts_json(line));
  return row;
}

void gather_irqs(const Root& tree, FactList& facts) {
  const auto lines = read_interrupts(tree);
  if (!lines) {
    for (const auto key : {"irq.devices", "irq.internal"}) facts.missing(key, lines.error());
    return;
  }
  std::vector<FactRow> devices;
  std::vector<FactRow> internal;
  for (const InterruptLine& line : *lines) {
    if (is_device_interrupt(line.label)) {
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
