// The control groups of the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sys/root.hpp"

namespace howlate {

struct CgroupMount {
  std::string point;
  std::string root;  // the part of the hierarchy that is mounted there
  bool unified = false;
  std::vector<std::string> controllers;
};

// The folders of the caller's cgroup and of its ancestors, nearest first, in the hierarchy that has the
// controller. Only the way up is kept: a cgroup's path may carry names that are nobody's business.
class Cgroups {
 public:
  explicit Cgroups(const Root& tree);
  [[nodiscard]] bool readable() const { return readable_; }

  // "v1", "v2", "none"; "hybrid" has controllers in both.
  [[nodiscard]] std::string version() const;
  [[nodiscard]] std::vector<std::string> way_up(std::string_view controller, bool unified) const;

 private:
  [[nodiscard]] std::string path_in(std::string_view controller, bool unified) const;
  [[nodiscard]] std::vector<std::string> folders(const CgroupMount& mount, std::string path) const;

  const Root& tree_;
  std::vector<CgroupMount> mounts_;
  std::vector<std::string> lines_;
  bool readable_ = false;
};

// What the tightest memory limit of the caller's cgroup and its ancestors leaves, in bytes; the page cache, which can be had
// back, does not count as used. Nothing where none limits.
std::optional<std::int64_t> cgroup_memory_room(const Root& tree);

}  // namespace howlate
