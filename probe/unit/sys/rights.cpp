#include "sys/rights.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>
#include <utility>

#include "fixture.hpp"
#include "sys/sched.hpp"

namespace howlate {
namespace {

constexpr const char *all = "000001ffffffffff", *of_containers = "00000000a80425fb",
                     *none = "0000000000000000";

// A captured /proc/self; `map` as in uid_map.
struct Process {
  std::string uid = "0";
  std::string effective = all;
  std::string bounding = all;
  std::string map = "         0          0 4294967295\n";
  int seccomp = 0;
  std::string rtprio = "0";

  void write(const Fixture& fixture) const {
    fixture.write("/proc/self/status", "Uid:\t" + uid + "\t" + uid + "\t" + uid + "\t" + uid + "\nCapEff:\t" +
                                           effective + "\nCapBnd:\t" + bounding + "\nSeccomp:\t" +
                                           std::to_string(seccomp) + "\n");
    fixture.write("/proc/self/uid_map", map);
    fixture.write("/proc/self/limits",
                  "Max realtime priority     " + rtprio + "                    " + rtprio + "\n");
  }
};

// The message and the remedy of a refused policy.
std::pair<std::string, std::string> refusal(const Process& process, const char* share = nullptr) {
  const Fixture fixture;
  process.write(fixture);
  if (share != nullptr) {
    fixture.write("/proc/self/cgroup", "3:cpu:/own\n");
    fixture.write("/proc/self/mountinfo", "30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
    fixture.write("/sys/fs/cgroup/cpu/own/cpu.rt_runtime_us", share);
  }
  const Error error = policy_refused({.kind = SchedKind::fifo, .priority = 80}, EPERM, fixture.root());
  CHECK(error.code == ExitCode::not_possible);
  return {error.message, error.remedy};
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a refused policy is explained from what is there") {
  const auto [user, grant] = refusal({.uid = "1000", .effective = none});
  CHECK(user == "this user may not have fifo:80");
  CHECK(has(grant, "Measure as root;"));

  const auto [filtered, unfiltered] = refusal({.seccomp = 2});
  CHECK(has(filtered, "a seccomp filter forbids it"));
  CHECK(has(unfiltered, "RestrictRealtime=no"));

  const auto [group, share] = refusal({}, "0\n");
  CHECK(has(group, "cpu.rt_runtime_us is 0"));
  CHECK(has(share, "/sys/fs/cgroup/cpu/cgroup.procs"));

  const auto [unknown, look] = refusal({}, "950000\n");
  CHECK(has(unknown, "neither a seccomp filter nor a cgroup's share"));
  CHECK(has(look, "a security module"));
}

TEST_CASE("in a container root is not told to be root, but which options give the right") {
  for (const Process& process : {Process{.effective = of_containers, .bounding = of_containers, .seccomp = 2},
                                 Process{.uid = "1000", .effective = none, .bounding = of_containers}}) {
    const auto [message, remedy] = refusal(process);
    CHECK(has(message, "CAP_SYS_NICE is not among the capabilities of this container"));
    CHECK(has(remedy, container_options));
    CHECK(!has(remedy, "as root"));
  }
}

TEST_CASE("a capability of a user namespace is none of the machine's; a limit is") {
  const Process inside{.map = "         0       1000          1\n"};
  const auto [message, remedy] = refusal(inside);
  CHECK(has(message, "this is a user namespace"));
  CHECK(has(remedy, "rtprio"));
  Process limited = inside;
  limited.rtprio = "99";
  CHECK(has(refusal(limited).first, "though the right is there"));
  const Fixture fixture;
  inside.write(fixture);
  CHECK(!has_capability(fixture.root(), Capability::ipc_lock));
  CHECK(has(remedy_of_root(read_caller(fixture.root())), "outside of this user namespace"));
}

TEST_CASE("whoever is root is not told to be root") {
  const auto told = [](const Process& process) {
    const Fixture fixture;
    process.write(fixture);
    return remedy_of_root(read_caller(fixture.root()));
  };
  CHECK(told({.uid = "1000", .effective = none}) == "run as root");
  CHECK(has(told({.effective = of_containers, .bounding = of_containers}), "--privileged"));
  CHECK(has(told({.effective = none}), "with all capabilities"));
  CHECK(has(told({}), "the kernel lets nobody do it here"));
}

TEST_CASE("where /proc says nothing of the caller nothing is taken for granted or for hindered") {
  const Fixture fixture;
  const Caller caller = read_caller(fixture.root());
  CHECK(!caller.has(Capability::sys_nice));
  CHECK(caller.can_be_granted(Capability::sys_nice));
  CHECK(remedy_of_root(caller) == "run as root");
}

}  // namespace
}  // namespace howlate
