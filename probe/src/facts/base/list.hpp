// Collected facts: a value or a reason under each key.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json.hpp"
#include "core/result.hpp"

namespace howlate {

inline constexpr std::string_view cpus_folder = "/sys/devices/system/cpu";

class FactList {
 public:
  void text(std::string_view key, std::string_view value) { set(key, json_string(value)); }
  void integer(std::string_view key, long long value) { set(key, std::to_string(value)); }
  void flag(std::string_view key, bool value) { set(key, value ? "true" : "false"); }
  void json(std::string_view key, std::string value) { set(key, std::move(value)); }
  // It could not be read, or is not reported.
  void missing(std::string_view key, std::string reason) { set(key, "null", {std::move(reason), false}); }
  // The machine does not have it.
  void absent(std::string_view key, std::string reason) { set(key, "null", {std::move(reason), true}); }
  // One of the two, as the error says.
  void missing(std::string_view key, const Error& error) { set(key, "null", {error.message, error.absent}); }
  void text_of(std::string_view key, const Result<std::string>& value) {
    value ? text(key, *value) : missing(key, value.error());
  }
  void integer_of(std::string_view key, const Result<long long>& value) {
    value ? integer(key, *value) : missing(key, value.error());
  }
  // {"facts": 1, "values": {...}, "missing": {...}, "absent": [...]}
  [[nodiscard]] std::string to_json() const;
  // {name: value of key, ...} for these {name, key} alone; null where there is none.
  [[nodiscard]] std::string brief_json(
      const std::vector<std::pair<std::string_view, std::string_view>>& keys) const;
  // One line a fact, for people.
  [[nodiscard]] std::string to_text() const;

 private:
  struct Fact {
    std::string json;
    std::string reason = {};  // of one without a value
    bool absent = false;
  };
  void set(std::string_view key, std::string json, std::pair<std::string, bool> why = {}) {
    facts_[std::string(key)] = {std::move(json), std::move(why.first), why.second};
  }

  std::map<std::string, Fact> facts_;  // by key
};

// Hardware addresses in device names ("enx0123456789ab") and the like are of no use to anybody who reads a
// report: twelve or more hexadecimal digits in a row become "...".
std::string without_addresses(std::string_view text);

// A row of a table: names with their values as JSON.
class FactRow {
 public:
  FactRow& text(std::string_view name, std::string_view value) { return json(name, json_string(value)); }
  FactRow& integer(std::string_view name, long long value) { return json(name, std::to_string(value)); }
  FactRow& flag(std::string_view name, bool value) { return json(name, value ? "true" : "false"); }
  FactRow& json(std::string_view name, std::string value) {
    members_.emplace_back(name, std::move(value));
    return *this;
  }
  void write(JsonWriter& out) const {
    out.begin_object();
    for (const auto& [name, value] : members_) out.member_raw(name, value);
    out.end_object();
  }
  bool operator==(const FactRow&) const = default;

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

std::string table_json(const std::vector<FactRow>& rows);

// Merges equal rows of many CPUs into one row with a list of CPUs, in the order of first appearance.
class RowsByCpus {
 public:
  void add(const FactRow& row, int cpu);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::vector<FactRow> rows() const;  // each with the member "cpus" at its end

 private:
  std::vector<std::pair<FactRow, std::vector<int>>> rows_;
};

}  // namespace howlate
