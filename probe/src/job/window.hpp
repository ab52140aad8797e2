// The window between a guest and its host (docs/job.md): memory that both see, read and written in aligned
// 64-bit words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace howlate {

class Window {
 public:
  enum State : std::uint64_t {
    nothing = 0,
    job_is_there = 1,
    result_is_there = 2,
    guest_failed = 3,    // the result is a sentence
    guest_is_ready = 4,  // it waits for a job: this stop is no panic
  };

  static constexpr std::uint32_t vendor = 0x1af4, device = 0x1110;  // ivshmem-plain
  static constexpr std::size_t bar = 2;
  static constexpr std::size_t job_at = 4096;
  static constexpr std::size_t result_at = std::size_t{1} << 20U;

  // The memory is 8-byte aligned and stays longer than this.
  explicit Window(std::span<volatile std::uint64_t> words) : words_(words) {}

  // Whether a host made it: its magic, and room for a result.
  [[nodiscard]] Status check() const;
  [[nodiscard]] std::uint64_t state() const { return words_[state_word]; }
  // `clock_ns`: machine_clock_ns() just before the machine stops.
  void say_ready(std::uint64_t clock_ns) {
    words_[clock_word] = clock_ns;
    words_[state_word] = guest_is_ready;
  }
  // The job's text, if its checksum is correct.
  [[nodiscard]] Result<std::string> read_job() const;

  // A result is put piece by piece and then finished; `put` is false where there is no more room. All pieces
  // but the last are joined seamlessly, whatever their length.
  bool put(std::span<const std::byte> bytes);
  void flush();  // the last bytes that fill no word
  void finish(State state, std::uint32_t crc);
  // Discards what was put, and leaves the message as the result.
  void fail(std::string_view sentence);

 private:
  enum Word : std::size_t {
    magic_word,
    job_length_word,
    job_crc_word,
    state_word,
    result_length_word,
    result_crc_word,
    clock_word,
  };

  std::span<volatile std::uint64_t> words_;
  std::uint64_t length_ = 0;   // of the result so far
  std::uint64_t pending_ = 0;  // its last bytes that fill no word yet
};

}  // namespace howlate
