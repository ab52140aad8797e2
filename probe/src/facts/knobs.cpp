// Which knobs can be set here and now, and why not: what is to be done about a setting depends on it.
#include <vector>

#include "facts/fact.hpp"
#include "knobs/knob.hpp"

namespace howlate {
namespace {

void gather_knobs(const Root& tree, FactList& facts) {
  KnobContext context;
  context.root = tree.at("/");
  std::vector<FactRow> rows;
  for (const Knob* knob : knobs()) {
    const Status available = knob->available(context);
    FactRow row;
    row.text("name", knob->name).flag("settable", static_cast<bool>(available));
    if (!available) row.text("why", available.error().message);
    rows.push_back(row);
  }
  facts.json("knobs", table_json(rows));
}

}  // namespace

extern const FactGroup fact_knobs;
const FactGroup fact_knobs = {"knobs", gather_knobs};

}  // namespace howlate
