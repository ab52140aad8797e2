#include "core/bpf_code.hpp"

#include <limits>

namespace howlate {

namespace {

constexpr unsigned class_load_wide = 0x18, class_load = 0x61, class_store_value = 0x62, class_store = 0x63,
                   class_atomic = 0xc3, class_jump = 0x05, class_sum = 0x07, by_register = 0x08,
                   jump_call = 0x80, jump_exit = 0x90, sum_move = 0xb0;
constexpr unsigned size_64 = 0x18;
constexpr std::int32_t atomic_fetch = 0x01, atomic_exchange = 0xe1;
constexpr BpfRegister no_register = BpfRegister::r0;
// What a wide load's source says of its value.
constexpr auto from_map = BpfRegister::r1, from_map_memory = BpfRegister::r2, from_variable = BpfRegister::r3;
// Whose function a call's number is.
constexpr auto to_kernel = BpfRegister::r2;

}  // namespace

std::optional<BpfSize> bpf_size(std::uint32_t bytes) {
  switch (bytes) {
    case 1:
      return BpfSize::u8;
    case 2:
      return BpfSize::u16;
    case 4:
      return BpfSize::u32;
    case 8:
      return BpfSize::u64;
    default:
      return std::nullopt;
  }
}

void BpfCode::add(unsigned code, BpfRegister to, BpfRegister from, std::int32_t offset, std::int32_t value) {
  const unsigned registers = static_cast<unsigned>(to) | (static_cast<unsigned>(from) << 4U);
  code_.push_back({static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(registers),
                   static_cast<std::int16_t>(offset), value});
}

BpfCode::Label BpfCode::label() {
  labels_.emplace_back();
  return {labels_.size() - 1};
}

void BpfCode::place(Label label) {
  labels_[label.number] = code_.size();
}

void BpfCode::load(BpfSize size, BpfRegister to, BpfRegister from, std::int32_t offset) {
  add(class_load | static_cast<unsigned>(size), to, from, offset, 0);
}

void BpfCode::store(BpfSize size, BpfRegister to, std::int32_t offset, BpfRegister from) {
  add(class_store | static_cast<unsigned>(size), to, from, offset, 0);
}

void BpfCode::store(BpfSize size, BpfRegister to, std::int32_t offset, std::int32_t value) {
  add(class_store_value | static_cast<unsigned>(size), to, no_register, offset, value);
}

void BpfCode::move(BpfRegister to, BpfRegister from) {
  add(class_sum | sum_move | by_register, to, from, 0, 0);
}

void BpfCode::move(BpfRegister to, std::int32_t value) {
  add(class_sum | sum_move, to, no_register, 0, value);
}

void BpfCode::sum(BpfSum what, BpfRegister to, BpfRegister by) {
  add(class_sum | static_cast<unsigned>(what) | by_register, to, by, 0, 0);
}

void BpfCode::sum(BpfSum what, BpfRegister to, std::int32_t by) {
  add(class_sum | static_cast<unsigned>(what), to, no_register, 0, by);
}

void BpfCode::map(BpfRegister to, int fd) {
  add(class_load_wide, to, from_map, 0, fd);
  add(0, no_register, no_register, 0, 0);
}

void BpfCode::map_memory(BpfRegister to, int fd) {
  add(class_load_wide, to, from_map_memory, 0, fd);
  add(0, no_register, no_register, 0, 0);
}

void BpfCode::percpu(BpfRegister to, std::uint32_t variable) {
  add(class_load_wide, to, from_variable, 0, static_cast<std::int32_t>(variable));
  add(0, no_register, no_register, 0, 0);
}

void BpfCode::call(std::int32_t helper) {
  add(class_jump | jump_call, no_register, no_register, 0, helper);
}

void BpfCode::call_kernel(std::uint32_t function) {
  add(class_jump | jump_call, no_register, to_kernel, 0, static_cast<std::int32_t>(function));
}

void BpfCode::fetch_add(BpfRegister to, std::int32_t offset, BpfRegister by) {
  add(class_atomic | size_64, to, by, offset, atomic_fetch);
}

void BpfCode::exchange_32(BpfRegister to, std::int32_t offset, BpfRegister with) {
  add(class_atomic, to, with, offset, atomic_exchange);
}

void BpfCode::jump(Label to) {
  jumps_.emplace_back(code_.size(), to.number);
  add(class_jump, no_register, no_register, 0, 0);
}

void BpfCode::jump_if(BpfWhen when, BpfRegister one, std::int32_t value, Label to) {
  jumps_.emplace_back(code_.size(), to.number);
  add(class_jump | static_cast<unsigned>(when), one, no_register, 0, value);
}

void BpfCode::exit() {
  add(class_jump | jump_exit, no_register, no_register, 0, 0);
}

std::optional<std::vector<BpfInstruction>> BpfCode::finish() const {
  auto code = code_;
  for (const auto& [at, label] : jumps_) {
    if (!labels_[label]) return std::nullopt;
    const auto distance = static_cast<std::int64_t>(*labels_[label]) - static_cast<std::int64_t>(at) - 1;
    if (distance < std::numeric_limits<std::int16_t>::min() ||
        distance > std::numeric_limits<std::int16_t>::max())
      return std::nullopt;
    code[at].offset = static_cast<std::int16_t>(distance);
  }
  return code;
}

}  // namespace howlate
