// Knobs whose file is in debugfs.
#pragma once

#include <string>
#include <string_view>

#include "knobs/base/plan.hpp"

namespace howlate {

// As `file_available`; where debugfs is not mounted that is the reason, and how to mount it the remedy.
Status debugfs_available(const KnobContext& context, std::string_view path, std::string_view without);

}  // namespace howlate
