// cpu: arithmetic for ever, held at a share of each CPU given.
//
// Integer and floating-point operations in registers; no memory but a few words of stack, no call into the
// kernel but the clocks that hold the target and the sleep. Disturbs: competes for the CPU; keeps it out of
// idle states; a period of about 10 ms (target / 100 of it busy).
#include "loads/base/held.hpp"
#include "loads/load.hpp"

namespace howlate {
namespace {

Status work(Worker& worker) {
  std::uint64_t whole = 0x9e3779b97f4a7c15ULL;
  double real = 1.0;
  hold(worker, [&](std::int64_t many) {
    for (std::int64_t i = 0; i < many; ++i) {
      whole = whole * 6364136223846793005ULL + 1442695040888963407ULL;
      real = real * 0.999999 + static_cast<double>(whole >> 40U) * 1e-9;
    }
    asm volatile("" : : "r"(whole), "m"(real));  // the results are used, so the work is done
  });
}

}  // namespace

extern const Load load_cpu;
const Load load_cpu = {
    .name = "cpu",
    .summary = "arithmetic without end, one worker for each CPU, held at a share of it",
    .unit = "iterations",
    .target = {"target", ParamType::percent, "50", "%", "", "busy share of each CPU given"},
    .params = {},
    .held = true,
    .action = {.name = "cycles", .wanted = 3, .length_ns = 10'000'000, .sleeping = true},
    .spread = Spread::per_cpu,
    .work = work,
};

}  // namespace howlate
