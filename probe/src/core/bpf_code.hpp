// An assembler for BPF programs: instructions with labels. Pure. The numbers are those of include/uapi/linux/bpf.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace howlate {

// As the kernel takes them: 8 bytes each.
struct BpfInstruction {
  std::uint8_t code = 0;
  std::uint8_t registers = 0;  // the destination in the lower half
  std::int16_t offset = 0;
  std::int32_t value = 0;
  friend bool operator==(const BpfInstruction&, const BpfInstruction&) = default;
};

enum class BpfRegister : std::uint8_t { r0, r1, r2, r3, r4, r5, r6, r7, r8, r9, stack };
enum class BpfSize : std::uint8_t { u32 = 0x00, u16 = 0x08, u8 = 0x10, u64 = 0x18 };
enum class BpfSum : std::uint8_t {
  add = 0x00,
  bit_or = 0x40,
  bit_and = 0x50,
  left = 0x60,
  right = 0x70,
};
enum class BpfWhen : std::uint8_t { equal = 0x10, not_below = 0x30, not_equal = 0x50 };

// Of a field of 1, 2, 4 or 8 bytes.
std::optional<BpfSize> bpf_size(std::uint32_t bytes);

class BpfCode {
 public:
  struct Label {
    std::size_t number;
  };
  [[nodiscard]] Label label();  // to be placed later
  void place(Label label);

  void load(BpfSize size, BpfRegister to, BpfRegister from, std::int32_t offset);
  void store(BpfSize size, BpfRegister to, std::int32_t offset, BpfRegister from);
  void store(BpfSize size, BpfRegister to, std::int32_t offset, std::int32_t value);
  void move(BpfRegister to, BpfRegister from);
  void move(BpfRegister to, std::int32_t value);
  void sum(BpfSum what, BpfRegister to, BpfRegister by);
  void sum(BpfSum what, BpfRegister to, std::int32_t by);
  void map(BpfRegister to, int fd);
  void map_memory(BpfRegister to, int fd);              // of an array's one entry
  void percpu(BpfRegister to, std::uint32_t variable);  // by the variable's number in BTF
  void call(std::int32_t helper);
  void call_kernel(std::uint32_t function);  // one that the kernel offers, by its number in BTF
  void fetch_add(BpfRegister to, std::int32_t offset, BpfRegister by);  // `by` has what was there
  void exchange_32(BpfRegister to, std::int32_t offset, BpfRegister with);
  void jump(Label to);
  void jump_if(BpfWhen when, BpfRegister one, std::int32_t value, Label to);
  void exit();

  // With the labels' places filled in; nothing where one was never placed, or is too far away.
  [[nodiscard]] std::optional<std::vector<BpfInstruction>> finish() const;

 private:
  void add(unsigned code, BpfRegister to, BpfRegister from, std::int32_t offset, std::int32_t value);

  std::vector<BpfInstruction> code_;
  std::vector<std::optional<std::size_t>> labels_;
  std::vector<std::pair<std::size_t, std::size_t>> jumps_;  // instruction, label
};

}  // namespace howlate
