// What the kernel counts by itself while a cell is measured (docs/stream.md, "Counters"): interrupts and softirqs of the measuring CPUs,
// switches and faults of the measuring threads, slowing by heat. Where no events are recorded they are all there is to go by.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cell/table.hpp"
#include "core/json.hpp"
#include "sys/root.hpp"

namespace howlate {

std::span<const ColumnSpec> counters_columns();

struct CountersSpec {
  Root root;
  std::vector<int> cpus;  // the measuring ones
  bool beside = true;     // who samples the machine has a CPU that does not measure
  std::uint16_t table = 0;
  std::size_t seconds_max = 0;  // that can be kept before they are written
};

class Counters {
 public:
  explicit Counters(CountersSpec spec);

  // The memory of its table, in bytes.
  static std::size_t memory_bytes(std::size_t seconds_max, std::size_t cpus, bool beside);

  // The numbers of the measuring threads, in the order of their tables. Before begin().
  void of_threads(std::vector<pid_t> threads) { threads_ = std::move(threads); }

  // Around the whole cell, while nothing is measured.
  void read_before();
  void read_after();

  // While it is measured, by the thread that samples the machine. `proc_stat` was read for something else.
  //
  // Beside the measuring CPUs everything is read. On one of them /proc/interrupts is not: the kernel prints each line of it with
  // interrupts off. There the machine's sum in /proc/stat stands for it.
  void begin(std::string_view proc_stat);
  void sample(std::int64_t time_ns, std::string_view proc_stat);
  void flush(Sink& sink) { table_.flush(sink); }

  [[nodiscard]] std::int64_t lost() const { return missed_ + table_.lost(); }
  // What is counted, for the header: a stream may end without a trailer. After read_before().
  [[nodiscard]] std::string names_json() const;
  // The trailer's member "counters". A line that came later is at its end.
  [[nodiscard]] std::string json() const;

 private:
  // Of what is counted: an entry of the trailer's list.
  struct Name {
    std::string_view kind;
    std::string label;
    std::string name;
  };
  struct Key {
    std::size_t counter = 0;
    int cpu = -1;
    int thread = -1;
    auto operator<=>(const Key&) const = default;
  };
  using Counts = std::map<Key, std::int64_t>;

  std::size_t counter_of(std::string_view kind, std::string_view label = {}, std::string_view name = {});
  void add_lines(Counts& counts, std::string_view kind, std::string_view path);
  void add_stat(Counts& counts, std::string_view proc_stat);
  void add_threads(Counts& counts);
  void add_heat(Counts& counts);
  void write_names(JsonWriter& json) const;
  [[nodiscard]] Counts of_the_cell();
  [[nodiscard]] Counts of_a_second(std::string_view proc_stat);

  CountersSpec spec_;
  TableWriter table_;
  std::vector<Name> names_;
  std::map<std::pair<std::string_view, std::string>, std::size_t> numbers_;
  std::set<std::string_view> each_second_;  // kinds
  std::vector<pid_t> threads_;
  bool heat_ = false;  // this machine counts it
  Counts before_, over_cell_, last_;
  std::int64_t missed_ = 0;
};

}  // namespace howlate
