#include "facts/base/list.hpp"

#include <algorithm>
#include <cctype>

#include "sys/sched.hpp"

namespace howlate {

namespace {
constexpr std::size_t longest_line = 16384;
}

std::string FactList::to_json() const {
  JsonWriter json;
  json.begin_object().member("facts", 1).key("values").begin_object();
  for (const auto& [key, fact] : facts_) json.member_raw(key, fact.json);
  json.end_object().key("missing").begin_object();
  for (const auto& [key, fact] : facts_)
    if (!fact.reason.empty()) json.member(key, fact.reason);
  json.end_object().key("absent").begin_array();
  for (const auto& [key, fact] : facts_)
    if (fact.absent) json.value(key);
  json.end_array().end_object();
  return json.take();
}

std::string FactList::brief_json(
    const std::vector<std::pair<std::string_view, std::string_view>>& keys) const {
  JsonWriter json;
  json.begin_object();
  for (const auto& [name, key] : keys) {
    const auto fact = facts_.find(std::string(key));
    json.member_raw(name, fact == facts_.end() ? "null" : fact->second.json);
  }
  json.end_object();
  return json.take();
}

std::string FactList::to_text() const {
  std::string out;
  for (const auto& [key, fact] : facts_) {
    const std::string known =
        fact.json.size() < longest_line ? fact.json : "(too long for a line: see --json)";
    out += key + ": " + (fact.reason.empty() ? known : "not known (" + fact.reason + ")") + "\n";
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

std::string table_json(const std::vector<FactRow>& rows) {
  JsonWriter json;
  json.begin_array();
  for (const FactRow& row : rows) row.write(json);
  json.end_array();
  return json.take();
}

void RowsByCpus::add(const FactRow& row, int cpu) {
  for (auto& [known, cpus] : rows_) {
    if (known == row) {
      cpus.push_back(cpu);
      return;
    }
  }
  rows_.emplace_back(row, std::vector<int>{cpu});
}

std::vector<FactRow> RowsByCpus::rows() const {
  std::vector<FactRow> out;
  for (const auto& [row, cpus] : rows_) {
    out.push_back(row);
    out.back().text("cpus", cpu_list_text(cpus));
  }
  return out;
}

}  // namespace howlate
