// The activity of the machine and the loads, once a second, as rows of the tables `cpus`, `loads` and `counters`. Run by the
// recorder's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "cell/counters.hpp"
#include "cell/loads.hpp"
#include "cell/sink.hpp"
#include "cell/table.hpp"
#include "sys/cpus.hpp"
#include "sys/root.hpp"

namespace howlate {

std::span<const ColumnSpec> cpus_columns();
std::span<const ColumnSpec> loads_columns();

struct SamplerSpec {
  Root root;
  std::vector<int> measuring_cpus;   // their SMI count and frequency are not read: that can interrupt them
  std::vector<int> counted_cpus;     // whose interrupts are counted
  bool beside = true;                // it has a CPU that does not measure
  std::uint16_t first_table = 0;     // `cpus`; `loads` and `counters` are the next
  std::size_t seconds_max = 0;       // that can be kept before they are written
  std::size_t rows_each_second = 0;  // of the first two tables
};

class SystemSampler {
 public:
  // The memory of its tables, in bytes.
  static std::size_t memory_bytes(const SamplerSpec& spec);

  SystemSampler(const SamplerSpec& spec, LoadSet& loads);

  [[nodiscard]] Counters& counters() { return counters_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

  void begin(std::int64_t t0_ns, std::int64_t now_ns);
  // Takes a sample when a second has passed since the last one; at the end for the rest of a second.
  void tick(std::int64_t now_ns);
  void end(std::int64_t now_ns);
  void flush(Sink& sink);

  [[nodiscard]] std::int64_t steal_ns() const {
    return steal_ns_;
  }  // of the measuring CPUs, from begin() to end()
  [[nodiscard]] std::int64_t lost() const {
    return missed_ + cpus_.lost() + loads_table_.lost() + counters_.lost();
  }

 private:
  void sample(std::int64_t now_ns);
  void add_cpu(std::int64_t now_ns, const CpuTimes& before, const CpuTimes& now);

  SamplerSpec spec_;
  LoadSet& loads_;
  SmiCounter smi_;
  TableWriter cpus_;
  TableWriter loads_table_;
  Counters counters_;
  std::vector<CpuTimes> last_;
  std::int64_t t0_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::int64_t steal_ns_ = 0;
  std::int64_t missed_ = 0;  // rows that found the table full
};

}  // namespace howlate
