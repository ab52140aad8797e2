#include "trace/decode.hpp"

#include <algorithm>
#include <unordered_map>

namespace howlate {

namespace {

std::int64_t value_of(const std::optional<TraceField>& field, std::span<const std::byte> data) {
  return field ? number_in(*field, data).value_or(0) : 0;
}

// The stretches of one CPU's cases, joined where they overlap.
struct TimeSpan {
  std::int64_t from_ns, to_ns;
};

std::vector<TimeSpan> stretches_of(const std::vector<Case>& cases, const TraceWatch& watch, int cpu) {
  std::vector<TimeSpan> all;
  for (const Case& one : cases)
    if (one.from_ns <= one.to_ns && watch.runs_on(static_cast<std::size_t>(one.thread), cpu))
      all.push_back({one.from_ns, one.to_ns});
  std::sort(all.begin(), all.end(),
            [](const TimeSpan& a, const TimeSpan& b) { return a.from_ns < b.from_ns; });
  std::vector<TimeSpan> joined;
  for (const TimeSpan& one : all) {
    if (!joined.empty() && one.from_ns <= joined.back().to_ns)
      joined.back().to_ns = std::max(joined.back().to_ns, one.to_ns);
    else
      joined.push_back(one);
  }
  return joined;
}

class Decoder {
 public:
  Decoder(const TraceWatch& watch, const EventPlan& plan, Decoded& out)
      : watch_(watch), plan_(plan), out_(out) {
    const auto add = [&](const TracedEvent& event, std::size_t number) {
      kinds_.emplace(event.format.id, EventKind{&event, number});
    };
    for (std::size_t i = 0; i < plan.events.size(); ++i) add(plan.events[i], i);
    if (plan.stack.format.id >= 0) add(plan.stack, plan.stack_number());
    if (plan.events.empty()) return;
    const auto& fields = plan.events.front().format.fields;
    for (auto& [to, name] : {std::pair{&type_, "common_type"},
                             {&flags_, "common_flags"},
                             {&preempt_, "common_preempt_count"},
                             {&pid_, "common_pid"}})
      if (const TraceField* const field = find_field(fields, name)) *to = *field;
  }

  void page(const KeptPage& page, const std::vector<TimeSpan>& stretches) {
    auto stretch = stretches.begin();
    const auto wanted = [&](std::int64_t time_ns) {
      while (stretch != stretches.end() && stretch->to_ns < time_ns) ++stretch;
      return stretch != stretches.end() && stretch->from_ns <= time_ns;
    };
    if (page.after_loss && wanted(page.first_ns)) lost(page);
    PageReader reader(watch_.spec().layout, watch_.store().bytes(page));
    while (const auto event = reader.next())
      if (wanted(event->time_ns)) row(page.cpu, *event);
  }

 private:
  struct EventKind {
    const TracedEvent* event;
    std::size_t number;
  };

  void lost(const KeptPage& page) {
    out_.events_lost += std::max<std::int64_t>(page.lost, 0);
    EventRow row{page.first_ns, page.cpu, plan_.lost_number()};
    row.values[0] = page.lost;
    out_.rows.push_back(row);
  }

  void row(int cpu, const PageEvent& event) {
    const auto kind = kinds_.find(static_cast<int>(value_of(type_, event.data)));
    if (kind == kinds_.end()) return;
    EventRow row{event.time_ns,
                 cpu,
                 kind->second.number,
                 value_of(flags_, event.data),
                 value_of(preempt_, event.data),
                 value_of(pid_, event.data)};
    if (row.event == plan_.stack_number()) return stack(row, event.data);
    const TracedEvent& traced = *kind->second.event;
    for (std::size_t i = 0; i < row.values.size(); ++i)
      row.values[i] = value_of(traced.values[i], event.data);
    if (traced.name == "cpu_idle" && row.values[0] == UINT32_MAX) row.values[0] = -1;
    note_names(traced, row, event.data);
    out_.rows.push_back(row);
  }

  // Three frames a row.
  void stack(EventRow row, std::span<const std::byte> data) {
    const auto& size = plan_.stack.values[0];
    const auto& first = plan_.stack.values[1];
    if (!size || !first) return;
    const std::uint32_t bytes = watch_.spec().layout.commit_bytes;  // of a long, as the frames are
    const std::int64_t frames = value_of(size, data);
    for (std::int64_t frame = 0; frame < frames; ++frame) {
      TraceField field = *first;
      field.bytes = bytes;
      field.offset += static_cast<std::uint32_t>(frame) * bytes;
      const auto address = number_in(field, data);
      if (!address) break;
      const auto at = static_cast<std::size_t>(frame % 3);
      if (at == 0) row.values = {frame, 0, 0, 0};
      row.values[at + 1] = *address;
      out_.addresses.insert(*address);
      if (at == 2 || frame + 1 == frames) out_.rows.push_back(row);
    }
  }

  void note_names(const TracedEvent& traced, const EventRow& row, std::span<const std::byte> data) {
    const auto text = [&](std::string_view name) {
      const TraceField* const field = find_field(traced.format.fields, name);
      return field != nullptr ? text_in(*field, data) : std::string();
    };
    const std::string& name = traced.name;
    if (name == "sched_switch") {
      if (find_field(traced.format.fields, "prev_comm") != nullptr)
        out_.tasks.try_emplace(row.pid, text("prev_comm"));
      out_.tasks.try_emplace(row.values[2], text("next_comm"));
    }
    if (name == "irq_handler_entry") out_.irqs.try_emplace(row.values[0], text("name"));
    if (name == "hrtimer_expire_entry") out_.addresses.insert(row.values[2]);
    if (name == "nmi_handler") out_.addresses.insert(row.values[0]);
    if (traced.system == "ipi") out_.reasons.insert(row.values[0]);
  }

