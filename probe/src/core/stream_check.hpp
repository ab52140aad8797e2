// Checks a stream against docs/stream.md, and reports its content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/stream.hpp"
#include "core/stream_reader.hpp"

namespace howlate {

struct TableReport {
  std::string name;
  std::int64_t cpu = -1;  // -1: belongs to no CPU
  std::vector<ColumnType> types;
  std::uint64_t batches = 0;
  std::int64_t rows = 0;  // counted, batch by batch
  Totals totals;          // as the last batch says, or the trailer where there is one
};

struct StreamReport {
  StreamEnd end = StreamEnd::no_trailer;
  std::string problem;          // the first fault, as a sentence; or ""
  std::size_t bytes = 0;        // of the file
  std::size_t whole_bytes = 0;  // up to the last intact frame
  std::string header;
  std::string trailer;
  std::map<std::int64_t, TableReport> tables;  // by id

  [[nodiscard]] bool sound() const { return problem.empty(); }  // with or without a trailer
};

// Checks frames, their order, the texts, each batch's length against the header's columns, the running totals
// (counted rows, never smaller than before, releases = recorded + overruns + dropped) and the trailer's
// account against them. What stands before the first problem is reported as far as it goes.
StreamReport check_stream(std::span<const std::byte> bytes);

// The report as lines of text.
std::string describe(const StreamReport& report);

}  // namespace howlate
