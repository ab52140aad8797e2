// What the kernel counts, from a machine made of files to the rows of the table and the trailer.
#include "cell/counters.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cell/made_sink.hpp"
#include "core/stream_reader.hpp"
#include "sys/fixture.hpp"

namespace howlate {
namespace {

constexpr std::string_view stat_before = "cpu  0 0 0 0\ncpu1 0 0 0 0\nintr 1000 1 2\nctxt 500\nbtime 1\n";
constexpr std::string_view stat_after = "cpu  0 0 0 0\ncpu1 0 0 0 0\nintr 1250 1 2\nctxt 503\nbtime 1\n";

std::string interrupts(long long timer, long long disk) {
  return "     CPU0 CPU1\n 24: 5 " + std::to_string(disk) + " PCI-MSI virtio1-req.0\nLOC: 9 " +
         std::to_string(timer) + " Local timer interrupts\nERR: 3\n";
}

std::string task_stat(int minor, int major) {
  return "77 (cyclic 0) S 1 1 1 0 -1 64 " + std::to_string(minor) + " 0 " + std::to_string(major) +
         " 0 1 1 0 0 -80 0 3 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 79 1 0 0 0";
}

std::string task_status(int voluntary, int involuntary) {
  return "Name:\tcyclic\nvoluntary_ctxt_switches:\t" + std::to_string(voluntary) +
         "\nnonvoluntary_ctxt_switches:\t" + std::to_string(involuntary) + "\n";
}

// A row: time, CPU, thread, counter, rise.
using Row = std::array<std::int64_t, 5>;

struct Machine {
  Fixture fixture;
  std::string path = std::filesystem::temp_directory_path() / "howlate-unit-counters";

