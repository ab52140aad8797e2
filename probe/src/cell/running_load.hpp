// One load: its process, the three pipes from it, and the memory that it counts in.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cell/loads.hpp"
#include "core/result.hpp"
#include "loads/base/progress.hpp"
#include "loads/base/steady.hpp"
#include "loads/load.hpp"
#include "sys/file.hpp"

namespace howlate {

constexpr std::int64_t load_ready_within_ns = 30'000'000'000;

Error stopped_early();

struct LoadSet::Running {
  LoadOutcome outcome;  // what is known before it is stopped
  const Load* load = nullptr;
  std::size_t cpu_count = 1;
  pid_t pid = 0;  // 0: ended and waited for
  int how = 0;    // as waitpid() says
  Fd out, err, report;
  std::string out_text, err_text, report_text;
  SharedSlots slots;
  Progress ready, begun;          // begun: at mark()
  std::optional<Progress> ended;  // at close()
  SteadyRate rate;                // of a load that runs alone
  LoadReport last{};
  LoadReport before{};              // the answer to ask_before(), or the newest report at that time
  std::optional<LoadReport> after;  // to ask_after(); none where it is no newer than `before`
  std::int64_t reports = 0;

  Status launch(const std::vector<std::string>& words);
  void read_all();
  bool has_ended();
  void kill_family();
  Status wait_ready(std::int64_t end_ns, const Fd& signals);
  void wait_report(std::int64_t after_report, std::int64_t end_ns);
  void wait_end(std::int64_t end_ns);
  [[nodiscard]] Progress look() const { return slots.look(*load); }
  [[nodiscard]] bool known() const;
  void finish();
};

}  // namespace howlate
