// memory-alloc: map a region, write something to every page, sleep so that the CPU load stays at the target,
// unmap, repeat (the memory allocation load of toshiba-mem-2010).
//
// One sleep a round, with the region still mapped. CPU time is the worker's own, user and kernel: faults,
// clearing of pages and unmapping are part of it. Pages are small ones (MADV_NOHUGEPAGE), so that each is a
// fault of its own. Disturbs: page allocator, zone and memory-map locks, clearing of memory (caches, memory
// bus), TLB flushes on unmapping.
#include <sys/mman.h>

#include "loads/base/memory.hpp"
#include "loads/load.hpp"

namespace howlate {
namespace {

Status check(const Params& params, std::size_t workers) {
  return check_memory(params.integer("size"), workers, "size");
}

std::int64_t memory(const Params& params, std::size_t workers) {
  return saturated_product({params.integer("size"), static_cast<std::int64_t>(workers)});
}

Status work(Worker& worker) {
  return map_write_sleep_unmap(worker, PROT_READ | PROT_WRITE, nullptr);
}

}  // namespace

extern const Load load_memory_alloc;
const Load load_memory_alloc = {
    .name = "memory-alloc",
    .summary = "map a region, write to every page, sleep, unmap, repeat",
    .unit = "pages",
    .target = {"target", ParamType::percent, "50", "%", "", "busy share of each CPU given"},
    .params = std::span(&region_param, 1),
    .held = true,
    .action = {.name = "cycles", .wanted = 3, .length_ns = 10'000'000},
    .spread = Spread::per_cpu,
    .memory = memory,
    .check = check,
    .work = work,
};

}  // namespace howlate
