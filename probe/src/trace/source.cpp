#include "trace/source.hpp"

#include "sys/hypervisor.hpp"

namespace howlate {

namespace {

// With BPF all events fit into a wake-up on x86. In a guest whose hypervisor lets it run its instructions itself they take nearly all of the
// microsecond that they may (docs/explain.md).
ExplainEvents events_with_bpf() {
#ifdef __x86_64__
  const std::string below = cpuid_hypervisor();
  return below.empty() || below == translating_hypervisor ? ExplainEvents::all : ExplainEvents::few;
#else
  return ExplainEvents::few;
#endif
}

Result<ChosenSource> choose_bpf(const Root& root, const ExplainOptions& options) {
  ChosenSource chosen;
  if (options.stacks)
    return not_possible("the kernel's stacks are recorded by its trace ring alone",
                        "Leave --explain-stacks out, or give --explain-with tracefs");
  chosen.events = options.events == ExplainEvents::automatic ? events_with_bpf() : options.events;
  auto source = open_bpf_source(root, chosen.events, options.with == ExplainWith::bpf_by_address);
  if (!source) return source.error();
  chosen.source = std::move(*source);
  return chosen;
}

}  // namespace

Result<ChosenSource> choose_ring(const Root& root, const ExplainOptions& options, std::string no_bpf) {
  ChosenSource chosen;
  chosen.no_bpf = std::move(no_bpf);
  chosen.events = options.events == ExplainEvents::automatic ? ExplainEvents::few : options.events;
  auto ring = open_ring_source(root, chosen.events);
  if (!ring)
    return not_possible("--explain is not possible here: " + ring.error().message, ring.error().remedy);
  chosen.source = std::move(*ring);
  return chosen;
}

Result<ChosenSource> choose_source(const Root& root, const ExplainOptions& options) {
  std::string no_bpf;
  if (options.with != ExplainWith::tracefs) {
    auto bpf = choose_bpf(root, options);
    if (bpf) return bpf;
    if (options.with == ExplainWith::bpf_by_address)
      return not_possible("--explain-with bpf-by-address is not possible here: " + bpf.error().message,
                          "Leave it out, or give --explain-with bpf");
    if (options.with == ExplainWith::bpf)
      return not_possible("--explain-with bpf is not possible here: " + bpf.error().message,
                          bpf.error().remedy.empty() ? "Leave it out: the kernel's trace ring records then"
                                                     : bpf.error().remedy);
    no_bpf = bpf.error().message;
  }
  return choose_ring(root, options, std::move(no_bpf));
}

}  // namespace howlate
