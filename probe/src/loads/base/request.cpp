#include "loads/base/request.hpp"

#include <algorithm>
#include <array>

#include "core/text.hpp"
#include "sys/cpus.hpp"

namespace howlate {
namespace {

constexpr std::array common = {
    ParamSpec{"cpus", ParamType::cpus, "all", "", "same|other",
              "where it runs: a list like 0-3,5, or all; with a test also same (the measuring CPUs) or other "
              "(the rest)"},
    ParamSpec{"policy", ParamType::text, "other", "", "", "other, batch, idle, fifo:P or rr:P"},
    ParamSpec{"nice", ParamType::integer, "", "1", "",
              "-20 to 19, for other and batch; the caller's by default"},
    ParamSpec{"duration", ParamType::duration, "", "ns", "",
              "end after this time; by default run until stopped"},
    ParamSpec{"json", ParamType::flag, "", "", "",
              "print one line of JSON on standard output at the end, and no live line"},
    ParamSpec{"quiet", ParamType::flag, "", "", "", "print no live line and no summary"},
    ParamSpec{"report-fd", ParamType::count, "", "", "",
              "write LoadReport records to this descriptor, about one a second"},
    ParamSpec{"slots-fd", ParamType::count, "", "", "",
              "count in the memory file behind this descriptor, for the process that started the load"},
    ParamSpec{"end-with-parent", ParamType::flag, "", "", "", "end when the parent ends, however it dies"},
    ParamSpec{
        "parent", ParamType::count, "", "", "",
        "for --end-with-parent: the parent's process id, so that a parent that has already ended is noticed"},
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool contains(const std::vector<int>& set, int cpu) {
  return std::find(set.begin(), set.end(), cpu) != set.end();
}

Result<std::vector<int>> named_cpus(const std::string& word, const std::vector<int>& allowed,
                                    const std::vector<int>* measuring) {
  if (word == "all") return allowed;
  if (measuring == nullptr)
    return usage_error("cpus=" + word + " means the measuring CPUs, which only a test has",
                       "give a list of CPUs, or all");
  if (word == "same") return *measuring;
  std::vector<int> rest;
  for (const int cpu : allowed)
    if (!contains(*measuring, cpu)) rest.push_back(cpu);
  if (rest.empty())
    return usage_error("cpus=other: there is no CPU beside the measuring ones, " + cpu_list_text(*measuring),
                       "measure on fewer CPUs, or give the load cpus=same or cpus=all");
  return rest;
}

Result<std::vector<int>> read_cpus(const std::string& text, const std::vector<int>* measuring) {
  const std::vector<int> allowed = read_affinity();
  if (text == "all" || text == "same" || text == "other") return named_cpus(text, allowed, measuring);
  Result<std::vector<int>> cpus = parse_cpu_list(text);
  if (!cpus) return cpus;
  if (const Status there = check_cpus_there(*cpus, online_cpus(Root())); !there) return there.error();
  const std::vector<int> nameable = nameable_cpus(Root());
  for (const int cpu : *cpus)
    if (!contains(nameable, cpu))
      return not_possible(
          "it may not run on CPU " + std::to_string(cpu) + ", only on " + cpu_list_text(nameable),
          "Choose cpus from these");
  return cpus;
}

Result<SchedPolicy> read_load_policy(const Params& params) {
  Result<SchedPolicy> policy = parse_policy(params.text("policy"));
  if (!policy) return policy;
  if (policy->kind == SchedKind::deadline)
    return usage_error("a load cannot have the policy deadline", "choose other, batch, idle, fifo:P or rr:P");
  const bool takes_nice = policy->kind == SchedKind::other || policy->kind == SchedKind::batch;
  if (!params.is_set("nice")) {
    const Result<SchedPolicy> now = read_policy();
    if (takes_nice && now) policy->nice = now->nice;
    return policy;
  }
  const std::int64_t nice = params.integer("nice");
  if (!takes_nice)
    return usage_error("the policy " + params.text("policy") + " takes no nice value",
                       "leave --nice out, or choose other or batch");
  if (nice < -20 || nice > 19)
    return usage_error("--nice " + std::to_string(nice) + " is out of range", "choose from -20 to 19");
  policy->nice = static_cast<int>(nice);
  return policy;
}

}  // namespace

std::span<const ParamSpec> load_common_params() {
  return common;
}

Result<std::vector<std::string>> split_load_spec(std::string_view spec) {
  std::vector<std::string> words;
  for (const std::string_view piece : split(spec, ',')) {
    if (words.empty()) {
      const std::size_t colon = piece.find(':');
      words.emplace_back(piece.substr(0, colon));
      if (colon != std::string_view::npos)
        words.push_back("--target=" + std::string(piece.substr(colon + 1)));
    } else if (!piece.empty() && is_digit(piece.front()) && words.back().starts_with("--cpus=")) {
      words.back() += ',' + std::string(piece);
    } else if (piece.empty()) {
      return usage_error("the load " + in_quotes(spec) + " has an empty option",
                         "write NAME[:TARGET][,option=value...]");
    } else {
      words.push_back("--" + std::string(piece));
    }
  }
  if (words.empty() || words.front().empty())
    return usage_error("the name of a load is missing",
                       "write NAME[:TARGET][,option=value...], such as cpu:50,nice=10");
  return words;
}

Result<LoadRequest> read_load_words(const std::vector<std::string>& argv) {
  if (argv.empty() || argv.front().starts_with("-"))
    return usage_error("the name of a load is missing",
                       "write howlate-probe load NAME[:TARGET] [options]; howlate-probe "
                       "list names the loads");
  Result<std::vector<std::string>> words = split_load_spec(argv.front());
  if (!words) return words.error();
  const Result<const Load*> load = find_load(words->front());
  if (!load) return load.error();
  const bool has_target = !(*load)->target.name.empty();
  words->insert(words->end(), argv.begin() + 1, argv.end());
  for (const std::string& word : *words)
    if (!has_target && word.starts_with("--target"))
      return usage_error("the load " + in_quotes((*load)->name) + " takes no target", "leave it out");

  const std::span<const ParamSpec> target(&(*load)->target, has_target ? 1 : 0);
  Result<Params> params =
      Params::parse({target, (*load)->params, load_common_params()}, {words->begin() + 1, words->end()});
  if (!params) return params.error();
  LoadRequest request{.load = *load,
                      .params = std::move(*params),
                      .target = {},
                      .target_cpu = {},
                      .cpus = {},
                      .policy = {},
                      .given = std::move(*words)};
  if (has_target) request.target = request.params.text("target");
  if (request.load->held) request.target_cpu = request.params.real("target") / 100.0;
  return request;
}

Result<LoadRequest> read_load_request(const std::vector<std::string>& argv,
                                      const std::vector<int>* measuring_cpus) {
  auto request = read_load_words(argv);
  if (!request) return request;
  Result<std::vector<int>> cpus = read_cpus(request->params.text("cpus"), measuring_cpus);
  if (!cpus) return cpus.error();
  request->cpus = std::move(*cpus);
  const Result<SchedPolicy> policy = read_load_policy(request->params);
  if (!policy) return policy.error();
  request->policy = *policy;
  return request;
}

std::size_t LoadRequest::workers() const {
  if (load->spread == Spread::none) return 0;
  return load->spread == Spread::one ? 1 : cpus.size();
}

Status LoadRequest::check() const {
  return load->check == nullptr ? Status() : load->check(params, workers());
}

std::vector<std::string> LoadRequest::words() const {
  std::vector<std::string> result;
  for (const std::string& word : given)
    if (!word.starts_with("--cpus=")) result.push_back(word);
  result.push_back("--cpus=" + cpu_list_text(cpus));
  return result;
}

}  // namespace howlate
