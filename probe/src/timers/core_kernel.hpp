// The ways to sleep whose activations run in the kernel, on the stage of a real-time core: by a module of kmod/, which stores the first time
// stamp of each activation. The releases are the schedule's own, handed over before the start; the measuring thread only collects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/result.hpp"
#include "howlate_abi.h"
#include "sys/core_state.hpp"
#include "timers/timer.hpp"

namespace howlate {

struct CoreKernel {
  std::string_view core;  // "cobalt"
  const char* device;
  std::uint32_t context;  // HOWLATE_CORE_THREAD, HOWLATE_CORE_HANDLER
};

// Its whole life: releases handed over, activations collected, account closed.
Status run_in_kernel(LoopContext& loop, const CoreKernel& kernel);

// Of a Core: `name`, `device` and `module`. Its library is not needed.
template <class Core, std::uint32_t context>
constexpr Timer kernel_timer(std::string_view name, std::string_view summary) {
  return {
      .name = name,
      .summary = summary,
      .armed_each_activation = true,
      .as_published = false,
      .available = [] { return core_runs(Root(), Core::name); },
      .run =
          [](LoopContext& loop) {
            return run_in_kernel(loop, {Core::name, Core::device, context});
          },
      .core = Core::name,
      .in_kernel = true,
      .module = Core::module,
  };
}

// The account of activations that are over, as the loop of user space would have it.
class CoreActivations {
 public:
  explicit CoreActivations(LoopContext& loop)
      : loop_(loop), schedule_(loop.schedule), warm_up_left_(warm_up_releases(loop)) {}

  // The next of them, in order. False when the run ends with one of them, after which none is looked at.
  bool take(std::span<const howlate_activation> over);
  // Why a run ended whose module has nothing more to serve, all of which was taken. It failed if releases are due for which none was
  // planned, or if the core gave up before the last of those that were.
  [[nodiscard]] StopReason reason_at_end(std::size_t planned) const;
  // Releases that are due by then and were not served are overruns.
  void close(std::int64_t now_ns, StopReason reason);

  // Those before t0, which come first.
  static std::int64_t warm_up_releases(const LoopContext& loop);
  // The releases to hand over from t0 on: as many as the run can need, and some more for those that are left out.
  static std::int64_t releases_needed(const LoopContext& loop);

 private:
  bool serve(std::int64_t started_ns);

  LoopContext& loop_;
  Schedule schedule_;
  std::int64_t warm_up_left_;
  std::int64_t last_ns_ = INT64_MIN;  // the start of the latest activation, or its release if that is later
  bool ended_ = false;
};

}  // namespace howlate
