#include "job/kernel_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/text.hpp"

namespace howlate {

KernelLog::KernelLog() : fd_(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  if (fd_.valid()) ::lseek(fd_.get(), 0, SEEK_END);
}

std::vector<std::string> KernelLog::take() {
  std::vector<std::string> messages;
  char record[8192];
  while (fd_.valid()) {
    const ssize_t got = ::read(fd_.get(), record, sizeof record);
    if (got > 0) {
      messages.push_back(kernel_message({record, static_cast<std::size_t>(got)}));
    } else if (got < 0 && errno == EPIPE) {
      messages.emplace_back("4 0 (messages were lost here)");  // overwritten before they were read
    } else if (got == 0 || errno != EINTR) {
      break;
    }
  }
  return messages;
}

std::string KernelLog::last_text() {
  const std::vector<std::string> messages = take();
  if (messages.empty()) return {};
  const std::string& last = messages.back();
  return last.substr(last.find(' ', last.find(' ') + 1) + 1);
}

std::string kernel_message(std::string_view record) {
  const std::size_t semicolon = record.find(';');
  if (semicolon == std::string_view::npos) return {};
  const std::vector<std::string_view> fields = split(record.substr(0, semicolon), ',');
  std::string_view text = record.substr(semicolon + 1);
  text = text.substr(0, text.find('\n'));
  // The first field holds the facility as well, above the three bits of the level.
  const std::string level =
      fields.empty() || fields[0].empty()
          ? "4"
          : std::to_string(std::strtoul(std::string(fields[0]).c_str(), nullptr, 10) & 7U);
  return level + ' ' + (fields.size() > 2 ? std::string(fields[2]) : "0") + ' ' + std::string(text);
}

}  // namespace howlate
