#include "cell/length.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "loads/base/goal.hpp"
#include "loads/base/request.hpp"

namespace howlate {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();
// With the row's share of the framing, and of the machine's own tables.
constexpr std::size_t row_bytes_least = 40;
constexpr double other_bytes = 1e6;  // header, trailer, facts
constexpr double turn_ns_unknown = 20'000;

// A count or a time that is set and limits the cell; else no limit. By its text, which is the one in force.
double limit(const Params& params, std::string_view name, Result<std::int64_t> (*parse)(std::string_view)) {
  if (!params.declares(name) || !params.is_set(name)) return unlimited;
  const auto number = parse(params.text(name));
  return number && *number > 0 ? static_cast<double>(*number) : unlimited;
}

double row_bytes(const Test& test) {
  std::size_t bytes = 2;
  for (const ColumnSpec& column : test.columns) bytes += column_width(column.type);
  return static_cast<double>(std::max(bytes, row_bytes_least));
}

// The measuring CPUs, as the test chose them or as they were given; one where it is not pinned.
double lanes(const Params& params) {
  if (!params.declares("cpus") || !params.is_set("cpus")) return 1;
  const std::string& text = params.text("cpus");
  const auto cpus = text == "all" ? Result<std::vector<int>>(read_affinity()) : parse_cpu_list(text);
  return cpus ? static_cast<double>(cpus->size()) : 1;
}

// How often the load does what it does in that time, by its target or by what one action usually takes; nothing where
// neither tells.
std::optional<FewActions> actions_in(const LoadRequest& request, double seconds) {
  const Load& load = *request.load;
  const Params& params = request.params;
  FewActions actions;
  actions.action = load.action;
  const auto at = [&](double each_ns) { return static_cast<std::int64_t>(seconds * 1e9 / each_ns); };
  const auto length_ns = static_cast<double>(load.action.length_ns);
  if (load.held) {
    const double share = params.real("target");  // at 0 nothing is done; at 100 % there may be no sleep
    if (load.action.length_ns == 0 || share <= 0 || (share >= 100 && load.action.sleeping)) return {};
    actions.many = at(length_ns);
    return actions;
  }
  const bool has_units = !load.action.units.empty();
  const double each = has_units ? static_cast<double>(params.integer(load.action.units)) : 1;
  if (const auto target = goal_of(load, params).target) {
    actions.many = static_cast<std::int64_t>(seconds * *target / each);
    return actions;
  }
  if (load.action.length_ns == 0) return {};
  const auto own = std::find_if(load.params.begin(), load.params.end(),
                                [&](const ParamSpec& spec) { return spec.name == load.action.units; });
  const auto usual = own == load.params.end() ? Result<std::int64_t>(1) : parse_bytes(own->fallback);
  actions.supposed_ns = length_ns * each / static_cast<double>(usual ? *usual : 1);
  actions.many = at(actions.supposed_ns);
  return actions;
}

}  // namespace

CellLength length_of(const Test& test, const Params& params) {
  const bool scheduled = params.declares("activations");
  const double turn_ns = test.turn_ns != nullptr ? test.turn_ns(params) : turn_ns_unknown;
  const double wanted = limit(params, scheduled ? "activations" : "points", parse_count);
  double most = limit(params, "duration", parse_duration_ns);
  if (!scheduled && most != unlimited)
    most = std::ceil(most / turn_ns) * turn_ns;  // the clock is read between two turns
  const double seconds = std::min(most, wanted * turn_ns) / 1e9;
  const double rows = wanted == unlimited || scheduled ? std::min(wanted, seconds * 1e9 / turn_ns) : wanted;
  CellLength length;
  length.seconds = seconds == unlimited ? 0 : seconds;
  if (wanted != unlimited) length.rows = static_cast<std::int64_t>(wanted);
  length.turn = test.turn_in_guest != nullptr ? test.turn_in_guest(params) : Turn{turn_ns, 0};
  if (most != unlimited) length.most_seconds = most / 1e9;
  const double warm_up = limit(params, "warm-up", parse_duration_ns);
  length.warm_up_seconds = warm_up == unlimited ? 0 : warm_up / 1e9;
  length.bytes = (rows == unlimited ? 0 : rows) * lanes(params) * row_bytes(test) + other_bytes;
  return length;
}

std::vector<FewActions> few_actions(const std::vector<std::string>& specs,
                                    const std::vector<int>& measuring_cpus, double seconds) {
  std::vector<FewActions> few;
  for (const std::string& spec : specs) {
    const auto request = read_load_request({spec}, &measuring_cpus);
    if (!request || request->load->action.wanted == 0) continue;
    auto actions = actions_in(*request, seconds);
    if (!actions || actions->many >= actions->action.wanted) continue;
    actions->spec = spec;
    few.push_back(std::move(*actions));
  }
  return few;
}

}  // namespace howlate
