#include "sys/throttling.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>

namespace howlate {

namespace {

std::optional<std::int64_t> sum(const Root& root, const std::vector<int>& cpus, std::string_view name) {
  std::optional<std::int64_t> all;
  for (const int cpu : cpus) {
    const std::string path =
        "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/thermal_throttle/" + std::string(name);
    if (const auto count = read_integer(root.at(path))) all = all.value_or(0) + *count;
  }
  return all;
}

// What a part of the log holds: "priority,number,time,flags;text", a line each, what belongs to one indented below it.
struct Lines {
  bool throttled = false;
  bool from_boot = false;  // its first line is the kernel's first
  bool any = false;

  void take(std::string_view line) {
    if (line.empty() || line[0] == ' ') return;
    unsigned priority = 0;
    std::uint64_t number = 0;
    const char* const end = line.data() + line.size();
    const auto first = std::from_chars(line.data(), end, priority);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ',') return;
    if (std::from_chars(first.ptr + 1, end, number).ec != std::errc{}) return;
    if (!any) from_boot = number == 0;
    any = true;
    const std::size_t text = line.find(';');
    const bool of_the_kernel = priority >> 3U == 0;  // others may write there as well
    if (of_the_kernel && text != std::string_view::npos &&
        line.substr(text + 1).starts_with("sched: RT throttling activated"))
      throttled = true;
  }
};

// To the end of the log; a device gives one line a read.
Lines read_on(int fd) {
  Lines lines;
  std::array<char, 16384> place;  // longer than any line of the kernel's
  std::string rest;
  for (;;) {
    const ssize_t many = ::read(fd, place.data(), place.size());
    if (many < 0 && (errno == EINTR || errno == EPIPE))
      continue;  // EPIPE: lines were overwritten before they were read
    if (many <= 0) break;
    rest.append(place.data(), static_cast<std::size_t>(many));
    for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
      lines.take(std::string_view(rest).substr(0, end));
      rest.erase(0, end + 1);
    }
  }
  return lines;
}

}  // namespace

HeatCounts read_heat(const Root& root, const std::vector<int>& cpus) {
  return {sum(root, cpus, "core_throttle_count"), sum(root, cpus, "package_throttle_count")};
}

RtThrottling::RtThrottling(const Root& root)
    : root_(root),
      log_(::open(root.at("/dev/kmsg").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)),
      limited_before_(limited()) {
  if (log_.valid() && ::lseek(log_.get(), 0, SEEK_END) < 0) log_.reset();
}

bool RtThrottling::limited() const {
  return read_integer(root_.at("/proc/sys/kernel/sched_rt_runtime_us")).value_or(0) >= 0;
}

std::optional<bool> RtThrottling::happened() const {
  if (log_.valid() && read_on(log_.get()).throttled) return true;
  if (!limited_before_ && !limited()) return false;
  if (!log_.valid() || ::lseek(log_.get(), 0, SEEK_SET) < 0) return std::nullopt;
  const Lines all = read_on(log_.get());
  if (all.from_boot && !all.throttled) return false;
  return std::nullopt;
}

}  // namespace howlate
