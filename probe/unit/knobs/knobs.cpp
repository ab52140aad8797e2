#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "facts/base/command.hpp"
#include "knobs/base/command.hpp"
#include "knobs/base/set.hpp"
#include "knobs/machine.hpp"
#include "sys/journal.hpp"
#include "sys/setting.hpp"
#include "sys/tracer.hpp"

namespace howlate {
namespace {

namespace fs = std::filesystem;

constexpr uid_t nobody = 65534;

TEST_CASE("every knob has a file of its own or says what it needs, and none is available without it") {
  const Machine machine;
  const KnobContext nothing{machine.state() + "/nowhere", {2}};
  for (const Knob* knob : knobs()) {
    CAPTURE(std::string(knob->name));
    CHECK(*find_knob(knob->name) == knob);
    CHECK(knob->file.empty() == (knob->availability != nullptr));
    const Status there = knob->available(nothing);
    REQUIRE(!there.ok());
    CHECK(there.error().code == ExitCode::not_possible);
  }
}

TEST_CASE("a knob with a file of its own writes it, puts it back, and reads it as a fact") {
  for (const Knob* knob : knobs()) {
    if (knob->fact.empty()) continue;
    CAPTURE(std::string(knob->name));
    const Machine machine;
    const std::string path(knob->file);
    machine.write("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n");
    machine.write(path, "1\n");
    bool taken = false;
    for (const std::string value : {"off", "away", "0", "120", "never", "tsc"}) {
      const auto set = KnobSet::apply({std::string(knob->name) + "=" + value}, machine.context());
      if (!set.ok()) continue;
      taken = true;
      CHECK(machine.read(path) != "1");
      CHECK(set->to_json().find("\"" + path + "\"") != std::string::npos);
      break;
    }
    CHECK(taken);
    CHECK(machine.read(path) == "1");
    const std::string value = knob->fact_kind == FactKind::integer ? "1" : "\"1\"";
    CHECK(facts_json(machine.context().root).find("\"" + std::string(knob->fact) + "\": " + value) !=
          std::string::npos);
  }
}

TEST_CASE("knobs are applied in order, told, and restored when the set goes") {
  const Machine machine;
  {
    const auto set = KnobSet::apply({"rt_throttling=off", "timer_migration=off"}, machine.context());
    REQUIRE(set.ok());
    CHECK(machine.read(runtime_file) == "-1");
    CHECK(machine.read(migration_file) == "0");
    CHECK(machine.journals() == 1);
    CHECK(set->to_json().find(R"("before": "950000", "wanted": "-1", "read_back": "-1")") !=
          std::string::npos);
  }
  CHECK(machine.read(runtime_file) == "950000");
  CHECK(machine.read(migration_file) == "1");
  CHECK(machine.journals() == 0);
}

TEST_CASE("at the first knob that fails, those before it are undone") {
  const Machine machine;
  const auto set = KnobSet::apply({"rt_throttling=off", "thp=never"}, machine.context());
  REQUIRE_FALSE(set.ok());
  CHECK(set.error().code == ExitCode::not_possible);
  CHECK(machine.read(runtime_file) == "950000");
  CHECK(machine.journals() == 0);
}

TEST_CASE("a value that does not read back as wanted is an error, and the others are undone") {
  const Machine machine;
  const std::string path = machine.context().root + migration_file;
  fs::remove(path);
  fs::create_symlink("/dev/null", path);  // takes every write and reads as nothing
  const auto set = KnobSet::apply({"rt_throttling=off", "timer_migration=off"}, machine.context());
  REQUIRE_FALSE(set.ok());
  CHECK(set.error().message.find("after 0 was written") != std::string::npos);
  CHECK(machine.read(runtime_file) == "950000");
}

TEST_CASE("a value that the kernel refuses to take is not possible here, and nothing broke") {
  const Machine machine;
  const std::string path = machine.context().root + runtime_file;
  fs::remove(path);
  fs::create_symlink("/proc/self/oom_score_adj", path);  // EINVAL for more than 1000
  const auto set = KnobSet::apply({"timer_migration=off", "rt_throttling=900000"}, machine.context());
  REQUIRE_FALSE(set.ok());
  CHECK(set.error().code == ExitCode::not_possible);
  CHECK_FALSE(set.error().remedy.empty());
  CHECK(machine.read(migration_file) == "1");
  CHECK(machine.journals() == 0);
}

TEST_CASE("bad names and values are usage errors and change nothing") {
  const Machine machine;
  for (const std::string spec : {"rt_throttling", "nonsense=1", "rt_throttling=soon", "rt_throttling=2000000",
                                 "timer_migration=2", "irq_affinity=9", "irq_affinity="}) {
    const auto set = KnobSet::apply({spec}, machine.context());
    REQUIRE_FALSE(set.ok());
    CHECK_MESSAGE(set.error().code == ExitCode::usage, spec);
  }
  CHECK_FALSE(KnobSet::apply({"rt_throttling=off", "rt_throttling=1000"}, machine.context()).ok());
  CHECK(machine.read(runtime_file) == "950000");
}

TEST_CASE("a knob of numbers keeps to its limits") {
  const Machine machine;
  machine.write("/proc/sys/vm/stat_interval", "1\n");
  for (const std::string spec :
       {"stat_interval=0", "stat_interval=-1", "stat_interval=86401", "stat_interval=soon"})
    CHECK_MESSAGE(KnobSet::apply({spec}, machine.context()).error().code == ExitCode::usage, spec);
  const auto set = KnobSet::apply({"stat_interval=120"}, machine.context());
  REQUIRE(set.ok());
  CHECK(machine.read("/proc/sys/vm/stat_interval") == "120");
}

TEST_CASE("the clock source and the model of preemption are among those that the kernel names") {
  const Machine machine;
  const std::string clocks = "/sys/devices/system/clocksource/clocksource0/";
  machine.write(clocks + "available_clocksource", "tsc hpet acpi_pm \n");
  machine.write(clocks + "current_clocksource", "hpet\n");
  machine.write("/sys/kernel/debug/sched/preempt", "none voluntary (full)\n");
  for (const std::string spec : {"clock_source=tcs", "preemption=lazy", "preemption=(full)"})
    CHECK_MESSAGE(KnobSet::apply({spec}, machine.context()).error().code == ExitCode::usage, spec);
  CHECK(normalised(Form::bracketed, "none voluntary (full)") == "full");
  {
    const auto set = KnobSet::apply({"clock_source=tsc", "preemption=none"}, machine.context());
    REQUIRE(set.ok());
    CHECK(machine.read(clocks + "current_clocksource") == "tsc");
    CHECK(machine.read("/sys/kernel/debug/sched/preempt") == "none");
  }
  CHECK(machine.read(clocks + "current_clocksource") == "hpet");
  CHECK(machine.read("/sys/kernel/debug/sched/preempt") == "full");
}

TEST_CASE("the fair server's runtime is set on every CPU, up to its period, and debugfs has to be mounted") {
  const Machine machine;
  const std::string folder = "/sys/kernel/debug/sched/fair_server";
  const auto away = KnobSet::apply({"fair_server=off"}, machine.context());
  REQUIRE_FALSE(away.ok());
  CHECK(away.error().code == ExitCode::not_possible);
  CHECK(away.error().remedy.find("mount -t debugfs") != std::string::npos);
  for (const char* cpu : {"/cpu0", "/cpu1"}) {
    machine.write(folder + cpu + "/runtime", "50000000\n");
    machine.write(folder + cpu + "/period", "1000000000\n");
  }
  CHECK(KnobSet::apply({"fair_server=1000001"}, machine.context()).error().code == ExitCode::usage);
  {
    const auto set = KnobSet::apply({"fair_server=20000"}, machine.context());
    REQUIRE(set.ok());
    CHECK(machine.read(folder + "/cpu0/runtime") == "20000000");
    CHECK(machine.read(folder + "/cpu1/runtime") == "20000000");
  }
  CHECK(machine.read(folder + "/cpu1/runtime") == "50000000");
}

TEST_CASE("debugfs that is not mounted is told from one without the file, and from one for root alone") {
  const Machine machine;
  const Knob* const preemption = *find_knob("preemption");
  machine.make_folder("/sys/kernel/debug");
  const Status empty = preemption->available(machine.context());
  REQUIRE_FALSE(empty.ok());
  CHECK(empty.error().message == "debugfs is not mounted");
  CHECK(empty.error().remedy.find("mount -t debugfs") != std::string::npos);
  machine.write("/sys/kernel/debug/sched_features", "START_DEBIT\n");  // as before Linux 5.13
  const Status old = preemption->available(machine.context());
  REQUIRE_FALSE(old.ok());
  CHECK(old.error().message.find("fixed when it was built") != std::string::npos);
  CHECK(old.error().remedy.empty());
  const fs::path root = machine.context().root;
  fs::permissions(root.parent_path(), fs::perms{0755});
  fs::permissions(root / "sys/kernel/debug", fs::perms{0});
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {  // access(2) asks for the real user
    if (::geteuid() == 0 && ::setresuid(nobody, nobody, nobody) != 0) ::_exit(1);
    const Status shut = preemption->available(machine.context());
    ::_exit(!shut && shut.error().message == "debugfs may not be read" && shut.error().remedy == "run as root"
                ? 0
                : 2);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  fs::permissions(root / "sys/kernel/debug", fs::perms{0700});
}

TEST_CASE("interrupts are moved away from the measuring CPUs, and those elsewhere are left") {
  const Machine machine;
  auto set = KnobSet::apply({"irq_affinity=away"}, machine.context());
  REQUIRE(set.ok());
  CHECK(machine.read("/proc/irq/7/smp_affinity_list") == "0-1,3");
  CHECK(machine.read("/proc/irq/8/smp_affinity_list") == "0");
  CHECK(machine.read("/proc/irq/default_smp_affinity") == "b");
  CHECK(set->restore().ok());
  CHECK(machine.read("/proc/irq/7/smp_affinity_list") == "0-3");
  CHECK(machine.read("/proc/irq/default_smp_affinity") == "f");
}

TEST_CASE("what a killed process left is refused to others, and restored by a later one") {
  const Machine machine;
  in_a_killed_process([&] {
    const auto set = KnobSet::apply({"rt_throttling=off"}, machine.context());
    if (!set) ::_exit(1);
    ::raise(SIGKILL);
  });
  CHECK(machine.read(runtime_file) == "-1");
  REQUIRE(machine.journals() == 1);
  const auto refused = KnobSet::apply({"rt_throttling=900000"}, machine.context());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().remedy.find("restore") != std::string::npos);
  CHECK(KnobSet::apply({"timer_migration=off"}, machine.context()).ok());
  CHECK(restore_command(machine.root()) == ExitCode::done);
  CHECK(machine.read(runtime_file) == "950000");
  CHECK(machine.journals() == 0);
}

TEST_CASE("a tracer's settings are restored by it, and after it was killed by a later one") {
  const Machine machine;
  const std::string tracing = "/sys/kernel/tracing";
  const std::string period = tracing + "/osnoise/timerlat_period_us", mode = tracing + "/osnoise/mode";
  machine.write(tracing + "/available_tracers", "timerlat nop\n");
  machine.write(period, "1000\n");
  machine.write(mode, "none [round-robin] per-cpu\n");
  machine.write(tracing + "/instances/other", "");
  const Root root(machine.context().root);
  const auto change = [&](Tracer& tracer) { return tracer.set("osnoise/timerlat_period_us", "250").ok(); };
  {
    auto tracer = Tracer::make("timerlat", root);
    REQUIRE(tracer.ok());
    CHECK(change(*tracer));
    CHECK(tracer->set("osnoise/mode", "round-robin").ok());  // as it is: nothing to restore
    CHECK(machine.read(period) == "250");
    CHECK(machine.journals() == 1);
  }
  CHECK(machine.read(period) == "1000");
  CHECK(machine.journals() == 0);
  in_a_killed_process([&] {
    auto tracer = Tracer::make("timerlat", root);
    if (!tracer || !change(*tracer)) ::_exit(1);
    ::raise(SIGKILL);
  });
  CHECK(machine.read(period) == "250");
  {
    auto next = Tracer::make("timerlat", root);
    REQUIRE(next.ok());
    const Status refused = next->set("osnoise/timerlat_period_us", "500");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().remedy.find("restore") != std::string::npos);
  }
  CHECK(machine.read(period) == "250");
  CHECK(restore_command(machine.root()) == ExitCode::done);
  CHECK(machine.read(period) == "1000");
  CHECK_FALSE(fs::exists(root.at(tracing + "/instances/howlate")));
  CHECK(machine.journals() == 0);
}

TEST_CASE("the journal is on disk before the change: killed between the two, nothing is to restore") {
  const Machine machine;
  in_a_killed_process([&] {
    auto journal = Journal::create(*state_folder(machine.root()), machine.context().root);
    Setting setting;
    setting.path = runtime_file;
    setting.before = "950000";
    setting.wanted = "-1";
    if (!journal || !journal->append(setting)) ::_exit(1);
    ::raise(SIGKILL);
  });
  REQUIRE(machine.journals() == 1);
  CHECK(restore_command(machine.root()) == ExitCode::done);
  CHECK(machine.read(runtime_file) == "950000");
  CHECK(machine.journals() == 0);
}

TEST_CASE("nothing is restored into another boot") {
  const Machine machine;
  in_a_killed_process([&] {
    const auto set = KnobSet::apply({"rt_throttling=off"}, machine.context());
    ::raise(SIGKILL);
  });
  const std::string path = read_journals(machine.state()).at(0).path;
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::string whole = text.str();
  whole.replace(whole.find(this_boot()), this_boot().size(), "00000000-0000-4000-8000-000000000000");
  std::ofstream(path) << whole;
  CHECK(restore_command(machine.root()) == ExitCode::done);
  CHECK(machine.read(runtime_file) == "-1");
  CHECK(machine.journals() == 0);
}

TEST_CASE("what another probe holds is refused, and a living process is not restored") {
  const Machine machine;
  const auto set = KnobSet::apply({"rt_throttling=off"}, machine.context());
  REQUIRE(set.ok());
  const auto other = KnobSet::apply({"rt_throttling=900000"}, machine.context());
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find("is held by another probe") != std::string::npos);
  CHECK(restore_command(machine.root()) == ExitCode::done);
  CHECK(machine.read(runtime_file) == "-1");
  CHECK(machine.journals() == 1);
}

