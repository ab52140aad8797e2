#include "knobs/base/debugfs.hpp"

#include <unistd.h>

#include <cerrno>

#include "sys/rights.hpp"
#include "sys/root.hpp"

namespace howlate {

Status debugfs_available(const KnobContext& context, std::string_view path, std::string_view without) {
  constexpr const char* folder = "/sys/kernel/debug";
  const Root tree(context.root);
  if (::access(tree.at(folder).c_str(), X_OK) != 0 && errno == EACCES)
    return not_possible("debugfs may not be read", remedy_of_root());
  if (tree.list(folder).empty())
    return not_possible("debugfs is not mounted",
                        "mount it as root: mount -t debugfs none /sys/kernel/debug");
  return file_available(context, path, without);
}

}  // namespace howlate
