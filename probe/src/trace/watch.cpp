#include "trace/watch.hpp"

#include <algorithm>

#include "sys/clock.hpp"

namespace howlate {

TraceWatch::TraceWatch(const WatchSpec& spec, TracePages& source, TouchedPages memory)
    : spec_(spec),
      source_(source),
      memory_(std::move(memory)),
      store_(memory_.as<std::byte>(), spec_.layout.page_bytes()),
      cases_(spec_.cases) {
  for (const auto& cpus : spec_.cpus)
    for (const int cpu : cpus)
      if (std::none_of(cpus_.begin(), cpus_.end(), [&](const Cpu& one) { return one.number == cpu; }))
        cpus_.push_back({cpu, spec_.begun_ns, INT64_MAX});
}

bool TraceWatch::runs_on(std::size_t thread, int cpu) const {
  const auto& cpus = spec_.cpus[thread];
  return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

void TraceWatch::round(std::int64_t now_ns, const std::function<void()>& pace) {
  source_.compare_clocks();
  for (std::size_t thread = 0; thread < cases_.threads(); ++thread)
    read_for(thread, now_ns - settle_ns, pace);
}

void TraceWatch::finish() {
  source_.compare_clocks();
  for (std::size_t thread = 0; thread < cases_.threads(); ++thread) read_for(thread, INT64_MAX, [] {});
}

// The cases that were over by `end_ns`; the reading ends with the last of them.
void TraceWatch::read_for(std::size_t thread, std::int64_t end_ns, const std::function<void()>& pace) {
  std::int64_t last_ns = INT64_MIN;
  wanted_from_ns_ = INT64_MAX;
  for (const Case& one : cases_.of(thread)) {
    if (one.read) continue;
    wanted_from_ns_ = std::min(wanted_from_ns_, one.from_ns);
    if (one.to_ns <= end_ns) last_ns = std::max(last_ns, one.to_ns);
  }
  if (last_ns == INT64_MIN) return;
  for (Cpu& cpu : cpus_)
    if (runs_on(thread, cpu.number)) read_cpu(cpu, thread, last_ns, pace);
  for (Case& one : cases_.of(thread)) one.read = one.read || one.to_ns <= last_ns;
}

void TraceWatch::read_cpu(Cpu& cpu, std::size_t thread, std::int64_t end_ns,
                          const std::function<void()>& pace) {
  for (const Case& one : cases_.of(thread))
    if (!one.read && one.to_ns == end_ns) cpu.from_ns = one.from_ns;
  while (cpu.read_to_ns < end_ns) {
    pace();
    if (!read_page(cpu.number)) return note_blocked(cpu, thread, end_ns);
    const TickTimes* const times = source_.times();
    const PageStretch stretch = times == nullptr
                                    ? stretch_of(spec_.layout, store_.scratch())
                                    : stretch_of(spec_.layout, store_.scratch(), *times, cpu.read_to_ns);
    if (stretch.events == 0) continue;
    KeptPage page{
        0, cpu.number, stretch.first_ns, stretch.last_ns, cpu.read_to_ns, stretch.after_loss, stretch.lost};
    keep(page, thread);
    cpu.read_to_ns = page.last_ns;
  }
}

// The cases whose events may stand behind one that cannot be read: nobody comes back for them.
void TraceWatch::note_blocked(const Cpu& cpu, std::size_t thread, std::int64_t end_ns) {
  if (!source_.blocked(cpu.number)) return;
  for (Case& one : cases_.of(thread))
    if (!one.read && one.to_ns <= end_ns && one.to_ns > cpu.read_to_ns) one.state |= case_events_lost;
}

bool TraceWatch::read_page(int cpu) {
  const std::int64_t begun_ns = monotonic_now_ns();
  if (!source_.read(cpu, store_.scratch())) return false;
  const std::int64_t took_ns = monotonic_now_ns() - begun_ns;
  ++pages_read_;
  reading_ns_ += took_ns;
  page_ns_max_ = std::max(page_ns_max_, took_ns);
  return true;
}

void TraceWatch::keep(KeptPage& page, std::size_t thread) {
  if (page.last_ns < wanted_from_ns_ - look_back_ns) return;
  const auto wants = [&](const Case& one) {
    return !one.read && one.overlaps(page.begin_ns(), page.last_ns);
  };
  auto& cases = cases_.of(thread);
  if (std::none_of(cases.begin(), cases.end(), wants)) {
    const bool near = std::any_of(cases.begin(), cases.end(), [&](const Case& one) {
      return !one.read && one.from_ns - look_back_ns <= page.last_ns && page.last_ns < one.from_ns;
    });
    if (near) {
      retime_scratch(page);
      static_cast<void>(store_.keep(page));  // the first to go where room lacks
    }
    return;
  }
  retime_scratch(page);
  if (store_.keep(page)) return;
  store_.drop_unless([this](const KeptPage& kept) { return needed(kept); });
  if (store_.keep(page)) return;
  for (Case& one : cases)
    if (wants(one)) one.state |= case_nothing_kept;
}

// The page that was read, before it is kept.
void TraceWatch::retime_scratch(KeptPage& page) {
  const TickTimes* const times = source_.times();
  if (times == nullptr) return;
  retime(spec_.layout, store_.scratch(), *times, page.gap_ns);
  const PageStretch stretch = stretch_of(spec_.layout, store_.scratch());
  page.first_ns = stretch.first_ns;
  page.last_ns = stretch.last_ns;
}

bool TraceWatch::needed(const KeptPage& page) const {
  for (const Cpu& cpu : cpus_)
    if (cpu.number == page.cpu && page.last_ns >= cpu.from_ns) return true;
  for (std::size_t thread = 0; thread < cases_.threads(); ++thread) {
    if (!runs_on(thread, page.cpu)) continue;
    for (const Case& one : cases_.of(thread))
      if ((one.state & case_nothing_kept) == 0 && one.overlaps(page.begin_ns(), page.last_ns)) return true;
  }
  return false;
}

}  // namespace howlate
