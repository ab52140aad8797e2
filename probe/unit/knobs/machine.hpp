// A machine of files, for what sets it and what undoes that.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "knobs/base/set.hpp"
#include "sys/journal.hpp"
#include "sys/root.hpp"

namespace howlate {

inline constexpr const char* runtime_file = "/proc/sys/kernel/sched_rt_runtime_us";
inline constexpr const char* migration_file = "/proc/sys/kernel/timer_migration";
inline constexpr const char* watchdog_file = "/proc/sys/kernel/nmi_watchdog";

// A machine of files, with its journals below its own /run.
class Machine {
 public:
  Machine() {
    std::string name = (std::filesystem::temp_directory_path() / "howlate-knobs-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    base_ = name;
    make_folder("/run");
    write(runtime_file, "950000\n");
    write("/proc/sys/kernel/sched_rt_period_us", "1000000\n");
    write(migration_file, "1\n");
    write(watchdog_file, "1\n");
    write("/sys/devices/system/cpu/online", "0-3\n");
    write("/proc/irq/default_smp_affinity", "f\n");
    write("/proc/irq/7/smp_affinity_list", "0-3\n");
    write("/proc/irq/8/smp_affinity_list", "0\n");
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { std::filesystem::remove_all(base_); }
  [[nodiscard]] KnobContext context() const { return {base_ + "/root", {2}}; }
  [[nodiscard]] Root root() const { return Root(context().root); }
  [[nodiscard]] std::string state() const { return base_ + "/root/run/howlate"; }
  [[nodiscard]] std::size_t journals() const { return read_journals(state()).size(); }
  void make_folder(const std::string& path) const {
    std::filesystem::create_directories(base_ + "/root" + path);
  }
  void write(const std::string& path, const std::string& text) const {
    const std::string whole = base_ + "/root" + path;
    std::filesystem::create_directories(whole.substr(0, whole.rfind('/')));
    std::ofstream(whole) << text;
  }
  [[nodiscard]] std::string read(const std::string& path) const {
    return *Root(base_ + "/root").read_text(path);
  }

 private:
  std::string base_;
};

// Runs `body` in a child that is then killed, as a probe may be.
template <class Body>
void in_a_killed_process(const Body& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    body();
    ::raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

}  // namespace howlate