  Machine() {
    std::filesystem::remove(path);
    fixture.write("/proc/stat", std::string(stat_before));
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { std::filesystem::remove(path); }

  void interrupts_are(long long timer, long long disk) const {
    fixture.write("/proc/interrupts", interrupts(timer, disk));
    fixture.write("/proc/softirqs", "  CPU0 CPU1\nTIMER: 1 " + std::to_string(timer) + "\n");
  }
  void thread_has(int minor, int major, int voluntary, int involuntary) const {
    fixture.write("/proc/self/task/77/stat", task_stat(minor, major));
    fixture.write("/proc/self/task/77/status", task_status(voluntary, involuntary));
  }

  // The table's rows as a reader sees them.
  std::vector<Row> rows(Counters& counters) const {
    {
      Sink sink = made_sink(path);
      counters.flush(sink);
    }
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> chars{std::istreambuf_iterator<char>(file), {}};
    std::vector<ColumnType> types;
    for (const ColumnSpec& column : counters_columns()) types.push_back(column.type);
    FrameReader reader(std::as_bytes(std::span(chars)));
    std::vector<Row> rows;
    for (auto frame = reader.next(); frame; frame = reader.next()) {
      if (frame->kind != FrameKind::batch) continue;
      const auto columns = read_columns(frame->payload, types);
      REQUIRE(columns.has_value());
      for (std::size_t row = 0; row < columns->front().size(); ++row) {
        Row& one = rows.emplace_back();
        for (std::size_t column = 0; column < one.size(); ++column) one[column] = (*columns)[column][row];
      }
    }
    return rows;
  }
};

CountersSpec spec_of(const Machine& machine, bool beside) {
  return {machine.fixture.root(), {1}, beside, 0, 10};
}

TEST_CASE("beside the measuring CPU each second has its interrupts, softirqs and what the thread met") {
  const Machine machine;
  machine.interrupts_are(100, 7);
  machine.thread_has(10, 0, 50, 0);
  Counters counters(spec_of(machine, true));
  counters.of_threads({77});
  counters.read_before();
  counters.begin(stat_before);
  machine.interrupts_are(350, 9);
  machine.thread_has(12, 1, 300, 4);
  counters.sample(1'000'000'000, stat_after);
  const std::string json = counters.json();
  CHECK(json.find(R"({"kind": "interrupt", "label": "24", "name": "PCI-MSI virtio1-req.0"})") !=
        std::string::npos);
  CHECK(json.find("ERR") == std::string::npos);
  CHECK(json.find(R"("each_second": ["context_switches", "interrupt", "interrupts", "involuntary_switches", )"
                  R"("major_faults", "minor_faults", "softirq", "voluntary_switches"])") !=
        std::string::npos);
  constexpr std::int64_t end = 1'000'000'000;
  CHECK(machine.rows(counters) == std::vector<Row>{{end, 1, -1, 0, 2},     // 24
                                                   {end, 1, -1, 1, 250},   // LOC
                                                   {end, 1, -1, 2, 250},   // TIMER
                                                   {end, -1, -1, 3, 250},  // all interrupts
                                                   {end, -1, -1, 4, 3},    // all switches
                                                   {end, -1, 0, 5, 2},
                                                   {end, -1, 0, 6, 1},
                                                   {end, -1, 0, 7, 250},
                                                   {end, -1, 0, 8, 4}});
}

TEST_CASE("on the measuring CPU /proc/interrupts is read around the cell and not meanwhile") {
  const Machine machine;
  machine.interrupts_are(4'294'967'290, 7);
  Counters counters(spec_of(machine, false));
  counters.read_before();
  counters.begin(stat_before);
  machine.interrupts_are(10, 9);  // it counts in 32 bits
  counters.sample(1'000'000'000, stat_after);
  counters.read_after();
  const auto rows = machine.rows(counters);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0][1] == -1);
  const std::string json = counters.json();
  CHECK(json.find(R"("each_second": ["context_switches", "interrupts"])") != std::string::npos);
  CHECK(
      json.find(R"("over_cell": [{"counter": 2, "cpu": 1, "rise": 2}, {"counter": 3, "cpu": 1, "rise": 16}, )"
                R"({"counter": 4, "cpu": 1, "rise": 16}])") != std::string::npos);
}

TEST_CASE("a thread that has ended is not said to have met nothing") {
  const Machine machine;
  machine.thread_has(10, 0, 50, 0);
  Counters counters(spec_of(machine, false));
  counters.of_threads({77});
  counters.read_before();
  counters.begin("");
  counters.sample(1, "");
  std::filesystem::remove_all(machine.fixture.root().at("/proc/self/task/77"));
  counters.sample(2, "");
  const auto rows = machine.rows(counters);
  REQUIRE(rows.size() == 4);
  for (const Row& row : rows) {
    CHECK(row[0] == 1);
    CHECK(row[4] == 0);
  }
}

TEST_CASE("a second in which a file could not be read is counted in the next") {
  const Machine machine;
  machine.interrupts_are(100, 7);
  Counters counters(spec_of(machine, true));
  counters.read_before();
  counters.begin("");
  std::filesystem::remove(machine.fixture.root().at("/proc/interrupts"));
  counters.sample(1, "");
  machine.interrupts_are(105, 7);
  counters.sample(2, "");
  const auto rows = machine.rows(counters);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0] == Row{2, 1, -1, 1, 5});
}

TEST_CASE("heat is read where the machine counts it") {
  const Machine machine;
  const std::string file = "/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count";
  machine.fixture.write(file, "3\n");
  Counters counters(spec_of(machine, false));
  counters.read_before();
  counters.begin("");
  machine.fixture.write(file, "5\n");
  counters.sample(1, "");
  CHECK(machine.rows(counters) == std::vector<Row>{{1, 1, -1, 2, 2}});
  CHECK(counters.json().find(R"({"kind": "heat", "label": "core", "name": ""})") != std::string::npos);
}

TEST_CASE("a count that wraps goes on, and one of a number that was given to another device begins anew") {
  const Machine machine;
  machine.interrupts_are(4'294'967'290, 500'000);
  Counters counters(spec_of(machine, true));
  counters.read_before();
  counters.begin("intr 10000000000\nctxt 5\n");
  machine.interrupts_are(4, 3);
  counters.sample(1, "intr 5705032714\nctxt 5\n");  // a part of the sum has wrapped
  const auto rows = machine.rows(counters);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0] == Row{1, 1, -1, 0, 3});
  CHECK(rows[1] == Row{1, 1, -1, 1, 10});
  CHECK(rows[3] == Row{1, -1, -1, 3, 10});
}

TEST_CASE("what is counted is known before anything is, for a stream without an end") {
  const Machine machine;
  machine.interrupts_are(0, 7);
  machine.fixture.write("/proc/stat", std::string(stat_before));
  Counters counters(spec_of(machine, true));
  counters.read_before();
  const std::string names = counters.names_json();
  CHECK(names.find(R"("label": "LOC")") != std::string::npos);  // though it has counted nothing
  CHECK(names.find(R"("each_second": ["context_switches", "interrupt", "interrupts", "softirq"])") !=
        std::string::npos);
  CHECK(names.find("over_cell") == std::string::npos);
}

TEST_CASE("rows beyond the room are counted as lost") {
  const Machine machine;
  CountersSpec spec = spec_of(machine, false);
  spec.seconds_max = 1;
  Counters counters(spec);
  counters.begin("intr 0\nctxt 0\n");
  for (int second = 1; second <= 20; ++second)
    counters.sample(second, "intr " + std::to_string(second) + "\nctxt " + std::to_string(second) + "\n");
  CHECK(counters.lost() + static_cast<std::int64_t>(machine.rows(counters).size()) == 40);
  CHECK(counters.lost() > 0);
}

}  // namespace
}  // namespace howlate
