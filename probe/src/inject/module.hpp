// Delays that the project's module howlate_inject (kmod/) makes.
#pragma once

#include "howlate_abi.h"
#include "inject/injection.hpp"

namespace howlate {

Status inject_module_there(const Root& root);
std::unique_ptr<InjectionRun> make_in_kernel(const Root& root, howlate_inject_kind kind);

template <howlate_inject_kind kind>
constexpr Injection in_kernel(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .available = inject_module_there,
          .make = [](const Root& root) { return make_in_kernel(root, kind); },
          .module = HOWLATE_INJECT_MODULE,
          .module_parameters = HOWLATE_INJECT_ACCEPTED};
}

}  // namespace howlate
