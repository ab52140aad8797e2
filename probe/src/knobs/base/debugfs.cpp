#include "knobs/base/debugfs.hpp"

#include "sys/root.hpp"

namespace howlate {

Status debugfs_available(const KnobContext& context, std::string_view path, std::string_view without) {
  if (!Root(context.root).exists("/sys/kernel/debug/sched"))
    return not_possible("debugfs is not mounted or may not be read",
                        "mount it as root: mount -t debugfs none /sys/kernel/debug");
  return file_available(context, path, without);
}

}  // namespace howlate
