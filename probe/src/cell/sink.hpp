// Where a cell's frames go: a file that stays readable up to its last whole frame, or nowhere.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "sys/file.hpp"

namespace howlate {

class Sink {
 public:
  Sink() = default;  // keeps nothing, and every frame counts as kept
  explicit Sink(AppendFile file) : file_(std::move(file)) {}

  // The most that one write gives to the kernel; 0 = everything at once.
  void write_in_pieces_of(std::size_t bytes) { piece_ = bytes; }

  // Whether the frame is kept. After the first that could not be, none is tried again.
  bool put(std::span<const std::byte> frame) {
    if (!file_) return true;
    if (error_ == 0) error_ = file_->append(frame, piece_);
    return error_ == 0;
  }
  // One last frame may still fit where a batch did not: true if it is kept. The error stays known.
  bool put_last(std::span<const std::byte> frame) { return !file_ || file_->append(frame, piece_) == 0; }

  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] const std::string& path() const { return file_->path(); }

 private:
  std::optional<AppendFile> file_;
  std::size_t piece_ = 0;
  int error_ = 0;
};

}  // namespace howlate
