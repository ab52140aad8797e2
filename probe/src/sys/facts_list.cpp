#include "sys/facts_list.hpp"

#include <algorithm>
#include <cctype>

#include "sys/sched.hpp"

namespace howlate {

std::string FactList::to_json() const {
  JsonWriter json;
  json.begin_object().member("facts", 1).key("values").begin_object();
  for (const auto& [key, value] : values_) json.member_raw(key, value);
  json.end_object().key("missing").begin_object();
  for (const auto& [key, reason] : reasons_) json.member(key, reason);
  json.end_object().end_object();
  return json.take();
}

std::string FactList::brief_json(
    const std::vector<std::pair<std::string_view, std::string_view>>& keys) const {
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, key] : keys) {
    const auto found = values_.find(std::string(key));
    json.member_raw(name, found == values_.end() ? "null" : found->second);
  }
  json.end_object();
  return json.take();
}

std::string FactList::to_text() const {
  std::string out;
  for (const auto& [key, value] : values_) {
    const auto reason = reasons_.find(key);
    out += key + ": " + (reason == reasons_.end() ? value : "not known (" + reason->second + ")") + "\n";
  }
  return out;
}

std::string without_addresses(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end - at >= 12) {
      out += "...";
      at = end;
      continue;
    }
    const std::size_t upto = std::max(end, at + 1);
    out += text.substr(at, upto - at);
    at = upto;
  }
  return out;
}

std::string table_json(const std::vector<Row>& rows) {
  JsonWriter json;
  json.begin_array();
  for (const Row& row : rows) row.write(json);
  json.end_array();
  return json.take();
}

void RowsByCpus::add(const Row& row, int cpu) {
  for (auto& [known, cpus] : rows_) {
    if (known == row) {
      cpus.push_back(cpu);
      return;
    }
  }
  rows_.emplace_back(row, std::vector<int>{cpu});
}

std::vector<Row> RowsByCpus::rows() const {
  std::vector<Row> out;
  for (const auto& [row, cpus] : rows_) {
    out.push_back(row);
    out.back().text("cpus", cpu_list_text(cpus));
  }
  return out;
}

}  // namespace howlate
