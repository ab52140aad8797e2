// What the loads that map memory share: the region's size, and the refusal to take too much.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "core/params.hpp"
#include "core/result.hpp"

namespace howlate {

struct LoadRequest;

// The share of MemAvailable for all loads of a test together. More is refused.
constexpr double memory_share_max = 0.5;

// Whether `workers` regions of `bytes` each may be taken; `option` is the name to name in the remedy.
Status check_memory(std::int64_t bytes, std::size_t workers, std::string_view option);
// The same with both figures given, so that it can be tested.
Status check_memory(std::int64_t bytes, std::size_t workers, std::string_view option,
                    std::int64_t available_bytes);

// Whether `who` may take this many bytes in total.
Status check_total_memory(std::string_view who, std::int64_t bytes, std::string_view remedy);
Status check_total_memory(std::string_view who, std::int64_t bytes, std::string_view remedy,
                          std::int64_t available_bytes);

std::size_t page_bytes();

// The product of numbers that are not negative; INT64_MAX where it is beyond 64 bits.
std::int64_t saturated_product(std::initializer_list<std::int64_t> factors);

// Whether all loads of a test together take no more than that. Each is also asked alone (Load::check).
Status check_memory_of_all(std::span<const LoadRequest> requests);
Status check_memory_of_all(std::span<const LoadRequest> requests, std::int64_t available_bytes);

// An anonymous private mapping, of small pages so that each page is a fault of its own; unmapped with its
// object.
class Mapping {
 public:
  static Result<Mapping> map(std::size_t bytes, int protection);
  Mapping(Mapping&& other) noexcept : start_(other.start_), bytes_(other.bytes_) { other.start_ = nullptr; }
  Mapping& operator=(Mapping&&) = delete;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  [[nodiscard]] std::byte* start() const { return start_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Mapping(std::byte* start, std::size_t bytes) : start_(start), bytes_(bytes) {}
  std::byte* start_;
  std::size_t bytes_;
};

extern const ParamSpec region_param;  // "size"

// The published procedure of both memory-alloc and memory-fault, for ever: map with `protection`, write
// something to every page, sleep until the CPU time used is the target's share of the time gone by, unmap.
Status map_write_sleep_unmap(struct Worker& worker, int protection, void (*mapped)(const Mapping& mapping));

}  // namespace howlate
