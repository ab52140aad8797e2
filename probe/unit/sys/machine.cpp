// Clock source, CPUs, memory, trace: read below a fixture's root.
#include <doctest/doctest.h>

#include "fixture.hpp"
#include "sys/clock.hpp"
#include "sys/cpus.hpp"
#include "sys/file.hpp"
#include "sys/memory.hpp"
#include "sys/trace.hpp"

namespace howlate {
namespace {

TEST_CASE("the clock source is what the kernel names, else unknown") {
  const Fixture fixture;
  CHECK(clock_source(fixture.root()) == "unknown");
  fixture.write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  CHECK(clock_source(fixture.root()) == "hpet");
}

TEST_CASE("a CPU's times are told apart: busy, steal, idle") {
  const auto times = parse_cpu_times(
      "cpu  9 9 9 9 9 9 9 9 9 9\n"
      "cpu0 10 2 3 100 20 1 4 7 50 60\n"
      "cpu12 1 0 0 5\n"
      "intr 12345 1 2 3\nctxt 99\n");
  REQUIRE(times.size() == 2);
  CHECK(times[0].cpu == 0);
  CHECK(times[0].busy == 10 + 2 + 3 + 1 + 4);
  CHECK(times[0].idle == 120);
  CHECK(times[0].steal == 7);
  CHECK(times[1].cpu == 12);
  CHECK(times[1].busy == 1);
  CHECK(times[1].steal == 0);
  CHECK(parse_cpu_times("").empty());
  CHECK(parse_cpu_times("cpu").empty());
}

TEST_CASE("what cannot be known about a CPU is said so") {
  const Fixture fixture;
  CHECK(online_cpus(fixture.root()).empty());
  CHECK(cpu_frequency_khz(fixture.root(), 0) == 0);
  CHECK(SmiCounter(fixture.root()).read(0) == -1);
  CHECK(memory_available(fixture.root()) == 0);
}

TEST_CASE("CPUs, frequency and memory come from the kernel's files") {
  const Fixture fixture;
  fixture.write("/sys/devices/system/cpu/online", "0-2,5\n");
  fixture.write("/sys/devices/system/cpu/cpu5/cpufreq/scaling_cur_freq", "2400000\n");
  fixture.write("/proc/meminfo", "MemTotal:  8 kB\nMemAvailable:     2048 kB\n");
  CHECK(online_cpus(fixture.root()) == std::vector<int>{0, 1, 2, 5});
  CHECK(cpu_frequency_khz(fixture.root(), 5) == 2'400'000);
  CHECK(memory_available(fixture.root()) == 2048 * 1024);
}

TEST_CASE("a CPU that is there and offline can be brought online") {
  const Fixture fixture;
  fixture.write("/sys/devices/system/cpu/present", "0-1\n");
  fixture.write("/sys/devices/system/cpu/online", "0\n");
  fixture.write("/sys/devices/system/cpu/cpu1/online", "0\n");
  CHECK(present_cpus(fixture.root()) == std::vector<int>{0, 1});
  CHECK(online_cpus(fixture.root()) == std::vector<int>{0});
  CHECK(set_online(fixture.root(), 1));
  CHECK(fixture.root().read_text("/sys/devices/system/cpu/cpu1/online").value() == "1");
  CHECK_FALSE(set_online(fixture.root(), 2));
}

TEST_CASE("memory that a control group's limit withholds is not available") {
  constexpr std::int64_t mib = 1 << 20;
  const std::string mounts =
      "30 20 0:26 / /cg rw - cgroup2 none rw\n31 20 0:27 / /cg1 rw - cgroup none rw,memory\n";
  struct Files {
    const char *group, *limit, *used, *stat, *cache;
  };
  for (const Files& files :
       {Files{"0::/a/b\n", "/cg/a/memory.max", "/cg/a/memory.current", "/cg/a/memory.stat", "inactive_file"},
        Files{"7:memory:/a/b\n", "/cg1/a/memory.limit_in_bytes", "/cg1/a/memory.usage_in_bytes",
              "/cg1/a/memory.stat", "total_inactive_file"}}) {
    const Fixture fixture;
    fixture.write("/proc/meminfo", "MemTotal:  9999999 kB\nMemAvailable:     1048576 kB\n");
    fixture.write("/proc/self/mountinfo", mounts);
    fixture.write("/proc/self/cgroup", files.group);
    fixture.write(files.limit, "max\n");
    fixture.write(files.used, std::to_string(30 * mib) + "\n");
    CHECK(memory_available(fixture.root()) == 1024 * mib);
    fixture.write(files.limit, "9223372036854771712\n");
    CHECK(memory_available(fixture.root()) == 1024 * mib);
    fixture.write(files.limit, std::to_string(48 * mib) + "\n");
    CHECK(memory_available(fixture.root()) == 18 * mib);
    fixture.write(files.stat, std::string("anon 5\n") + files.cache + " " + std::to_string(10 * mib) + "\n");
    CHECK(memory_available(fixture.root()) == 28 * mib);
    fixture.write(files.limit, "4096\n");
    CHECK(memory_available(fixture.root()) == 0);
  }
}

TEST_CASE("what the out-of-memory killer ended is counted where the kernel counts it") {
  const Fixture fixture;
  CHECK_FALSE(out_of_memory_kills(fixture.root()).has_value());
  fixture.write("/proc/vmstat", "nr_free_pages 5\nxoom_kill 3\noom_kill 12\nnext 1\n");
  CHECK(out_of_memory_kills(fixture.root()) == 12);
}

TEST_CASE("system management interrupts are counted on Intel alone, from register 0x34") {
  const Fixture fixture;
  std::string registers(0x34 + 8, '\0');
  registers[0x34] = 5;
  registers[0x35] = 1;
  fixture.write("/dev/cpu/1/msr", registers);
  fixture.write("/proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  CHECK(SmiCounter(fixture.root()).read(1) == -1);
  fixture.write("/proc/cpuinfo", "vendor_id\t: GenuineIntel\n");
  CHECK(SmiCounter(fixture.root()).read(1) == 261);
  CHECK(SmiCounter(fixture.root()).read(0) == -1);
}

TEST_CASE("of several CPUs the one that counted most SMIs counts, and none where one is unknown") {
  const Fixture fixture;
  const auto count = [&](int cpu, char smis) {
    std::string registers(0x34 + 8, '\0');
    registers[0x34] = smis;
    fixture.write("/dev/cpu/" + std::to_string(cpu) + "/msr", registers);
  };
  fixture.write("/proc/cpuinfo", "vendor_id\t: GenuineIntel\n");
  count(0, 40);
  count(3, 7);
  auto readings = read_smis_before(fixture.root(), {0, 3});
  REQUIRE(readings.size() == 2);
  CHECK(readings[1].before == 7);
  CHECK_FALSE(most_smis(readings).has_value());
  read_smis_after(fixture.root(), readings);
  CHECK(most_smis(readings) == 0);
  count(3, 9);
  read_smis_after(fixture.root(), readings);
  CHECK(most_smis(readings) == 2);
  readings.push_back({5, std::nullopt, std::nullopt});
  CHECK_FALSE(most_smis(readings).has_value());
  CHECK_FALSE(most_smis({}).has_value());
}

TEST_CASE("the trace is marked and then stopped") {
  const Fixture fixture;
  const auto none = Trace::open(fixture.root());
  REQUIRE(!none.ok());
  CHECK(none.error().code == ExitCode::not_possible);
  fixture.write("/sys/kernel/debug/tracing/trace_marker", "");
  fixture.write("/sys/kernel/debug/tracing/tracing_on", "1");
  const auto trace = Trace::open(fixture.root());
  REQUIRE(trace.ok());
  CHECK(trace->was_on());
  trace->mark_and_stop("late");
  CHECK(fixture.read("/sys/kernel/debug/tracing/trace_marker") == "late");
  CHECK(fixture.read("/sys/kernel/debug/tracing/tracing_on") == "0");
}

TEST_CASE("a file that is appended to keeps whole appends, in pieces of any size") {
  const Fixture fixture;
  for (const std::size_t piece : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
    const std::string name = "/stream" + std::to_string(piece);
    auto file = AppendFile::create(fixture.path() + name);
    REQUIRE(file.ok());
    const std::string text = "a stream of some bytes";
    CHECK(file->append(std::as_bytes(std::span(text)), piece) == 0);
    CHECK(file->append(std::as_bytes(std::span(text)), piece) == 0);
    CHECK(fixture.read(name) == text + text);
    CHECK(!AppendFile::create(fixture.path() + name).ok());  // what is there is not written over
  }
  CHECK(!AppendFile::create(fixture.path() + "/no/such/folder").ok());
}

TEST_CASE("an append that fails says why") {
  auto full = AppendFile::create("/dev/full");
  REQUIRE(full.ok());
  const std::string text = "x";
  CHECK(full->append(std::as_bytes(std::span(text)), 0) == ENOSPC);
}

TEST_CASE("pages come touched and as zeros") {
  const auto pages = TouchedPages::make(100'000);
  REQUIRE(pages.ok());
  const auto numbers = pages->as<std::int64_t>();
  CHECK(numbers.size() == 12'500);
  for (const std::int64_t number : numbers) REQUIRE(number == 0);
}

}  // namespace

TEST_CASE("what needs more than four fifths of the available memory is refused, unless that is unknown") {
  constexpr double mib = 1 << 20;
  constexpr std::int64_t available = 100 << 20;
  CHECK(check_available("rows need", 80 * mib, available, "Ask for fewer").ok());
  CHECK(check_available("rows need", 1e15, 0, "Ask for fewer").ok());
  const auto refused = check_available("rows need", 81 * mib, available, "Ask for fewer");
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == ExitCode::not_possible);
  CHECK(refused.error().message == "rows need 81 MiB, and 100 MiB are available");
  CHECK(refused.error().remedy == "Ask for fewer");
}

}  // namespace howlate
