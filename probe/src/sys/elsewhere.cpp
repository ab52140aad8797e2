#include "sys/elsewhere.hpp"

#include <optional>
#include <utility>

namespace howlate {

namespace {
std::optional<std::vector<int>> stated;
}

void plan_elsewhere(std::vector<int> cpus) {
  stated = std::move(cpus);
}

const std::vector<int>* elsewhere_cpus() {
  return stated ? &*stated : nullptr;
}

Status if_here(Status found) {
  return stated ? Status() : found;
}

}  // namespace howlate
