#include "timers/core_kernel.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>

#include "core/text.hpp"
#include "irq/no_module.hpp"
#include "sys/clock.hpp"
#include "sys/file.hpp"
#include "timers/core_sleep.hpp"
#include "timers/measure.hpp"

namespace howlate {
namespace {

constexpr std::int64_t look_ns = 10'000'000;

// The memory that the module fills.
class Shared {
 public:
  Shared() = default;
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() {
    if (at_ != MAP_FAILED) ::munmap(at_, size_);
  }

  Status map(int device, std::size_t releases) {
    size_ = HOWLATE_CORE_AT + releases * sizeof(howlate_activation);
    at_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, device, 0);
    if (at_ == MAP_FAILED) return broken("the module's memory could not be mapped: " + errno_text(errno));
    count_ = releases;
    return {};
  }
  [[nodiscard]] std::span<howlate_activation> activations() const {
    return {reinterpret_cast<howlate_activation*>(static_cast<char*>(at_) + HOWLATE_CORE_AT), count_};
  }
  [[nodiscard]] std::size_t done() const { return static_cast<std::size_t>(word(&howlate_core_page::done)); }
  [[nodiscard]] bool ended() const { return word(&howlate_core_page::ended) != 0; }
  // After the end of the thread; negative: not counted.
  [[nodiscard]] std::int64_t switches() const { return static_cast<const howlate_core_page*>(at_)->switches; }

 private:
  [[nodiscard]] std::uint64_t word(__u64 howlate_core_page::*member) const {
    return __atomic_load_n(&(static_cast<const howlate_core_page*>(at_)->*member), __ATOMIC_ACQUIRE);
  }

  void* at_ = MAP_FAILED;
  std::size_t size_ = 0;
  std::size_t count_ = 0;
};

Status prepare(int device, Shared& shared, const LoopContext& loop) {
  Schedule warm(warm_up_schedule(loop.schedule.spec(), loop.warm_up_ns));
  std::int64_t early = CoreActivations::warm_up_releases(loop);
  const std::int64_t releases = early + CoreActivations::releases_needed(loop);
  if (releases > HOWLATE_CORE_RELEASES_MAX)
    return not_possible("an activation in the kernel is planned before the start, and " +
                            std::to_string(releases) + " of them are more than the " +
                            std::to_string(HOWLATE_CORE_RELEASES_MAX) + " that the module holds",
                        "Ask for fewer activations, or a shorter duration");
  const howlate_core_make make{HOWLATE_ABI_VERSION, static_cast<__u32>(releases)};
  if (::ioctl(device, HOWLATE_CORE_MAKE, &make) != 0)
    return errno == EPROTONOSUPPORT || errno == EINVAL  // EINVAL: a module whose limit is lower
               ? broken("the module is of another version than this probe", "Build it again")
               : broken("the module gives no memory: " + errno_text(errno));
  if (Status mapped = shared.map(device, static_cast<std::size_t>(releases)); !mapped) return mapped;
  Schedule schedule = loop.schedule;
  for (howlate_activation& activation : shared.activations()) {
    Schedule& next = early-- > 0 ? warm : schedule;
    activation.release_ns = next.release_ns();
    next.advance();
  }
  return {};
}

Error not_started(int error, std::string_view core) {
  if (error == ETIMEDOUT)
    return not_possible("the first release passed while the releases were handed to the module",
                        "Give a later one, such as --first 1s");
  if (error == ENODEV)
    return not_possible("the module says that the core " + in_quotes(core) + " does not run",
                        "`howlate doctor` says how it is started");
  return broken("the module does not start: " + errno_text(error));
}

void look_again() {
  const struct timespec pause = timespec_of(look_ns);
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);  // a kick ends it
}

// Until the run ends. Gives its reason.
StopReason collect(LoopContext& loop, CoreActivations& activations, const Shared& shared) {
  std::size_t taken = 0;
  for (;;) {
    const bool ended = shared.ended();  // before `done`: then nothing comes after what that says
    const std::size_t done = shared.done();
    const bool goes_on = activations.take(shared.activations().subspan(taken, done - taken));
    taken = done;
    if (!goes_on) return loop.stop_reason;
    if (stopped(loop)) return StopReason::stopped;
    if (ended) return activations.reason_at_end(shared.activations().size());
    look_again();
  }
}

}  // namespace

std::int64_t CoreActivations::releases_needed(const LoopContext& loop) {
  std::int64_t releases = INT64_MAX;
  if (loop.activations_wanted < INT64_MAX / 2)
    releases = loop.activations_wanted + loop.activations_wanted / 8 + 64;
  if (loop.end_ns != INT64_MAX)
    releases = std::min(releases, Schedule(loop.schedule.spec()).due_by(loop.end_ns - 1));
  return std::max<std::int64_t>(releases, 1);
}