TEST_CASE("the owner is whoever holds the lock, whatever number it has here") {
  const Machine machine;
  const auto set = KnobSet::apply({"rt_throttling=off"}, machine.context());
  REQUIRE(set.ok());
  const JournalFile journal = read_journals(machine.state()).at(0);
  std::stringstream text;
  text << std::ifstream(journal.path).rdbuf();
  std::string whole = text.str();
  const std::string pid = "\t" + std::to_string(journal.owner.pid) + "\t";
  whole.replace(whole.find(pid), pid.size(), "\t2147483647\t");  // nobody's
  whole.replace(whole.find("pid:["), 5, "pid:[9");
  std::ofstream(journal.path) << whole;
  CHECK(restore_command(machine.root()) == ExitCode::done);
  CHECK(machine.read(runtime_file) == "-1");
  const auto other = KnobSet::apply({"rt_throttling=900000"}, machine.context());
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().message.find("held by another probe, process 2147483647 of another PID namespace") !=
        std::string::npos);
}

TEST_CASE("two probes with state folders of their own know of each other's knobs") {
  const Machine machine;
  const std::string folder = machine.context().root + "/state";
  ::setenv("HOWLATE_STATE_DIR", (folder + "1").c_str(), 1);
  const auto set = KnobSet::apply({"rt_throttling=off"}, machine.context());
  ::setenv("HOWLATE_STATE_DIR", (folder + "2").c_str(), 1);
  CHECK_FALSE(KnobSet::apply({"rt_throttling=900000"}, machine.context()).ok());
  in_a_killed_process([&] {
    const auto killed = KnobSet::apply({"timer_migration=off"}, machine.context());
    ::raise(SIGKILL);
  });
  ::unsetenv("HOWLATE_STATE_DIR");
  CHECK(machine.read(migration_file) == "0");
  CHECK(restore_command(machine.root()) == ExitCode::done);
  CHECK(machine.read(migration_file) == "1");
  CHECK(machine.read(runtime_file) == "-1");
}

