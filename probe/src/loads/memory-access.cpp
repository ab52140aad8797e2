// memory-access: update a volatile counter, sleep so that the CPU load stays at the target, repeat (the
// memory access load of toshiba-mem-2010).
//
// As published the counter is one word, so it stays in the nearest cache. With --working-set the update goes
// through a buffer of that size, each time to a line drawn at random (2^38 bytes at most), which prefetchers
// cannot guess. Disturbs: the CPU; with a working set also caches and memory bus.
#include <sys/mman.h>

#include <cstring>
#include <optional>

#include "loads/base/held.hpp"
#include "loads/base/memory.hpp"
#include "loads/load.hpp"

namespace howlate {
namespace {

constexpr std::size_t line_bytes = 64;

constexpr ParamSpec options[] = {
    {"working-set", ParamType::bytes, "0", "B", "",
     "spread the updates over a buffer of this size; 0: the single counter, as published"},
};

Status check(const Params& params, std::size_t workers) {
  if (params.integer("working-set") == 0) return {};
  return check_memory(params.integer("working-set"), workers, "working-set");
}

std::int64_t memory(const Params& params, std::size_t workers) {
  return saturated_product({params.integer("working-set"), static_cast<std::int64_t>(workers)});
}

Status work(Worker& worker) {
  const auto bytes = static_cast<std::size_t>(worker.params.integer("working-set"));
  if (bytes == 0) {
    volatile std::uint64_t counter = 0;
    hold(worker, [&](std::int64_t many) {
      for (std::int64_t i = 0; i < many; ++i) counter = counter + 1;
    });
  }
  Result<Mapping> buffer = Mapping::map(bytes, PROT_READ | PROT_WRITE);
  if (!buffer) return buffer.error();
  std::memset(buffer->start(), 1, bytes);
  const std::uint64_t lines = bytes / line_bytes;
  std::uint64_t draw = 0x9e3779b97f4a7c15ULL;
  hold(worker, [&](std::int64_t many) {
    for (std::int64_t i = 0; i < many; ++i) {
      draw = draw * 6364136223846793005ULL + 1442695040888963407ULL;
      const std::uint64_t line = ((draw >> 32U) * lines) >> 32U;
      auto* counter = reinterpret_cast<volatile std::uint64_t*>(buffer->start() + line * line_bytes);
      *counter = *counter + 1;
    }
  });
}

}  // namespace

extern const Load load_memory_access;
const Load load_memory_access = {
    .name = "memory-access",
    .summary = "update a volatile counter, sleep, repeat",
    .unit = "updates",
    .target = {"target", ParamType::percent, "50", "%", "", "busy share of each CPU given"},
    .params = options,
    .held = true,
    .action = {.name = "cycles", .wanted = 3, .length_ns = 10'000'000, .sleeping = true},
    .spread = Spread::per_cpu,
    .memory = memory,
    .check = check,
    .work = work,
};

}  // namespace howlate
