// Names of the kernel's addresses, for whoever may read them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "sys/root.hpp"

namespace howlate {

// The function in which each address lies, by /proc/kallsyms (modules too); addresses of none are left out, and all of them
// where the kernel does not tell this process (kptr_restrict).
std::map<std::int64_t, std::string> function_names(const Root& root, const std::set<std::int64_t>& addresses);

// The texts whose addresses the kernel's events hold instead of them, by a tracing folder's printk_formats.
std::map<std::int64_t, std::string> event_texts(const std::string& tracing);

}  // namespace howlate