std::int64_t CoreActivations::warm_up_releases(const LoopContext& loop) {
  return loop.warm_up_ns / loop.schedule.spec().period_ns;
}

StopReason CoreActivations::reason_at_end(std::size_t planned) const {
  const auto over = static_cast<std::size_t>(schedule_.index() + warm_up_releases(loop_));
  if (over < planned || loop_.end_ns == INT64_MAX) return StopReason::failed;
  const std::int64_t due = Schedule(loop_.schedule.spec()).due_by(loop_.end_ns - 1);
  return schedule_.index() < due ? StopReason::failed : StopReason::duration;
}

bool CoreActivations::take(std::span<const howlate_activation> over) {
  for (const howlate_activation& activation : over) {
    if (ended_) return false;
    if (warm_up_left_ > 0) {
      --warm_up_left_;
      ++loop_.warm_up.releases;
      ++(activation.started_ns == 0 ? loop_.warm_up.overruns : loop_.warm_up.activations);
    } else if (activation.started_ns == 0) {
      ++loop_.overruns;
      schedule_.advance();
    } else {
      ended_ = !serve(activation.started_ns);
    }
  }
  return !ended_;
}

bool CoreActivations::serve(std::int64_t started_ns) {
  const std::int64_t release_ns = schedule_.release_ns();
  if (loop_.late_policy == LatePolicy::backlog && release_ns <= last_ns_) ++loop_.late_starts;
  const Sample sample{schedule_.index(),
                      schedule_.offset_ns(),
                      started_ns - release_ns,
                      0,
                      loop_.overruns,
                      static_cast<std::uint32_t>(loop_.dropped),
                      0};
  if (loop_.ring->has_room())
    loop_.ring->put(sample);
  else
    ++loop_.dropped;
  last_ns_ = std::max(started_ns, release_ns);
  schedule_.advance();
  loop_.live_activations->store(++loop_.activations, std::memory_order_relaxed);
  loop_.stop_reason = StopReason::threshold;
  if (sample.latency_ns > loop_.latency_ns_max && note_maximum(loop_, sample)) return false;
  loop_.stop_reason = StopReason::activations;
  return loop_.activations < loop_.activations_wanted;
}

void CoreActivations::close(std::int64_t now_ns, StopReason reason) {
  const bool by_activation = reason == StopReason::activations || reason == StopReason::threshold;
  close_account(loop_, schedule_, by_activation ? last_ns_ : std::max(now_ns, last_ns_), reason);
}

namespace {

// The thread has ended. Without the core's count nobody knows whether it was on the core's stage; a handler has no stage to leave.
Status note_switches(LoopContext& loop, const CoreKernel& kernel, const Shared& shared) {
  if (kernel.context == HOWLATE_CORE_HANDLER) return {};
  loop.core.switches = shared.switches();
  if (loop.core.switches >= 0) return {};
  return not_possible(
      "the core " + in_quotes(kernel.core) + " does not count how often a thread leaves its stage",
      std::string("Build the kernel with ") +
          (kernel.core == "evl" ? "CONFIG_EVL_RUNSTATS" : "CONFIG_XENO_OPT_STATS"));
}

Error ended_early(std::size_t over, std::size_t planned) {
  if (over < planned)
    return broken("the core ended the activations after " + std::to_string(over) + " of " +
                  std::to_string(planned) + " releases");
  return broken("so many releases passed unserved that the planned ones did not suffice",
                "Give a longer period");
}

}  // namespace

Status run_in_kernel(LoopContext& loop, const CoreKernel& kernel) {
  const auto policy = own_core_policy();
  if (!policy) return policy.error();
  const Fd device(::open(kernel.device, O_RDWR | O_CLOEXEC));
  if (!device.valid()) return not_opened(kernel.device, errno);
  const auto kind = kernel.context == HOWLATE_CORE_HANDLER ? &Gravity::irq_ns : &Gravity::kernel_ns;
  if (Status noted = note_gravity(loop, kernel.core, kind); !noted) return noted;
  Shared shared;
  if (Status ready = prepare(device.get(), shared, loop); !ready) return ready;
  const howlate_core_run run{kernel.context, static_cast<__u32>(policy->priority),
                             loop.late_policy == LatePolicy::backlog ? 1U : 0U, 0};
  SignalMask kick_unblocked{SIG_UNBLOCK, {kick_signal()}};
  begin_account(loop);
  CoreActivations activations(loop);
  if (::ioctl(device.get(), HOWLATE_CORE_RUN, &run) != 0) return not_started(errno, kernel.core);
  const StopReason reason = collect(loop, activations, shared);
  ::ioctl(device.get(), HOWLATE_CORE_STOP);
  activations.close(monotonic_now_ns(), reason);
  if (reason == StopReason::failed) return ended_early(shared.done(), shared.activations().size());
  return note_switches(loop, kernel, shared);
}

}  // namespace howlate