TEST_CASE("a value that somebody put back meanwhile was not held to the end") {
  const Machine machine;
  machine.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  for (const std::string spec : {"rt_throttling=off", "timer_migration=on", "thp=never"}) {
    auto set = KnobSet::apply({spec}, machine.context());
    REQUIRE(set.ok());
    machine.write(runtime_file, "950000\n");                                                   // as before
    machine.write("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");  // as before
    machine.write(migration_file, "0\n");  // which was as wanted, and nothing was written
    const Status restored = set->restore();
    REQUIRE_FALSE(restored.ok());
    CHECK(restored.error().code == ExitCode::broken);
    CHECK(restored.error().message.find("no longer") != std::string::npos);
    const char* const found = spec.starts_with("rt") ? "950000" : spec.starts_with("thp") ? "madvise" : "0";
    CHECK(set->to_json().find("\"found\": \"" + std::string(found) + '"') != std::string::npos);
    CHECK(machine.journals() == 0);
    machine.write(migration_file, "1\n");
  }
}

TEST_CASE("a value that was held to the end is found there") {
  const Machine machine;
  auto set = KnobSet::apply({"rt_throttling=off", "timer_migration=on"}, machine.context());
  REQUIRE(set.ok());
  CHECK(set->restore().ok());
  CHECK(set->to_json().find(R"("found": "-1")") != std::string::npos);
  CHECK(set->to_json().find(R"("found": "1")") != std::string::npos);
}

