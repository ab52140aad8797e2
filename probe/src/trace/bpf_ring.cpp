#include "trace/bpf_ring.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "core/fence.hpp"

namespace howlate {

namespace {

// include/linux/trace_events.h, include/linux/preempt.h, include/linux/sched.h.
constexpr std::uint8_t flag_irqs_off = 1, flag_hardirq = 8, flag_softirq = 16, flag_nmi = 64;
constexpr std::uint32_t count_hardirq = 0xf0000, count_nmi = 0xf00000, count_serving = 0x100,
                        count_softirq = 0xff00, count_preempt = 0xff, no_resched = 1U << 31U;
constexpr std::uint32_t task_idle = 0x402, task_other_wait = 0x1000 | 0x8000, task_report = 0x7f,
                        task_uninterruptible = 2, report_idle = 0x80, report_preempted = 0x100;

// An event of a page: a word with its length and the time since the one before, then these.
constexpr std::uint32_t flags_at = 2, preempt_at = 3, pid_at = 4, columns_at = 8, column_bytes = 8,
                        text_at = columns_at + 4 * column_bytes;
constexpr std::size_t word_bytes = 4;
constexpr unsigned delta_bits = 27;
constexpr std::uint32_t kind_time_longer = 30;
constexpr std::uint64_t commit_lost = 1U << 31U, commit_counted = 1U << 30U;
// A record that its program has not ended so much later will never be whole.
constexpr std::uint64_t unfinished_max = 256;

template <class Number>
void write_at(std::span<std::byte> to, std::size_t at, Number value) {
  std::memcpy(to.data() + at, &value, sizeof value);
}

// As the kernel keeps names: zeros fill the rest.
void put_text(std::span<std::byte> to, std::string_view text) {
  std::fill(to.begin(), to.end(), std::byte{0});
  std::memcpy(to.data(), text.data(), std::min(text.size(), to.size() - 1));
}

std::int64_t value_of(const BpfRecord& record, BpfValue where) {
  if (where.bytes == 0) return 0;
  std::int64_t wide = 0;
  std::int32_t narrow = 0;
  if (where.bytes == 8)
    std::memcpy(&wide, record.values + where.at, sizeof wide);
  else
    std::memcpy(&narrow, record.values + where.at, sizeof narrow);
  return where.bytes == 8 ? wide : narrow;
}

bool irqs_are_off(const BpfRecord& record, IrqsOff rule, bool hardirq, const BpfReading& reading) {
  switch (rule) {
    case IrqsOff::always:
      return true;
    case IrqsOff::never:
      return false;
    case IrqsOff::in_hardirq:
      return hardirq;
    case IrqsOff::unless_itself:
      return hardirq || value_of(record, {0, 4}) != record.pid;
    case IrqsOff::idle:
      return !reading.idle_ends_with_irqs_on || value_of(record, {0, 4}) != -1;
  }
  return false;
}

std::uint32_t softirq_of(const BpfRecord& record, const BpfReading& reading) {
  return (reading.softirq_in_task ? record.softirq : record.preempt) & count_softirq;
}

}  // namespace

TraceFormat bpf_format(std::string_view name, int number) {
  TraceFormat format{std::string(name), number, {}};
  format.fields = {{"common_type", 0, 2, false, false},
                   {"common_flags", flags_at, 1, false, false},
                   {"common_preempt_count", preempt_at, 1, false, false},
                   {"common_pid", pid_at, 4, true, false}};
  for (std::uint32_t i = 0; i < 4; ++i)
    format.fields.push_back({std::string(1, static_cast<char>('a' + i)), columns_at + i * column_bytes,
                             column_bytes, true, false});
  const BpfEvent* const event = bpf_event(name);
  if (event != nullptr && event->text.bytes != 0)
    format.fields.push_back({std::string(event->text_name), text_at, event->text.bytes, false, false});
  return format;
}

std::array<std::optional<TraceField>, 4> bpf_fields(const TraceFormat& format) {
  std::array<std::optional<TraceField>, 4> fields;
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (const TraceField* const field = find_field(format.fields, std::string(1, static_cast<char>('a' + i))))
      fields[i] = *field;
  return fields;
}

std::uint8_t bpf_flags(const BpfRecord& record, IrqsOff irqs_off, const BpfReading& reading) {
  unsigned flags = 0;
  const auto set = [&](bool is_so, std::uint8_t flag) { flags |= is_so ? flag : 0U; };
  const bool in_nmi = (record.preempt & count_nmi) != 0;
  const bool hardirq = (record.preempt & count_hardirq) != 0;
  const std::uint32_t softirq = softirq_of(record, reading);
  set(irqs_are_off(record, irqs_off, hardirq || in_nmi, reading), flag_irqs_off);
  set((record.task_flags >> reading.resched_bit & 1U) != 0, reading.resched_flag);
  set((record.task_flags >> reading.lazy_bit & 1U) != 0, reading.lazy_flag);
  set(hardirq, flag_hardirq);
  set((softirq & count_serving) != 0, flag_softirq);
  set(reading.count_has_resched ? (record.preempt & no_resched) == 0 : record.no_resched == 0,
      reading.preempt_resched_flag);
  set(in_nmi, flag_nmi);
  set(softirq >= 2 * count_serving, reading.bottom_halves_flag);
  return static_cast<std::uint8_t>(flags);
}

std::uint8_t bpf_preempt(const BpfRecord& record, const BpfReading& reading) {
  const std::uint32_t count = record.preempt & count_preempt, own = reading.own_preempt;
  return static_cast<std::uint8_t>(std::min<std::uint32_t>(count > own ? count - own : 0, 15));
}

std::uint32_t bpf_prev_state(std::uint32_t both) {
  if ((both & no_resched) != 0) return report_preempted;
  std::uint32_t state = both & task_report;
  if ((both & task_idle) == task_idle) state = report_idle;
  if ((both & task_other_wait) != 0) state = task_uninterruptible;
  return std::bit_floor(state);
}

BpfRing::BpfRing(std::vector<std::string> names, std::uint32_t records) : records_(records) {
  for (const std::string& name : names) events_.push_back(bpf_event(name));
}

void BpfRing::add(int cpu, BpfCounter& counter, std::span<BpfRecord> memory) {
  if (memory.size() >= records_) cpus_.push_back({cpu, &counter, memory});
}

std::uint64_t BpfRing::end_of(const Cpu& cpu) const {
  return std::atomic_ref<std::uint64_t>(cpu.counter->next).load(std::memory_order_acquire);
}

// The next record, if it is whole before it was copied and was not overwritten until after: the counter grows before the
// program writes one.
BpfRing::Taken BpfRing::take(const Cpu& cpu, BpfRecord& record) const {
  BpfRecord& at = cpu.memory[static_cast<std::size_t>(cpu.next % records_)];
  const std::uint32_t is = std::atomic_ref<std::uint32_t>(at.turn).load(std::memory_order_acquire);
  std::memcpy(static_cast<void*>(&record), static_cast<const void*>(&at), sizeof record);
  read_in_order();
  const std::uint64_t now = end_of(cpu);
  if (now - cpu.next >= records_) return Taken::gone;
  if (is != static_cast<std::uint32_t>(cpu.next) || record.event >= events_.size())
    return now - cpu.next > unfinished_max ? Taken::gone : Taken::not_yet;
  return Taken::whole;
}

bool BpfRing::is_switch(const BpfRecord& record) const {
  return events_[record.event]->name == "sched_switch";
}

// A task is left that the last switch did not go to: at least that one's own switch came to no program. (Or it took another number, as a
// thread does that calls execve and is not the first of its process.)
bool BpfRing::misses_before(const Cpu& cpu, const BpfRecord& record) const {
  return is_switch(record) && cpu.running && *cpu.running != record.pid;
}

// The event with its words; 0 where there is no room for it.
std::size_t BpfRing::put(std::span<std::byte> room, const BpfRecord& record, std::int64_t delta_ns,
                         int cpu) const {
  const BpfEvent& event = *events_[record.event];
  const std::size_t bytes = text_at + event.text.bytes;
  const auto delta = static_cast<std::uint64_t>(delta_ns);
  const bool is_long = delta >> delta_bits != 0;
  const std::size_t before = is_long ? 2 * word_bytes : 0;
  if (room.size() < before + word_bytes + bytes) return 0;
  if (is_long) {
    write_at(room, 0, page_word(kind_time_longer, delta));
    write_at(room, word_bytes, static_cast<std::uint32_t>(delta >> delta_bits));
  }
  write_at(room, before, page_word(static_cast<std::uint32_t>(bytes / word_bytes), is_long ? 0 : delta));
  const auto data = room.subspan(before + word_bytes, bytes);
  write_at(data, 0, static_cast<std::uint16_t>(record.event + 1));
  write_at(data, flags_at, bpf_flags(record, event.irqs_off, reading_));
  write_at(data, preempt_at, bpf_preempt(record, reading_));
  write_at(data, pid_at, record.pid);
  for (std::size_t i = 0; i < event.values.size(); ++i)
    write_at(data, columns_at + i * column_bytes, value_of(record, event.values[i]));
  std::memcpy(data.data() + text_at, record.values + event.text.at, event.text.bytes);
  if (event.name != "sched_switch") return before + word_bytes + bytes;
  write_at(data, columns_at,
           std::int64_t{bpf_prev_state(static_cast<std::uint32_t>(value_of(record, event.values[0])))});
  if (value_of(record, event.values[2]) == 0)
    put_text(data.subspan(text_at), "swapper/" + std::to_string(cpu));
  return before + word_bytes + bytes;
}

bool BpfRing::read(int number, std::span<std::byte> page) {
  const auto found =
      std::find_if(cpus_.begin(), cpus_.end(), [&](const Cpu& one) { return one.number == number; });
  if (found == cpus_.end() || page.size() < layout.page_bytes()) return false;
  Cpu& cpu = *found;
  std::fill(page.begin(), page.end(), std::byte{0});
  const auto room = page.subspan(layout.data_at, layout.data_bytes - layout.commit_bytes);
  std::size_t used = 0;
  std::int64_t lost = 0, begin_ns = 0;
  while (cpu.next < end_of(cpu)) {
    if (const std::uint64_t now = end_of(cpu); now - cpu.next >= records_) {
      // One place more than needed: the program at work may have taken the next one since.
      const std::uint64_t left = now - records_ + 1;
      cpu.lost += static_cast<std::int64_t>(left - cpu.next);
      cpu.next = left;
      cpu.running.reset();
    }
    if (cpu.lost != 0 && used != 0) break;  // a page tells of losses before its first event
    BpfRecord record;
    const Taken taken = take(cpu, record);
    if (taken == Taken::not_yet) break;
    if (taken == Taken::gone) {
      ++cpu.lost;
      ++cpu.next;
      cpu.running.reset();
      continue;
    }
    if (misses_before(cpu, record)) {
      ++cpu.lost;
      cpu.running.reset();
      if (used != 0) break;
    }
    // A program that was interrupted after it had read the clock, and before it took its place, has an earlier time.
    const std::int64_t time_ns = std::max(record.time_ns, cpu.last_ns);
    if (used == 0) begin_ns = time_ns;
    const std::size_t more =
        put(room.subspan(used), record, used == 0 ? 0 : time_ns - cpu.last_ns, cpu.number);
    if (more == 0) break;
    if (used == 0) lost = std::exchange(cpu.lost, 0);
    used += more;
    cpu.last_ns = time_ns;
    ++cpu.next;
    if (is_switch(record))
      cpu.running = static_cast<std::int32_t>(value_of(record, events_[record.event]->values[2]));
  }
  if (used == 0) return false;
  std::uint64_t commit = used;
  if (lost != 0) commit |= commit_lost | commit_counted;
  write_at(page, layout.stamp_at, begin_ns);
  write_at(page, layout.commit_at, commit);
  write_at(page, layout.data_at + used, lost);
  return true;
}

bool BpfRing::blocked(int number) const {
  BpfRecord record;
  return std::any_of(cpus_.begin(), cpus_.end(), [&](const Cpu& cpu) {
    return cpu.number == number && cpu.next < end_of(cpu) && take(cpu, record) == Taken::not_yet;
  });
}

std::optional<BpfRing::Skipped> BpfRing::skip(const BpfReading& reading) {
  std::optional<Skipped> skipped;
  for (Cpu& cpu : cpus_) {
    const std::uint64_t end = end_of(cpu);
    if (end - cpu.next >= records_) cpu.next = end - records_ + 1;
    for (; cpu.next < end; ++cpu.next) {
      BpfRecord record;
      if (take(cpu, record) != Taken::whole) continue;
      if (!skipped) skipped = Skipped{.preempt = count_preempt};
      skipped->preempt = std::min(skipped->preempt, record.preempt & count_preempt);
      skipped->saw_plain_task |=
          (record.preempt & ~count_preempt) == (reading.count_has_resched ? no_resched : 0);
    }
    cpu.next = end;
  }
  return skipped;
}

}  // namespace howlate
