#include "cell/choose.hpp"

#include "core/text.hpp"
#include "points/points.hpp"

namespace howlate {

namespace {
constexpr std::int64_t points_max = 1'000'000'000;
}

Result<std::vector<int>> choose_points_cpus(Cell& cell, PointsPlan& plan) {
  Params& in = cell.params();
  plan.points = in.integer("points");
  if (plan.points < 1 || plan.points > points_max)
    return usage_error("--points " + in.text("points") + " is not possible",
                       "Choose from 1 to " + std::to_string(points_max));
  if (in.is_set("duration")) plan.duration_ns = in.integer("duration");
  if (in.is_set("duration") && plan.duration_ns <= 0) return usage_error("--duration must be more than 0");
  plan.first_ns = in.integer("first");
  plan.warm_up_ns = in.integer("warm-up");
  if (in.given("record") && in.text("record") != "memory")
    return usage_error(std::string(cell.test().name) + " keeps its points in memory until its end",
                       "Leave --record out");
  in.put("record", "memory");
  auto cpus = choose_cpus(cell, in);
  if (!cpus) return cpus.error();
  in.put("cpus", cpu_list_text(*cpus));
  plan.labels.emplace_back("cpu", in.text("cpus"));
  return cpus;
}

Result<PointsChoice> choose_points(Cell& cell, PointsPlan& plan) {
  Params& in = cell.params();
  auto cpus = choose_points_cpus(cell, plan);
  if (!cpus) return cpus.error();
  const auto wanted = parse_policy(in.text("policy"));
  if (!wanted) return wanted.error();
  if (wanted->kind == SchedKind::batch || wanted->kind == SchedKind::idle ||
      wanted->kind == SchedKind::deadline)
    return usage_error("--policy " + in.text("policy") + " is not one that is measured",
                       "Choose other, fifo:P or rr:P");
  const auto policy = policy_that_may(cell, *wanted, !in.given("policy"));
  if (!policy) return policy.error();
  plan.labels.emplace_back("policy", in.text("policy"));
  return PointsChoice{std::move(*cpus), *policy};
}

Status leave_a_cpu(const Params& params, const std::vector<int>& cpus) {
  const std::size_t allowed = read_affinity().size();
  if (allowed == 1 || cpus.size() < allowed || params.flag("occupy-all")) return {};
  return usage_error("spinning on every CPU leaves none for anything else",
                     "Leave one CPU out of --cpus, or give --occupy-all");
}

}  // namespace howlate
