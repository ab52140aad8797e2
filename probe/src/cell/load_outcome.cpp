#include <string>

#include "cell/loads.hpp"
#include "core/json.hpp"

namespace howlate {

std::string LoadOutcome::to_json() const {
  JsonWriter json;
  json.begin_object().member("name", name).member("spec", spec).member("unit", unit).member("target", target);
  json.key("target_cpu");
  if (target_cpu) {
    json.value(*target_cpu);
  } else {
    json.null();
  }
  json.member("cpus", cpus).member("policy", policy).member("nice", nice).key("achieved_cpu");
  if (achieved_cpu) {
    json.value(*achieved_cpu);
  } else {
    json.null();
  }
  json.member("units", units).member("duration_ns", duration_ns).key("goal");
  goal.write(json);
  json.member_raw("results", results);
  json.key("warnings").begin_array();
  for (const std::string& warning : warnings) json.value(warning);
  json.end_array().end_object();
  return json.take();
}

}  // namespace howlate
