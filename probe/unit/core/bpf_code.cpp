// Instructions as the kernel's own tools print them.
#include "core/bpf_code.hpp"

#include <doctest/doctest.h>

namespace howlate {
namespace {

using enum BpfRegister;

std::vector<BpfInstruction> finished(const BpfCode& code) {
  const auto all = code.finish();
  REQUIRE(all);
  return *all;
}

TEST_CASE("each instruction is the kernel's") {
  BpfCode code;
  code.load(BpfSize::u64, r1, r6, 8);      // r1 = *(u64 *)(r6 + 8)
  code.store(BpfSize::u16, r7, 24, r1);    // *(u16 *)(r7 + 24) = r1
  code.store(BpfSize::u32, stack, -4, 0);  // *(u32 *)(r10 - 4) = 0
  code.move(r6, r1);                       // r6 = r1
  code.move(r8, -1);                       // r8 = -1
  code.sum(BpfSum::bit_and, r1, 255);      // r1 &= 255
  code.sum(BpfSum::bit_or, r1, r2);        // r1 |= r2
  code.fetch_add(r0, 0, r8);               // r8 = atomic_fetch_add((u64 *)(r0 + 0), r8)
  code.exchange_32(r7, 8, r8);             // w8 = xchg32_32(r7 + 8, w8)
  code.call(5);                            // call bpf_ktime_get_ns
  code.call_kernel(1234);                  // call kernel-function of BTF number 1234
  code.exit();
  const std::vector<BpfInstruction> expected{{0x79, 0x61, 8, 0}, {0x6b, 0x17, 24, 0},   {0x62, 0x0a, -4, 0},
                                             {0xbf, 0x16, 0, 0}, {0xb7, 0x08, 0, -1},   {0x57, 0x01, 0, 255},
                                             {0x4f, 0x21, 0, 0}, {0xdb, 0x80, 0, 1},    {0xc3, 0x87, 8, 0xe1},
                                             {0x85, 0x00, 0, 5}, {0x85, 0x20, 0, 1234}, {0x95, 0x00, 0, 0}};
  CHECK(finished(code) == expected);
}

TEST_CASE("maps and variables take two instructions, and jumps count both") {
  BpfCode code;
  const auto end = code.label();
  code.jump_if(BpfWhen::equal, r0, 0, end);
  code.map(r1, 7);
  code.percpu(r2, 1234);
  code.map_memory(r3, 9);
  code.place(end);
  code.exit();
  const std::vector<BpfInstruction> expected{{0x15, 0x00, 6, 0},    {0x18, 0x11, 0, 7}, {0, 0, 0, 0},
                                             {0x18, 0x32, 0, 1234}, {0, 0, 0, 0},       {0x18, 0x23, 0, 9},
                                             {0, 0, 0, 0},          {0x95, 0, 0, 0}};
  CHECK(finished(code) == expected);
}

TEST_CASE("a jump goes back as well, and one to nowhere makes no program") {
  BpfCode code;
  const auto begin = code.label(), nowhere = code.label();
  code.place(begin);
  code.exit();
  code.jump(begin);
  CHECK(finished(code)[1] == BpfInstruction{0x05, 0, -2, 0});
  code.jump_if(BpfWhen::not_equal, r1, 1, nowhere);
  CHECK_FALSE(code.finish());
}

TEST_CASE("a jump beyond 16 bits makes no program") {
  BpfCode code;
  const auto end = code.label();
  code.jump(end);
  for (int i = 0; i < 40'000; ++i) code.move(r0, 0);
  code.place(end);
  CHECK_FALSE(code.finish());
}

}  // namespace
}  // namespace howlate
