// Files: whole small ones, and one that is only appended to.
#pragma once

#include <dirent.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/result.hpp"

namespace howlate {

// A descriptor that closes itself.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  void reset();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
// The result of opendir, closed automatically.
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

// Appends a whole file, up to 64 MiB of it, to `content`; 0 or the errno.
int read_whole(const std::string& path, std::string& content);
// The text of a small file whose path is complete, without the final newline; nothing if it cannot be read. Files of
// the machine, which a fixture may replace, are read through Root (sys/root.hpp).
std::optional<std::string> read_text(const std::string& path);
// The first integer in a file; nothing if there is none.
std::optional<std::int64_t> read_integer(const std::string& path);
// Writes a setting's file in one write.
Status write_text(const std::string& path, std::string_view text);

// "No space left on device" and the like, for use in a sentence.
std::string errno_text(int error);

// A file that is only appended to, whole frame by whole frame.
class AppendFile {
 public:
  // A new or empty file; one with content is refused. A pipe or a device is used as it is.
  static Result<AppendFile> create(const std::string& path);

  // Writes all bytes, in pieces of at most `piece` bytes (0 = in one), and returns 0 or the errno. After an
  // error a regular file is cut back to the last whole append.
  int append(std::span<const std::byte> bytes, std::size_t piece);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  AppendFile(Fd fd, std::string path, bool regular)
      : fd_(std::move(fd)), path_(std::move(path)), regular_(regular) {}

  Fd fd_;
  std::string path_;
  bool regular_ = false;
  std::int64_t size_ = 0;
};

}  // namespace howlate