TEST_CASE("a value that somebody else changed meanwhile is left to them") {
  const Machine machine;
  auto set = KnobSet::apply({"rt_throttling=off"}, machine.context());
  REQUIRE(set.ok());
  machine.write(runtime_file, "123456\n");
  CHECK_FALSE(set->restore().ok());
  CHECK(machine.read(runtime_file) == "123456");
  CHECK(machine.journals() == 0);
}

TEST_CASE("a fork of the probe restores nothing when it ends") {
  const Machine machine;
  auto set = KnobSet::apply({"rt_throttling=off"}, machine.context());
  REQUIRE(set.ok());
  const pid_t child = ::fork();
  if (child == 0) {
    const bool quiet = set->restore().ok();
    ::_exit(quiet ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(machine.read(runtime_file) == "-1");
}

TEST_CASE("a setting that cannot be read at the end is not restored, and its journal is kept") {
  const Machine machine;
  auto set = KnobSet::apply({"rt_throttling=off"}, machine.context());
  REQUIRE(set.ok());
  const std::string path = machine.context().root + runtime_file;
  fs::remove(path);
  fs::create_directory(path);  // is there and cannot be read
  const Status restored = set->restore();
  REQUIRE_FALSE(restored.ok());
  CHECK(restored.error().code == ExitCode::broken);
  CHECK(machine.journals() == 1);
}

TEST_CASE("equal values compare equal however the kernel spells them") {
  CHECK(same_value(Form::bracketed, "always [madvise] never", "madvise"));
  CHECK_FALSE(same_value(Form::bracketed, "[always] madvise never", "madvise"));
  CHECK(same_value(Form::cpus, "0,1,3", "0-1,3"));
  CHECK(same_value(Form::mask, "00000000,0000000f", "f"));
  CHECK_FALSE(same_value(Form::mask, "1,00000000", "1"));
  CHECK(same_value(Form::controller, "cpuset cpu io", "+cpuset"));
  CHECK(same_value(Form::controller, "cpu io", "-cpuset"));
  CHECK_FALSE(same_value(Form::exact, "1", "0"));
}

TEST_CASE("masks are spelt as the kernel spells them") {
  CHECK(cpu_mask({0, 1}) == "3");
  CHECK(cpu_mask({}) == "0");
  CHECK(cpu_mask({32}) == "1,00000000");
  CHECK(cpu_mask({0, 35}) == "8,00000001");
}

TEST_CASE("the table of knobs is sorted, and a name nearly right is named") {
  for (std::size_t at = 1; at < knobs().size(); ++at) CHECK(knobs()[at - 1]->name < knobs()[at]->name);
  const auto found = find_knob("rt_throtling");
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().remedy.find("rt_throttling") != std::string::npos);
}

}  // namespace
}  // namespace howlate
