// What is sampled of the machine, on one made of files.
#include "cell/sampler.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cell/made_sink.hpp"
#include "core/stream_reader.hpp"
#include "sys/fixture.hpp"

namespace howlate {
namespace {

// The rows of the table `cpus` in a stream, column by column.
std::vector<std::vector<std::int64_t>> cpu_rows(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
  std::vector<ColumnType> types;
  for (const ColumnSpec& column : cpus_columns()) types.push_back(column.type);
  FrameReader reader(std::as_bytes(std::span(chars)));
  std::vector<std::vector<std::int64_t>> rows;
  for (auto frame = reader.next(); frame; frame = reader.next())
    if (frame->kind == FrameKind::batch && frame->table == 1)
      rows = read_columns(frame->payload, types).value_or(std::vector<std::vector<std::int64_t>>{});
  return rows;
}

TEST_CASE("the frequency of a measuring CPU is not asked for while it measures") {
  const Fixture fixture;
  fixture.write("/proc/stat", "cpu  0 0 0 0\ncpu0 10 0 0 90\ncpu1 20 0 0 80\n");
  for (const char* cpu : {"cpu0", "cpu1"})
    fixture.write(std::string("/sys/devices/system/cpu/") + cpu + "/cpufreq/scaling_cur_freq", "2400000\n");
  const std::string path = std::filesystem::temp_directory_path() / "howlate-unit-sampler";
  std::filesystem::remove(path);
  {
    Sink sink = made_sink(path);
    LoadSet loads;
    SystemSampler sampler({fixture.root(), {1}, {1}, true, 1, 4, 2}, loads);
    sampler.begin(0, 0);
    fixture.write("/proc/stat", "cpu  0 0 0 0\ncpu0 60 0 0 140\ncpu1 120 0 0 80\n");
    sampler.tick(1'000'000'000);
    sampler.flush(sink);
  }
  const auto rows = cpu_rows(path);
  std::filesystem::remove(path);
  REQUIRE(rows.size() == cpus_columns().size());
  CHECK(rows[1] == std::vector<std::int64_t>{0, 1});
  CHECK(rows[2] == std::vector<std::int64_t>{500, 1000});
  CHECK(rows[4] == std::vector<std::int64_t>{2'400'000, 0});
}

}  // namespace
}  // namespace howlate