  const TraceWatch& watch_;
  const EventPlan& plan_;
  Decoded& out_;
  std::unordered_map<int, EventKind> kinds_;
  std::optional<TraceField> type_, flags_, preempt_, pid_;
};

// How a task that was stopped went to sleep stands long before its release: the stretch begins as far back as pages were kept
// without a gap between them.
void look_back(Case& one, const TraceWatch& watch) {
  const auto& cpus = watch.spec().cpus[static_cast<std::size_t>(one.thread)];
  if (cpus.size() != 1) return;  // another CPU's pages may begin later
  const auto& pages = watch.store().pages();
  const auto find = [&](auto is_it) {
    return std::find_if(pages.begin(), pages.end(),
                        [&](const KeptPage& page) { return page.cpu == cpus.front() && is_it(page); });
  };
  const std::int64_t least_ns = std::max(one.from_ns - TraceWatch::look_back_ns, watch.spec().begun_ns);
  auto page = find([&](const KeptPage& each) {
    return (each.after_loss ? each.first_ns : each.gap_ns) <= one.from_ns && one.from_ns <= each.last_ns;
  });
  while (page != pages.end() && one.from_ns > least_ns) {
    one.from_ns = std::max(std::min(one.from_ns, page->first_ns), least_ns);
    if (page->after_loss) return;
    page = find([end_ns = page->gap_ns](const KeptPage& each) {
      return each.last_ns == end_ns && each.gap_ns < end_ns;  // one in which no time passes is behind itself
    });
  }
}

// What was kept of a case's stretch: from the end of the last loss before its release on, and nothing where pages lacked.
void settle(Case& one, const TraceWatch& watch) {
  for (const KeptPage& page : watch.store().pages()) {
    if (!page.after_loss || !watch.runs_on(static_cast<std::size_t>(one.thread), page.cpu)) continue;
    if (!one.overlaps(page.gap_ns, page.first_ns)) continue;
    if (page.gap_ns > one.from_ns) {
      one.state |= case_events_lost;
    } else if (page.first_ns > one.to_ns) {
      one.state |= case_nothing_kept;  // read too late
    } else {
      one.state |= case_beginning_lost;
      one.from_ns = std::max(one.from_ns, page.first_ns);
    }
  }
  one.from_ns = std::max(one.from_ns, watch.spec().begun_ns);
  if (one.state == 0) look_back(one, watch);
  if ((one.state & case_nothing_kept) != 0) one.from_ns = one.to_ns + 1;
}

std::int64_t events_in(const std::vector<EventRow>& rows, const Case& one, const TraceWatch& watch) {
  std::int64_t count = 0;
  const auto before = [](const EventRow& row, const std::pair<int, std::int64_t>& at) {
    return std::pair{row.cpu, row.time_ns} < at;
  };
  for (const int cpu : watch.spec().cpus[static_cast<std::size_t>(one.thread)]) {
    const auto begin = std::lower_bound(rows.begin(), rows.end(), std::pair{cpu, one.from_ns}, before);
    const auto end = std::lower_bound(rows.begin(), rows.end(), std::pair{cpu, one.to_ns + 1}, before);
    if (end > begin) count += end - begin;
  }
  return count;
}

}  // namespace

Decoded decode(const TraceWatch& watch, const EventPlan& plan) {
  Decoded out;
  for (std::size_t thread = 0; thread < watch.cases().threads(); ++thread)
    for (const Case& one : watch.cases().of(thread)) out.cases.push_back(one);
  std::sort(out.cases.begin(), out.cases.end(), [](const Case& a, const Case& b) {
    return std::pair{a.release_ns, a.thread} < std::pair{b.release_ns, b.thread};
  });
  for (Case& one : out.cases) settle(one, watch);
  std::vector<KeptPage> pages = watch.store().pages();
  std::stable_sort(pages.begin(), pages.end(), [](const KeptPage& a, const KeptPage& b) {
    return std::pair{a.cpu, a.first_ns} < std::pair{b.cpu, b.first_ns};
  });
  Decoder decoder(watch, plan, out);
  int cpu = -1;
  std::vector<TimeSpan> stretches;
  for (const KeptPage& page : pages) {
    if (page.cpu != cpu) stretches = stretches_of(out.cases, watch, cpu = page.cpu);
    decoder.page(page, stretches);
  }
  for (const Case& one : out.cases) out.events.push_back(events_in(out.rows, one, watch));
  for (Case& one : out.cases)
    if ((one.state & case_nothing_kept) != 0) one.from_ns = one.to_ns;
  return out;
}

void number_reasons(Decoded& decoded, const EventPlan& plan) {
  for (EventRow& row : decoded.rows) {
    if (row.event >= plan.events.size() || plan.events[row.event].system != "ipi") continue;
    row.values[0] = std::distance(decoded.reasons.begin(), decoded.reasons.find(row.values[0]));
  }
}

}  // namespace howlate
