// The system call bpf(2): maps, and programs on the kernel's tracepoints. All of it goes with its descriptors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "core/bpf_code.hpp"
#include "core/result.hpp"
#include "sys/file.hpp"

namespace howlate {

// An array that the kernel's programs write, and this process reads where it is mapped.
class BpfArray {
 public:
  static Result<BpfArray> make(std::uint32_t entries, std::uint32_t entry_bytes);
  BpfArray(BpfArray&& other) noexcept
      : fd_(std::move(other.fd_)),
        at_(std::exchange(other.at_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  BpfArray& operator=(BpfArray&&) = delete;
  BpfArray(const BpfArray&) = delete;
  BpfArray& operator=(const BpfArray&) = delete;
  ~BpfArray();

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::span<std::byte> memory() const { return {static_cast<std::byte*>(at_), bytes_}; }

 private:
  BpfArray(Fd fd, void* at, std::size_t bytes) : fd_(std::move(fd)), at_(at), bytes_(bytes) {}
  Fd fd_;
  void* at_;
  std::size_t bytes_;
};

// A program for a tracepoint, by the number of its typedef btf_trace_NAME in BTF. The error has the verifier's last word.
Result<Fd> load_bpf(const std::string& name, std::span<const BpfInstruction> code, std::uint32_t tracepoint);
// It runs until the descriptor is closed.
Result<Fd> attach_bpf(const Fd& program);
// How many of its events came while it ran already on that CPU, so that it did not run; 0 where the kernel does not count.
std::int64_t bpf_misses(const Fd& program);

}  // namespace howlate
