// The interface of a load. ONE FILE in this folder = ONE LOAD.
//
// A file `loads/memory-alloc.cpp` defines `extern const Load load_memory_alloc;`; the build lists the folder
// and generates the table. A load runs in processes of its own (`howlate-probe load NAME ...`), executed
// anew; a test's `--load` starts exactly that command. What loads have in common - the supervisor, its
// workers, the controller - is in `loads/base/`.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"
#include "core/params.hpp"
#include "core/result.hpp"
#include "sys/need.hpp"

namespace howlate {

// What a load reports of itself about once a second, as running totals since it was ready. Fixed-size records
// through a pipe, so that a test can read them without parsing. The first one says that the load is ready.
struct LoadReport {
  std::int64_t time_ns;  // CLOCK_MONOTONIC
  std::int64_t cpu_ns;   // CPU time of all its processes, children that ended included
  std::int64_t units;  // work done, in the load's own unit (Load::unit): pages, bytes, messages, packets ...
  std::int64_t restarts;  // rounds begun (hackbench runs), 0 where it has none
  std::int64_t actions;   // LoadAction: as counted by the load, else the same as `units`
};

// What a load does to the machine again and again. A cell that has no room for a few of these is hardly under the load.
struct LoadAction {
  std::string_view name;    // "fsyncs", "cycles", "messages"
  std::int64_t wanted = 0;  // so many at least in a cell, or the plan says that the cell is too short
  // How long one takes, roughly; where the target is a rate, only of a target in `alone`, and with the default of `units`. 0 where
  // nothing tells.
  std::int64_t length_ns = 0;
  std::string_view units =
      {};  // where the target is a rate: the option that holds the units of one; "" for one unit
  bool sleeping = false;  // it is a turn of work and sleep: at a target of 100 % there is none
  bool counted = false;   // WorkerSlot::actions counts them; else the units stand for them
};

// How many worker processes the supervisor starts.
enum class Spread {
  none,     // nothing runs
  one,      // one, free to run on all the CPUs given
  per_cpu,  // one a CPU given, pinned to it
};

// The state that a worker shares with its supervisor. It lies in shared memory, so that nothing is lost when the worker
// is killed, which is how every worker ends.
struct alignas(64) WorkerSlot {
  enum State : int { starting, ready, failed };
  static constexpr std::size_t figure_count = 640;
  static constexpr std::size_t children_max = 100'000;

  std::atomic<std::int64_t> units{0};
  std::atomic<std::int64_t> restarts{0};
  std::atomic<std::int64_t> actions{0};  // where LoadAction::counted
  std::atomic<pid_t> pid{0};             // of the worker
  // Of a worker with children of its own (base/family.hpp adds them up): those that live, in a place for
  // `children_max` with 0 for an empty one, and the CPU time of those that it has waited for.
  std::atomic<pid_t>* children = nullptr;
  std::atomic<std::uint32_t> children_count{0};  // places used
  std::atomic<std::int64_t> ended_cpu_ns{0};
  std::atomic<int> state{starting};
  int code = 0;  // with `failed`: the exit code, the sentence, the remedy
  std::array<char, 512> message{};
  std::array<char, 256> remedy{};
  std::array<char, 512> warning{};  // written before `ready`
  std::array<std::atomic<std::int64_t>, figure_count>
      figures{};  // the load's own; their meaning is its file's

  void add_units(std::int64_t many) {
    units.store(units.load(std::memory_order_relaxed) + many, std::memory_order_relaxed);
  }
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// The arguments of a worker.
struct Worker {
  const Params& params;   // "target", the load's own and the common ones
  std::vector<int> cpus;  // the CPUs given, or with Spread::per_cpu the one that is its own
  WorkerSlot& slot;
  int ready_fd = -1;  // wakes the supervisor

  void say_ready() const;
  void warn(std::string_view text) const;  // a sentence; before say_ready()
};

// How long the rounds of a load took, and how many it made in all: not each is kept.
struct LoadRounds {
  std::int64_t made = 0;
  std::vector<std::int64_t> kept_ns;
};

struct Load {
  std::string_view name;     // "memory-alloc"
  std::string_view summary;  // one line
  std::string_view unit;     // of LoadReport::units: "pages", "B", "packets", "iterations"
  ParamSpec target;  // the word after the colon of NAME:TARGET, named "target": percent, rate, count or text
  std::span<const ParamSpec> params;  // its own options beside the common ones (cpus, policy, nice)

  bool held = false;  // the target is a share of the CPUs given, in per cent
  // What it must achieve to count as there (base/goal.hpp): its share of the CPUs where it is held, else units a second. The
  // targets in `alone` (words joined by "|", "*" for every target) ask for as much as the machine gives: they are held
  // against the same load at the same target with nothing measured beside it.
  std::string_view alone = {};
  // It runs alone for so long at least: where its bursts are so long that a quarter of a second sees a part of one.
  std::int64_t alone_ns = 0;
  LoadAction action = {};
  Spread spread = Spread::one;
  // The bytes of memory that it takes at most, with so many workers; INT64_MAX for what is beyond 64 bits. Null
  // where it is little. A test adds up what all its loads take.
  std::int64_t (*memory)(const Params& params, std::size_t workers) = nullptr;
  // Before any worker is started: may it be done here, with these parameters? Null where nothing can be
  // wrong.
  Status (*check)(const Params& params, std::size_t workers) = nullptr;
  // In a worker: sets up, says that it is ready, works until it is killed. Returns only with what went wrong.
  Status (*work)(Worker& worker) = nullptr;
  // The members of the load's own results, from what its (one) worker left. Null where it has none.
  void (*results)(const WorkerSlot& slot, JsonWriter& json) = nullptr;
  // The rounds that it made, from the same; of a load that works in rounds.
  LoadRounds (*rounds)(const WorkerSlot& slot) = nullptr;
  std::string_view example =
      {};  // a whole command that ends its --help; made from the target's default if empty
  std::span<const Need> modules = {};  // of the kernel: the lab's guests have them
  std::span<const Need> config =
      {};  // options of the kernel, without CONFIG_: checked before a kernel of the user's own boots
  std::span<const Need> devices = {};  // by QEMU's names: the lab's guests have them, cards in pairs
  // Block devices, once the modules are there: a guest of the lab has a file system on it, where the load writes by default.
  std::span<const Need> disks = {};
};

std::span<const Load* const> loads();
Result<const Load*> find_load(std::string_view name);

// The options that every load has beside its own, for `list --json`: cpus, policy, nice, duration, json,
// quiet, report-fd, end-with-parent.
std::span<const ParamSpec> load_common_params();

}  // namespace howlate
