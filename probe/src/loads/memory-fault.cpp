// memory-fault: map a region without any access, write to every page, take SIGSEGV for each, make the page
// writable in the handler, sleep so that the CPU load stays at the target, unmap, repeat (the allocation load
// with protection faults of toshiba-mem-2010).
//
// Pages are written in ascending order, so that those already writable form one area and the others one: the
// number of areas stays at two and vm.max_map_count is never near. Disturbs: as memory-alloc, and signal
// delivery, mprotect and two exceptions a page.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "loads/base/memory.hpp"
#include "loads/load.hpp"
#include "sys/file.hpp"

namespace howlate {
namespace {

// What the handler may make writable; written before the first write to it.
struct {
  std::uintptr_t start = 0;
  std::size_t bytes = 0;
  std::size_t page = 0;
} region;

void make_writable(int, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const int saved = errno;
  if (address - region.start < region.bytes) {
    void* page = reinterpret_cast<void*>(address & ~(region.page - 1));
    if (::mprotect(page, region.page, PROT_READ | PROT_WRITE) == 0) {
      errno = saved;
      return;
    }
  }
  ::signal(SIGSEGV, SIG_DFL);  // not ours, or refused: the write is repeated and ends the worker
}

void mapped(const Mapping& mapping) {
  region.start = reinterpret_cast<std::uintptr_t>(mapping.start());
  region.bytes = mapping.bytes();
}

Status check(const Params& params, std::size_t workers) {
  return check_memory(params.integer("size"), workers, "size");
}

std::int64_t memory(const Params& params, std::size_t workers) {
  return saturated_product({params.integer("size"), static_cast<std::int64_t>(workers)});
}

Status work(Worker& worker) {
  region.page = page_bytes();
  struct sigaction action {};
  action.sa_sigaction = make_writable;
  action.sa_flags = SA_SIGINFO;
  if (::sigaction(SIGSEGV, &action, nullptr) != 0) return broken("cannot take SIGSEGV: " + errno_text(errno));
  return map_write_sleep_unmap(worker, PROT_NONE, mapped);
}

}  // namespace

extern const Load load_memory_fault;
const Load load_memory_fault = {
    .name = "memory-fault",
    .summary =
        "map a region with PROT_NONE, take SIGSEGV at every page, make it writable, sleep, unmap, repeat",
    .unit = "pages",
    .target = {"target", ParamType::percent, "50", "%", "", "busy share of each CPU given"},
    .params = std::span(&region_param, 1),
    .held = true,
    .action = {.name = "cycles", .wanted = 3, .length_ns = 30'000'000},
    .spread = Spread::per_cpu,
    .memory = memory,
    .check = check,
    .work = work,
};

}  // namespace howlate
