// Page faults of the measuring thread itself: its work touches pages that were given back to the kernel.
#include <sys/mman.h>

#include <cerrno>

#include "inject/work.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"

namespace howlate {

namespace {

constexpr std::size_t region_bytes = std::size_t{8} << 20U;
constexpr std::size_t page_bytes = 4096;  // or a larger one's part, whose touch then is no fault

class PageFaults : public WorkRun {
 public:
  ~PageFaults() override {
    for (char* const region : regions_) ::munmap(region, region_bytes);
  }

  // Memory that is locked cannot be given back.
  Status begin(std::int64_t /*t0_ns*/) override {
    for (char* const region : regions_)
      if (::munlock(region, region_bytes) != 0 || ::madvise(region, region_bytes, MADV_DONTNEED) != 0)
        return broken("pages cannot be given back: " + errno_text(errno));
    return {};
  }

 protected:
  Status prepare() override {
    for (std::size_t lane = 0; lane < plan_->lanes.size(); ++lane) {
      void* const at = ::mmap(nullptr, region_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at == MAP_FAILED) return not_possible("no memory for the page faults: " + errno_text(errno));
      ::madvise(at, region_bytes, MADV_NOHUGEPAGE);
      regions_.push_back(static_cast<char*>(at));
    }
    return {};
  }

  void get_ready(std::size_t lane) override { ::madvise(regions_[lane], region_bytes, MADV_DONTNEED); }

  void hold(std::size_t lane, DelaySlot& slot, std::int64_t until_ns) override {
    char* const region = regions_[lane];
    slot.begin_ns.store(monotonic_now_ns(), std::memory_order_relaxed);
    std::int64_t now_ns = 0;
    for (std::size_t at = 0; now_ns < until_ns; at += page_bytes) {
      if (at == region_bytes) {
        at = 0;
        get_ready(lane);
      }
      __atomic_store_n(region + at, 1, __ATOMIC_RELAXED);
      now_ns = monotonic_now_ns();
    }
    slot.end_ns.store(now_ns, std::memory_order_release);
  }

 private:
  std::vector<char*> regions_;
};

Status available(const Root& /*root*/) {
  return {};
}

std::unique_ptr<InjectionRun> make(const Root& /*root*/) {
  return std::make_unique<PageFaults>();
}

}  // namespace

extern const Injection injection_page_faults;
const Injection injection_page_faults = {
    .name = "page-faults",
    .summary = "the measuring thread touches pages that were given back",
    .in_work = true,
    .available = available,
    .make = make,
};

}  // namespace howlate
