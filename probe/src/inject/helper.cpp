#include "inject/helper.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace howlate {

namespace {
constexpr int usual_priority = 95;
constexpr int priority_max = 99;
}  // namespace

Status InjectHelper::start(const PlacedSpec& spec, const Root& root,
                           std::function<void(std::int64_t t0_ns)> body) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return broken("no pipe: " + errno_text(errno));
  const Fd listen(ends[0]);
  tell_ = Fd(ends[1]);
  return process_.start(spec, root, [&] {
    tell_.reset();  // so that the other end's closing is seen
    std::int64_t t0_ns = 0;
    if (::read(listen.get(), &t0_ns, sizeof t0_ns) == sizeof t0_ns) body(t0_ns);
    for (;;) ::pause();  // its end would take long, above the measuring thread: it is killed when all is over
  });
}

Status InjectHelper::begin(std::int64_t t0_ns) {
  if (::write(tell_.get(), &t0_ns, sizeof t0_ns) == sizeof t0_ns) return {};
  return broken("the process that injects delays is gone: " + errno_text(errno));
}

Status InjectHelper::end() {
  const bool was_gone = process_.pid() != 0 && process_.has_ended();
  process_.end();
  if (!was_gone) return {};
  return broken("the process that injects delays was killed before the end", "Measure again");
}

Status end_helpers(const std::vector<std::unique_ptr<InjectHelper>>& helpers) {
  Status ended;
  for (const auto& helper : helpers)
    if (Status one = helper->end(); !one) ended = one;
  return ended;
}

Result<SchedPolicy> policy_above(const SchedPolicy& policy) {
  const bool fixed = policy.kind == SchedKind::fifo || policy.kind == SchedKind::rr;
  if (policy.kind == SchedKind::deadline || (fixed && policy.priority >= priority_max))
    return usage_error("no task can be above " + policy_text(policy), "Choose --policy fifo:98 at most");
  return SchedPolicy{.kind = SchedKind::fifo,
                     .priority = fixed ? std::max(usual_priority, policy.priority + 1) : usual_priority};
}

}  // namespace howlate
