#include "sys/cgroups.hpp"

#include <algorithm>

namespace howlate {
namespace {

// /proc/self/mountinfo: ... root point options ... - type source super-options
std::vector<CgroupMount> cgroup_mounts(const Root& tree) {
  std::vector<CgroupMount> out;
  const auto text = tree.read("/proc/self/mountinfo");
  for (const std::string& line : text ? parts_of(*text, '\n') : std::vector<std::string>{}) {
    const auto words = parts_of(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    if (*(dash + 1) == "cgroup2") out.push_back({words[4], words[3], true, {}});
    if (*(dash + 1) == "cgroup") out.push_back({words[4], words[3], false, parts_of(*(dash + 3), ',')});
  }
  return out;
}

struct MemoryFiles {
  bool unified;
  const char* limit;
  const char* used;
  std::vector<std::string_view> cache;  // lines of memory.stat
};

// The sum of some lines "name value" of a group's memory.stat.
std::int64_t sum_of(const std::string& stat, const std::vector<std::string_view>& names) {
  std::int64_t sum = 0;
  for (const std::string& line : parts_of(stat, '\n')) {
    const auto words = parts_of(line, ' ');
    if (words.size() != 2 || std::find(names.begin(), names.end(), words[0]) == names.end()) continue;
    sum += to_integer(words[1]) ? *to_integer(words[1]) : 0;
  }
  return sum;
}

}  // namespace

Cgroups::Cgroups(const Root& tree) : tree_(tree), mounts_(cgroup_mounts(tree)) {
  const auto text = tree.read("/proc/self/cgroup");
  readable_ = text.ok();
  lines_ = text ? parts_of(*text, '\n') : std::vector<std::string>{};
}

std::string Cgroups::version() const {
  const bool unified =
      std::any_of(mounts_.begin(), mounts_.end(), [](const CgroupMount& mount) { return mount.unified; });
  const bool legacy =
      std::any_of(mounts_.begin(), mounts_.end(), [](const CgroupMount& mount) { return !mount.unified; });
  return unified && legacy ? "hybrid" : unified ? "v2" : legacy ? "v1" : "none";
}

std::vector<std::string> Cgroups::way_up(std::string_view controller, bool unified) const {
  for (const CgroupMount& mount : mounts_) {
    if (mount.unified != unified) continue;
    const auto& names = mount.controllers;
    if (!unified && std::find(names.begin(), names.end(), controller) == names.end()) continue;
    return folders(mount, path_in(controller, unified));
  }
  return {};
}

// /proc/self/cgroup: id:controllers:path; the unified hierarchy's is 0::path.
std::string Cgroups::path_in(std::string_view controller, bool unified) const {
  for (const std::string& line : lines_) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto names = parts_of(std::string_view(line).substr(first + 1, second - first - 1), ',');
    const bool here =
        unified ? names.empty() : std::find(names.begin(), names.end(), controller) != names.end();
    if (here) return line.substr(second + 1);
  }
  return "/";
}

std::vector<std::string> Cgroups::folders(const CgroupMount& mount, std::string path) const {
  if (mount.root != "/" && path.starts_with(mount.root)) path = path.substr(mount.root.size());
  if (!path.starts_with('/') || path.find("/..") != std::string::npos) path = "/";
  std::vector<std::string> out;
  while (path != "/" && !path.empty()) {
    if (tree_.exists(mount.point + path)) out.push_back(mount.point + path);
    path = path.substr(0, path.rfind('/'));
  }
  out.push_back(mount.point);
  return out;
}

std::optional<std::int64_t> cgroup_memory_room(const Root& tree) {
  constexpr std::int64_t no_limit = std::int64_t{1} << 60;  // v1 writes the largest number of pages
  const MemoryFiles both[] = {
      {true, "/memory.max", "/memory.current", {"inactive_file", "active_file"}},
      {false,
       "/memory.limit_in_bytes",
       "/memory.usage_in_bytes",
       {"total_inactive_file", "total_active_file"}},
  };
  const Cgroups cgroups(tree);
  std::optional<std::int64_t> tightest;
  for (const MemoryFiles& files : both) {
    for (const std::string& folder : cgroups.way_up("memory", files.unified)) {
      const auto limit = tree.read_integer(folder + files.limit);  // "max" is no number
      const auto used = tree.read_integer(folder + files.used);
      if (!limit || !used || *limit >= no_limit) continue;
      const auto stat = tree.read(folder + "/memory.stat");
      const std::int64_t cache = stat ? sum_of(*stat, files.cache) : 0;
      const std::int64_t room = std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *used - cache));
      tightest = std::min(tightest.value_or(room), room);
    }
  }
  return tightest;
}

}  // namespace howlate
