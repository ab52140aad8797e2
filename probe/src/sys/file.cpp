#include "sys/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace howlate {
namespace {

// Until it takes bytes again. A reader that takes none for so long is gone, though it holds the pipe.
bool takes_bytes(int fd) {
  constexpr int reads_within_ms = 30'000;
  struct pollfd one {
    fd, POLLOUT, 0
  };
  int ready = 0;
  while ((ready = ::poll(&one, 1, reads_within_ms)) < 0 && errno == EINTR) {
  }
  if (ready == 0) errno = ETIMEDOUT;
  return ready > 0;
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

int read_whole(const std::string& path, std::string& content) {
  constexpr std::size_t largest_file = std::size_t{64} << 20U;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return errno;
  char buffer[4096];
  for (;;) {
    const ssize_t bytes = ::read(fd.get(), buffer, sizeof buffer);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return errno;
    if (bytes == 0) return 0;
    if (content.size() + static_cast<std::size_t>(bytes) > largest_file) return EFBIG;
    content.append(buffer, static_cast<std::size_t>(bytes));
  }
}

std::optional<std::string> read_text(const std::string& path) {
  std::string text;
  if (read_whole(path, text) != 0) return std::nullopt;
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<std::int64_t> read_integer(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return std::nullopt;
  const std::size_t begin = text->find_first_of("-0123456789");
  if (begin == std::string::npos) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data() + begin, text->data() + text->size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

Status write_text(const std::string& path, std::string_view text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_TRUNC));
  if (!fd.valid()) return broken("cannot open " + path + " for writing: " + errno_text(errno));
  const ssize_t put = ::write(fd.get(), text.data(), text.size());
  if (put != static_cast<ssize_t>(text.size()))
    return broken("cannot write " + path + ": " + errno_text(errno));
  return {};
}

std::string errno_text(int error) {
  char buffer[128];
  return ::strerror_r(error, buffer, sizeof buffer);
}

Result<AppendFile> AppendFile::create(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid())
    return usage_error("cannot write the stream " + path + ": " + errno_text(errno),
                       "Give --stream a file in a folder that you may write to");
  struct stat info {};
  const bool regular = ::fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode);
  if (regular && info.st_size != 0)
    return usage_error(path + " is there already and not empty",
                       "Give --stream a new file, or remove that one");
  if (!regular) ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  return AppendFile(std::move(fd), path, regular);
}

int AppendFile::append(std::span<const std::byte> bytes, std::size_t piece) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t left = bytes.size() - done;
    const ssize_t put = ::write(fd_.get(), bytes.data() + done, piece == 0 || left < piece ? left : piece);
    if (put > 0) {
      done += static_cast<std::size_t>(put);
    } else if (put < 0 && errno == EAGAIN && takes_bytes(fd_.get())) {
      continue;
    } else if (put == 0 || errno != EINTR) {
      const int error = put == 0 ? EIO : errno;
      if (regular_ && ::ftruncate(fd_.get(), size_) == 0) ::lseek(fd_.get(), size_, SEEK_SET);
      return error;
    }
  }
  size_ += static_cast<std::int64_t>(bytes.size());
  return 0;
}

}  // namespace howlate
