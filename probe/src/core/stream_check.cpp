#include "core/stream_check.hpp"

#include <optional>

#include "core/json_read.hpp"

namespace howlate {

namespace {

std::string_view text_of(std::span<const std::byte> payload) {
  return {reinterpret_cast<const char*>(payload.data()), payload.size()};
}

std::int64_t integer_of(const JsonValue& object, std::string_view key, std::int64_t otherwise) {
  const JsonValue* const value = object.find(key);
  return value == nullptr ? otherwise : value->integer().value_or(otherwise);
}

std::string word_of(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.find(key);
  return value != nullptr && value->kind() == JsonValue::JsonKind::string ? std::string(value->text())
                                                                          : std::string();
}

std::optional<ColumnType> type_of(std::string_view name) {
  for (const ColumnType type : {ColumnType::i64, ColumnType::i32, ColumnType::u8}) {
    if (column_type_name(type) == name) return type;
  }
  return std::nullopt;
}

// The sentences below say what is wrong, or are empty.

std::string read_table(const JsonValue& entry, StreamReport& report) {
  const std::int64_t id = integer_of(entry, "id", -1);
  if (id < 0 || id > UINT16_MAX) return "the header has a table without an id";
  const auto [at, is_new] = report.tables.try_emplace(id);
  if (!is_new) return "the header has table " + std::to_string(id) + " twice";
  TableReport& table = at->second;
  table.name = word_of(entry, "name");
  table.cpu = integer_of(entry, "cpu", -1);
  const JsonValue* const columns = entry.find("columns");
  if (columns == nullptr || columns->items().empty()) return "the header has a table without columns";
  for (const JsonValue& column : columns->items()) {
    const std::optional<ColumnType> type = type_of(word_of(column, "type"));
    if (!type) return "the header has a column of an unknown type";
    table.types.push_back(*type);
  }
  return "";
}

std::string read_header(std::span<const std::byte> payload, StreamReport& report) {
  report.header = text_of(payload);
  const Result<JsonValue> json = JsonValue::parse(report.header);
  if (!json) return "the header cannot be read: " + json.error().message;
  if (integer_of(*json, "stream", 0) != 1) return "the header is not of a stream of version 1";
  const JsonValue* const tables = json->find("tables");
  if (tables == nullptr || tables->kind() != JsonValue::JsonKind::array) return "the header has no tables";
  for (const JsonValue& entry : tables->items()) {
    if (std::string why = read_table(entry, report); !why.empty()) return why;
  }
  return "";
}

bool of_activations(const TableReport& table, const Totals& totals) {
  return table.name == "samples" || totals.releases != 0 || totals.overruns != 0 || totals.dropped != 0;
}

bool shrinks(const Totals& before, const Totals& now) {
  return now.releases < before.releases || now.overruns < before.overruns || now.dropped < before.dropped ||
         now.recorded < before.recorded;
}

// Sums of altered numbers may not overflow: compared by what is left of the releases.
bool identity_holds(const Totals& totals) {
  for (const std::int64_t part : {totals.releases, totals.recorded, totals.overruns, totals.dropped}) {
    if (part < 0 || part > totals.releases) return false;
  }
  return totals.releases - totals.recorded - totals.overruns == totals.dropped;
}

std::string read_batch(const Frame& frame, StreamReport& report) {
  const auto found = report.tables.find(frame.table);
  if (found == report.tables.end())
    return "a batch is of table " + std::to_string(frame.table) + ", which the header does not have";
  TableReport& table = found->second;
  const std::string name = "table " + std::to_string(frame.table);
  const std::optional<BatchHead> head = read_batch_head(frame.payload);
  if (!head || batch_bytes(table.types, head->rows) != frame.payload.size())
    return "a batch of " + name + " is not as long as its rows need";
  const Totals& totals = head->totals;
  if (totals.recorded != table.rows + head->rows) {
    return name + " says " + std::to_string(totals.recorded) + " rows up to here, and there are " +
           std::to_string(table.rows + head->rows);
  }
  if (shrinks(table.totals, totals)) return "the account of " + name + " runs backwards";
  if (of_activations(table, totals) && !identity_holds(totals)) {
    return "the account of " + name + " does not add up: releases are not recorded + overruns + dropped";
  }
  ++table.batches;
  table.rows += head->rows;
  table.totals = totals;
  return "";
}

std::string read_account(const JsonValue& entry, StreamReport& report) {
  const auto found = report.tables.find(integer_of(entry, "table", -1));
  if (found == report.tables.end())
    return "the trailer has an account of a table that the header does not have";
  TableReport& table = found->second;
  const std::string name = "table " + std::to_string(found->first);
  Totals totals;
  totals.releases = integer_of(entry, "releases", -1);
  totals.recorded = integer_of(entry, "recorded", -1);
  totals.overruns = integer_of(entry, "overruns", -1);
  totals.dropped = integer_of(entry, "dropped", -1);
  if (!identity_holds(totals)) return "the trailer's account of " + name + " does not add up";
  if (totals.recorded != table.rows) {
    return "the trailer's account of " + name + " has " + std::to_string(totals.recorded) +
           " rows, and there are " + std::to_string(table.rows);
  }
  if (shrinks(table.totals, totals))
    return "the trailer's account of " + name + " is smaller than its last batch's";
  table.totals = totals;
  return "";
}

std::string read_trailer(std::span<const std::byte> payload, StreamReport& report) {
  report.trailer = text_of(payload);
  const Result<JsonValue> json = JsonValue::parse(report.trailer);
  if (!json) return "the trailer cannot be read: " + json.error().message;
  const JsonValue* const accounts = json->find("accounting");
  if (accounts == nullptr || accounts->kind() != JsonValue::JsonKind::array)
    return "the trailer has no accounting";
  for (const JsonValue& entry : accounts->items()) {
    if (std::string why = read_account(entry, report); !why.empty()) return why;
  }
  return "";
}

std::string read_frame(const Frame& frame, StreamReport& report) {
  switch (frame.kind) {
    case FrameKind::header:
      return read_header(frame.payload, report);
    case FrameKind::batch:
      return read_batch(frame, report);
    case FrameKind::trailer:
      return read_trailer(frame.payload, report);
  }
  return "";
}

std::string end_words(const StreamReport& report) {
  switch (report.end) {
    case StreamEnd::trailer:
      return "whole, with its trailer";
    case StreamEnd::no_trailer:
      return "without a trailer: the probe did not end by itself, and nothing is lost up to the last batch";
    case StreamEnd::cut:
      return "cut";
    case StreamEnd::damaged:
      return "damaged";
  }
  return "";
}

}  // namespace

StreamReport check_stream(std::span<const std::byte> bytes) {
  StreamReport report;
  report.bytes = bytes.size();
  FrameReader reader(bytes);
  report.whole_bytes = reader.offset();
  while (const std::optional<Frame> frame = reader.next()) {
    if (const std::string why = read_frame(*frame, report); !why.empty()) {
      report.end = StreamEnd::damaged;
      report.problem = why + " (the frame at byte " + std::to_string(frame->offset) + ")";
      return report;
    }
    report.whole_bytes = reader.offset();
  }
  report.end = reader.end();
  report.problem = reader.problem();
  return report;
}

std::string describe(const StreamReport& report) {
  std::string text = std::to_string(report.bytes) + " bytes, " + end_words(report) + "\n";
  const Result<JsonValue> header = JsonValue::parse(report.header);
  if (header) text += "test " + word_of(*header, "test") + ", probe " + word_of(*header, "probe") + "\n";
  const Result<JsonValue> trailer = JsonValue::parse(report.trailer);
  if (trailer) text += "stopped by: " + word_of(*trailer, "stop_reason") + "\n";
  for (const auto& [id, table] : report.tables) {
    text += "table " + std::to_string(id) + " " + table.name;
    if (table.cpu >= 0) text += " (CPU " + std::to_string(table.cpu) + ")";
    text += ": " + std::to_string(table.rows) + " rows in " + std::to_string(table.batches) + " batches";
    if (of_activations(table, table.totals)) {
      text += "; releases " + std::to_string(table.totals.releases) + " = recorded " +
              std::to_string(table.totals.recorded) + " + overruns " + std::to_string(table.totals.overruns) +
              " + dropped " + std::to_string(table.totals.dropped);
    }
    text += "\n";
  }
  if (!report.sound()) text += "the first " + std::to_string(report.whole_bytes) + " bytes hold\n";
  return text;
}

}  // namespace howlate
