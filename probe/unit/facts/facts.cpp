#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/json_read.hpp"
#include "facts/base/command.hpp"
#include "facts/base/list.hpp"

namespace howlate {
namespace {

namespace fs = std::filesystem;

// A captured tree: files below a folder of its own, removed at the end.
class CapturedTree {
 public:
  CapturedTree() {
    std::string name = (fs::temp_directory_path() / "howlate-tree-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    root_ = name;
  }
  CapturedTree(const CapturedTree&) = delete;
  CapturedTree& operator=(const CapturedTree&) = delete;
  ~CapturedTree() { fs::remove_all(root_); }
  void file(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ + path).substr(0, (root_ + path).rfind('/')));
    std::ofstream(root_ + path, std::ios::binary) << text;
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

// A stat of /proc with this name, flags, priority and policy.
std::string task_stat(const std::string& name, long flags, int priority, int policy) {
  std::string out = "7 (" + name + ") S 2 0 0 0 -1 " + std::to_string(flags);
  for (int field = 10; field <= 39; ++field) out += " 0";
  return out + " " + std::to_string(priority) + " " + std::to_string(policy) + " 0 0 0\n";
}

JsonValue facts_of(const CapturedTree& tree) {
  Result<JsonValue> parsed = JsonValue::parse(facts_json(tree.root()));
  REQUIRE(parsed.ok());
  return *parsed;
}

std::string text(const JsonValue& facts, std::string_view key) {
  return std::string(facts.find("values")->find(key)->text());
}

TEST_CASE("a guest says which words its kernel did not know, and which modules' parameters it has") {
  const CapturedTree tree;
  tree.file("/proc/cmdline", "quiet premept=full bogus random.trust_cpu=off no-such.thing=1 rcu-tree.x=2\n");
  tree.file("/proc/1/cmdline", std::string("/init\0bogus\0", 12));
  tree.file("/proc/1/environ", std::string("HOME=/\0TERM=linux\0premept=full\0", 31));
  tree.file("/sys/module/rcu_tree/parameters/x", "2\n");
  tree.file("/sys/module/random/parameters/other", "1\n");
  CHECK(facts_of(tree).find("values")->find("kernel.handed_to_init") == nullptr);  // not the lab's /init
  fs::create_symlink("/init", tree.root() + "/proc/1/exe");
  const JsonValue facts = facts_of(tree);
  CHECK(text(facts, "kernel.handed_to_init") == "bogus premept=full");
  CHECK(text(facts, "kernel.parameters_of_modules") == "rcu-tree.x=2");
}

// "true", "false", or "missing: " with the reason.
std::string named(const std::string& uids, const auto& write_users) {
  const CapturedTree tree;
  tree.file("/proc/self/status", "Name:\tprobe\nUid:\t" + uids + "\nGid:\t0\t0\t0\t0\n");
  write_users(tree);
  const JsonValue facts = facts_of(tree);
  const JsonValue& known = *facts.find("values")->find("caller.named");
  if (known.kind() != JsonValue::JsonKind::null) return known.truth() ? "true" : "false";
  return "missing: " + std::string(facts.find("missing")->find("caller.named")->text());
}

TEST_CASE(
    "the caller has a name where the effective user has one, and a file that cannot be read says nothing") {
  const auto users = [](const CapturedTree& tree) {
    tree.file("/etc/passwd", "root:x:0:0::/root:/bin/sh\nlate:x:1000:1000::/home/late:/bin/sh\n");
  };
  CHECK(named("1000\t1000\t1000\t1000", users) == "true");
  CHECK(named("7\t1000\t7\t7", users) == "true");
  CHECK(named("1000\t7\t1000\t1000", users) == "false");
  CHECK(named("100\t100\t100\t100", users) == "false");
  CHECK(named("0\t0\t0\t0", [](const CapturedTree&) {}) == "false");
  const auto folder = [](const CapturedTree& tree) { fs::create_directories(tree.root() + "/etc/passwd"); };
  CHECK(named("0\t0\t0\t0", folder).starts_with("missing: /etc/passwd: "));
  CHECK(named("0", users).starts_with("missing: "));
}

TEST_CASE(
    "an empty tree has every key, each null with its reason, no knob that can be set, and nothing fails") {
  const CapturedTree tree;
  const JsonValue facts = facts_of(tree);
  const CapturedTree other;
  other.file("/proc/sys/kernel/osrelease", "6.1.0\n");
  CHECK(facts.find("values")->keys() == facts_of(other).find("values")->keys());
  for (std::size_t at = 0; at < facts.find("values")->keys().size(); ++at) {
    const std::string& key = facts.find("values")->keys()[at];
    if (key == "knobs") {  // the probe's own list, whatever the machine has
      for (const JsonValue& knob : facts.find("values")->items()[at].items())
        CHECK(!knob.find("settable")->truth());
      continue;
    }
    CHECK_MESSAGE(facts.find("values")->items()[at].kind() == JsonValue::JsonKind::null, key);
    REQUIRE_MESSAGE(facts.find("missing")->find(key) != nullptr, key);
    CHECK(!facts.find("missing")->find(key)->text().empty());
  }
}

TEST_CASE("of the command line only values that matter are kept, and nothing that is for init") {
  const CapturedTree tree;
  tree.file("/proc/cmdline",
            "root=UUID=1234-secret isolcpus=1 ip=192.0.2.7 quiet preempt=full -- --addr 192.0.2.9\n");
  CHECK(text(facts_of(tree), "kernel.cmdline") == "root=... isolcpus=1 ip=... quiet preempt=full");
}

TEST_CASE("the command line is parted as the kernel does it, so that no value leaks in pieces") {
  const auto kept = [](const std::string& line) {
    const CapturedTree tree;
    tree.file("/proc/cmdline", line + "\n");
    return text(facts_of(tree), "kernel.cmdline");
  };
  CHECK(kept(R"(quiet systemd.setenv="TOKEN=abc my secret word" isolcpus=1)") ==
        "quiet systemd.setenv=... isolcpus=1");
  CHECK(kept(R"("systemd.setenv=TOKEN=abc my secret" quiet)") == "systemd.setenv=... quiet");
  CHECK(kept(R"(a.b=x"y secret" "two words" isolcpus="1,2" nosmt)") == R"(a.b=... ... isolcpus="1,2" nosmt)");
  CHECK(kept(R"(x="-- secret" quiet)") == "x=... quiet");
  CHECK(kept(R"(quiet x="never closed secret)") == "quiet x=...");
  CHECK(kept("isolcpus=1\tquiet  nosmt") == "isolcpus=1 quiet nosmt");
}

TEST_CASE("hardware addresses in names of devices and tasks are taken out") {
  CHECK(without_addresses("enx0123456789ab-rx-0") == "enx...-rx-0");
  CHECK(without_addresses("virtio1-req.0") == "virtio1-req.0");
}

TEST_CASE("real-time tasks are found with policy, priority and CPUs; names may hold anything") {
  const CapturedTree tree;
  tree.file("/proc/7/task/7/stat", task_stat("irq/20-a (b) c", 0x00200000, 50, 1));
  tree.file("/proc/7/task/7/status", "Name:\tx\nCpus_allowed_list:\t0-3\n");
  tree.file("/proc/8/task/8/stat", task_stat("irqbalance", 0, 0, 0));
  tree.file("/proc/9/task/9/stat", task_stat("reserved", 0, 0, 6));
  const JsonValue facts = facts_of(tree);
  const JsonValue& tasks = *facts.find("values")->find("tasks.real_time");
  REQUIRE(tasks.items().size() == 2);
  CHECK(tasks.items()[0].find("name")->text() == "irq/20-a (b) c");
  CHECK(tasks.items()[0].find("cpus")->text() == "0-3");
  CHECK(tasks.items()[0].find("kernel")->truth());
  CHECK(tasks.items()[1].find("policy")->text() == "deadline");
  CHECK(facts.find("values")->find("tasks.services")->items().size() == 1);
}

TEST_CASE("the tightest quota of all cgroups on the way up counts, of both versions") {
  const CapturedTree tree;
  tree.file("/proc/self/cgroup", "2:cpu,cpuacct:/a/b\n0::/c\n");
  tree.file("/proc/self/mountinfo",
            "30 1 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
            "31 1 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  tree.file("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
  tree.file("/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
  tree.file("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n");
  tree.file("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  tree.file("/sys/fs/cgroup/unified/c/cpu.max", "200000 100000\n");
  const JsonValue facts = facts_of(tree);
  CHECK(facts.find("values")->find("cgroup.cpu_quota_us")->integer() == 50000);
  CHECK(text(facts, "cgroup.version") == "hybrid");
}

TEST_CASE("interrupts keep the CPUs that their columns name, though some are offline") {
  const CapturedTree tree;
  tree.file("/proc/interrupts",
            "           CPU0       CPU3\n 24:          1          7  IO-APIC   5-edge      eth0\nNMI:  0  2  "
            "Non-maskable\n");
  tree.file("/proc/irq/24/smp_affinity_list", "0-3\n");
  const JsonValue facts = facts_of(tree);
  const JsonValue& row = facts.find("values")->find("irq.devices")->items()[0];
  CHECK(row.find("counts")->find("3")->integer() == 7);
  CHECK(row.find("affinity")->text() == "0-3");
  CHECK(row.find("effective")->kind() == JsonValue::JsonKind::null);
  CHECK(facts.find("values")->find("irq.internal")->items()[0].find("counts")->find("3")->integer() == 2);
}

TEST_CASE("the latency request is read as the 32 bits that the device gives") {
  const CapturedTree tree;
  tree.file("/dev/cpu_dma_latency", std::string("\x00\x94\x35\x77", 4));
  CHECK(facts_of(tree).find("values")->find("cpu.dma_latency_us")->integer() == 2000000000);
}

TEST_CASE("CPUs with equal idle states share a row") {
  const CapturedTree tree;
  for (const std::string cpu : {"0", "1", "2"}) {
    const std::string state = "/sys/devices/system/cpu/cpu" + cpu + "/cpuidle/state0";
    tree.file(state + "/name", "C6\n");
    tree.file(state + "/latency", cpu == "2" ? "90\n" : "50\n");
    tree.file(state + "/disable", "0\n");
  }
  const JsonValue facts = facts_of(tree);
  const JsonValue& rows = *facts.find("values")->find("cpu.idle_states");
  REQUIRE(rows.items().size() == 2);
  CHECK(rows.items()[0].find("cpus")->text() == "0-1");
  CHECK(rows.items()[1].find("cpus")->text() == "2");
}

}  // namespace
}  // namespace howlate
