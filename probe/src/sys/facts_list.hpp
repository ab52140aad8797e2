// Facts as they are gathered: a value or a reason under each key.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"
#include "sys/facts_tree.hpp"

namespace howlate {

inline constexpr std::string_view cpus_folder = "/sys/devices/system/cpu";

class FactList {
 public:
  void text(std::string_view key, std::string_view value) { set(key, json_string(value)); }
  void integer(std::string_view key, long long value) { set(key, std::to_string(value)); }
  void flag(std::string_view key, bool value) { set(key, value ? "true" : "false"); }
  void json(std::string_view key, std::string value) { set(key, std::move(value)); }
  void missing(std::string_view key, std::string reason) {
    set(key, "null");
    reasons_[std::string(key)] = std::move(reason);
  }
  void text_of(std::string_view key, const Result<std::string>& value) {
    value ? text(key, *value) : missing(key, value.error().message);
  }
  void integer_of(std::string_view key, const Result<long long>& value) {
    value ? integer(key, *value) : missing(key, value.error().message);
  }
  // {"facts": 1, "values": {...}, "missing": {...}}
  [[nodiscard]] std::string to_json() const;
  // {name: value of key, ...} for these {name, key} alone; null where there is none.
  [[nodiscard]] std::string brief_json(
      const std::vector<std::pair<std::string_view, std::string_view>>& keys) const;
  // One line a fact, for people.
  [[nodiscard]] std::string to_text() const;

 private:
  void set(std::string_view key, std::string json) {
    values_[std::string(key)] = std::move(json);
    reasons_.erase(std::string(key));
  }

  std::map<std::string, std::string> values_;  // by key, as JSON
  std::map<std::string, std::string> reasons_;
};

// Hardware addresses in device names ("enx0123456789ab") and the like are of no use to anybody who reads a
// report: twelve or more hexadecimal digits in a row become "...".
std::string without_addresses(std::string_view text);

// A row of a table: names with their values as JSON.
class Row {
 public:
  Row& text(std::string_view name, std::string_view value) { return json(name, json_string(value)); }
  Row& integer(std::string_view name, long long value) { return json(name, std::to_string(value)); }
  Row& flag(std::string_view name, bool value) { return json(name, value ? "true" : "false"); }
  Row& json(std::string_view name, std::string value) {
    members_.emplace_back(name, std::move(value));
    return *this;
  }
  void write(JsonWriter& out) const {
    out.begin_object();
    for (const auto& [name, value] : members_) out.member_raw(name, value);
    out.end_object();
  }
  bool operator==(const Row&) const = default;

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

std::string table_json(const std::vector<Row>& rows);

// Equal rows of many CPUs as one row with a list of CPUs, in the order of first appearance.
class RowsByCpus {
 public:
  void add(const Row& row, int cpu);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::vector<Row> rows() const;  // each with the member "cpus" at its end

 private:
  std::vector<std::pair<Row, std::vector<int>>> rows_;
};

// The gatherers, a file each; each adds its keys, whatever the machine has.
void gather_files(const Tree& tree, FactList& facts);   // facts_files.cpp: one file, one fact
void gather_kernel(const Tree& tree, FactList& facts);  // facts_kernel.cpp
void gather_config(const Tree& tree, FactList& facts);  // facts_kernel.cpp
void gather_cpus(const Tree& tree, FactList& facts);    // facts_cpus.cpp
void gather_irqs(const Tree& tree, FactList& facts);    // facts_irqs.cpp
void gather_tasks(const Tree& tree, FactList& facts);   // facts_tasks.cpp
void gather_caller(const Tree& tree, FactList& facts);  // facts_caller.cpp
void gather_traces(const Tree& tree, FactList& facts);  // facts_traces.cpp
void gather_guest(const Tree& tree, FactList& facts);   // facts_guest.cpp

// The command line with the values of those parameters alone that matter for lateness (facts_kernel.cpp).
Result<std::string> safe_command_line(const Tree& tree);

}  // namespace howlate
