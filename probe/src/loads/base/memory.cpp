#include "loads/base/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "loads/base/held.hpp"
#include "loads/base/request.hpp"
#include "loads/load.hpp"
#include "sys/file.hpp"
#include "sys/memory.hpp"
#include "sys/root.hpp"

namespace howlate {
namespace {

std::string mib(std::int64_t bytes) {
  return std::to_string(bytes / (1024 * 1024)) + " MiB";
}

}  // namespace

const ParamSpec region_param = {
    "size", ParamType::bytes, "16MiB", "B", "", "the region that each worker maps"};

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

Status check_memory(std::int64_t bytes, std::size_t workers, std::string_view option) {
  return check_memory(bytes, workers, option, memory_available(Root()));
}

Status check_memory(std::int64_t bytes, std::size_t workers, std::string_view option,
                    std::int64_t available_bytes) {
  const std::string name(option);
  if (bytes < static_cast<std::int64_t>(page_bytes()))
    return usage_error("--" + name + " is less than a page of memory",
                       "give at least " + std::to_string(page_bytes()) + " bytes");
  const double wanted = static_cast<double>(bytes) * static_cast<double>(workers);
  const auto limit = static_cast<std::int64_t>(memory_share_max * static_cast<double>(available_bytes));
  if (wanted > static_cast<double>(limit))
    return not_possible(std::to_string(workers) + " workers with " + mib(bytes) +
                            " each would take more than half of the " + mib(available_bytes) +
                            " of memory that are available",
                        "choose a smaller --" + name + " or fewer CPUs");
  return {};
}

std::int64_t saturated_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (factor == 0) return 0;
    if (__builtin_mul_overflow(product, factor, &product)) product = INT64_MAX;
  }
  return product;
}

Status check_memory_of_all(std::span<const LoadRequest> requests) {
  return check_memory_of_all(requests, memory_available(Root()));
}

Status check_memory_of_all(std::span<const LoadRequest> requests, std::int64_t available_bytes) {
  std::int64_t wanted = 0;
  for (const LoadRequest& request : requests) {
    if (request.load->memory == nullptr) continue;
    const std::size_t workers = request.load->spread == Spread::per_cpu ? request.cpus.size() : 1;
    if (__builtin_add_overflow(wanted, request.load->memory(request.params, workers), &wanted))
      wanted = INT64_MAX;
  }
  return check_total_memory("the loads together", wanted, "choose smaller loads, or fewer", available_bytes);
}

Status check_total_memory(std::string_view who, std::int64_t bytes, std::string_view remedy) {
  return check_total_memory(who, bytes, remedy, memory_available(Root()));
}

Status check_total_memory(std::string_view who, std::int64_t bytes, std::string_view remedy,
                          std::int64_t available_bytes) {
  if (static_cast<double>(bytes) <= memory_share_max * static_cast<double>(available_bytes)) return {};
  return not_possible(std::string(who) + " would take " + mib(bytes) + ", more than half of the " +
                          mib(available_bytes) + " of memory that are available",
                      std::string(remedy));
}

Result<Mapping> Mapping::map(std::size_t bytes, int protection) {
  void* start = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    return not_possible("the kernel refuses to map a region of " + mib(static_cast<std::int64_t>(bytes)) +
                            ": " + errno_text(errno),
                        "choose a smaller --size");
  ::madvise(start, bytes,
            MADV_NOHUGEPAGE);  // EINVAL where the kernel has no huge pages: then there is nothing to avoid
  return Mapping(static_cast<std::byte*>(start), bytes);
}

Mapping::~Mapping() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

Status map_write_sleep_unmap(Worker& worker, int protection, void (*mapped)(const Mapping& mapping)) {
  const std::size_t page = page_bytes();
  const std::size_t bytes = static_cast<std::size_t>(worker.params.integer("size")) / page * page;
  HeldController controller(worker.params.real("target") / 100.0, 0);
  bool ready = false;
  const HeldClock clock;
  for (std::int64_t until_ns = controller.sleep_until(0, 0);;) {
    if (until_ns == HeldController::never) {
      worker.say_ready();
      clock.sleep_until(until_ns);
    }
    Result<Mapping> mapping = Mapping::map(bytes, protection);
    if (!mapping) return mapping.error();
    if (mapped != nullptr) mapped(*mapping);
    if (!ready) worker.say_ready();
    ready = true;
    volatile std::byte* const start = mapping->start();
    for (std::size_t at = 0; at < bytes; at += page) {
      start[at] = std::byte{1};
      worker.slot.add_units(1);
    }
    until_ns = controller.sleep_until(clock.wall_ns(), clock.cpu_ns());
    if (until_ns != 0) clock.sleep_until(until_ns);
  }
}

}  // namespace howlate
