// A new stream in a file, opened and with an empty header: for tables that are written and read back.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cell/sink.hpp"
#include "core/stream.hpp"

namespace howlate {

inline Sink made_sink(const std::string& path) {
  auto file = AppendFile::create(path);
  REQUIRE(file.ok());
  Sink sink(std::move(*file));
  std::vector<std::byte> opening;
  StreamEncoder::magic(opening);
  StreamEncoder::header(opening, "{}");
  REQUIRE(sink.put(opening));
  return sink;
}

}  // namespace howlate
