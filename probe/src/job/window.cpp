#include "job/window.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/stream.hpp"

namespace howlate {
namespace {

constexpr std::uint64_t magic = 0x316e69776c776f68;  // "howlwin1", little endian
constexpr std::size_t word_bytes = 8;

}  // namespace

static_assert(std::endian::native == std::endian::little, "the window is read as words");

Status Window::check() const {
  if (words_.size() * word_bytes <= result_at)
    return not_possible("the window of " + std::to_string(words_.size() * word_bytes) + " bytes is too small",
                        "Give it more than 1 MiB");
  if (words_[magic_word] != magic) return not_possible("the window does not begin with 'howlwin1'");
  return {};
}

Result<std::string> Window::read_job() const {
  const std::uint64_t length = words_[job_length_word];
  if (length > result_at - job_at)
    return usage_error("the job of " + std::to_string(length) + " bytes is too long for the window",
                       "It may have " + std::to_string(result_at - job_at) + " bytes");
  std::string text((static_cast<std::size_t>(length) + word_bytes - 1) / word_bytes * word_bytes, '\0');
  for (std::size_t at = 0; at < text.size(); at += word_bytes) {
    const std::uint64_t word = words_[(job_at + at) / word_bytes];
    std::memcpy(text.data() + at, &word, word_bytes);
  }
  text.resize(static_cast<std::size_t>(length));
  if (crc32c(std::as_bytes(std::span(text))) != words_[job_crc_word])
    return broken("the job in the window does not have its checksum");
  return text;
}

bool Window::put(std::span<const std::byte> bytes) {
  const std::size_t room = words_.size() * word_bytes - result_at;
  if (bytes.size() > room - static_cast<std::size_t>(length_)) return false;
  while (!bytes.empty()) {
    const auto over = static_cast<std::size_t>(length_ % word_bytes);
    const std::size_t many = std::min(word_bytes - over, bytes.size());
    std::memcpy(reinterpret_cast<std::byte*>(&pending_) + over, bytes.data(), many);
    bytes = bytes.subspan(many);
    const auto word = (result_at + static_cast<std::size_t>(length_)) / word_bytes;
    length_ += many;
    if (over + many < word_bytes) break;
    words_[word] = pending_;
    pending_ = 0;
  }
  return true;
}

void Window::flush() {
  if (length_ % word_bytes != 0)
    words_[(result_at + static_cast<std::size_t>(length_)) / word_bytes] = pending_;
}

void Window::finish(State state, std::uint32_t crc) {
  flush();
  words_[result_length_word] = length_;
  words_[result_crc_word] = crc;
  __sync_synchronize();  // the state says that all before it is there; a standard fence has no build with -fsanitize=thread
  words_[state_word] = state;
}

void Window::fail(std::string_view sentence) {
  length_ = pending_ = 0;
  const auto bytes = std::as_bytes(std::span(sentence.substr(0, 64 * 1024)));
  put(bytes);
  finish(guest_failed, crc32c(bytes));
}

}  // namespace howlate
