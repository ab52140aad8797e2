// Rings as programs write them: whole, overwritten, and with a record that is not whole; and what their numbers mean.
#include "trace/bpf_ring.hpp"

#include <doctest/doctest.h>

#include <cstring>

namespace howlate {
namespace {

constexpr std::uint32_t records = 16;

struct Ring {
  std::array<BpfRecord, records> memory{};
  BpfCounter counter;
  BpfRing ring{{"sched_switch", "irq_handler_entry"}, records};

  Ring() { ring.add(2, counter, memory); }
  BpfRecord& at(std::uint64_t number) { return memory[number % records]; }
  // To whom a switch goes.
  std::int32_t& next_of(std::uint64_t number) {
    return *reinterpret_cast<std::int32_t*>(at(number).values + 8);
  }
  std::uint64_t reserve() { return counter.next++; }
  void write(std::uint64_t number, std::int64_t time_ns, std::uint8_t event = 0) {
    BpfRecord& record = at(number);
    record.time_ns = time_ns;
    record.pid = static_cast<std::int32_t>(number) - 1;
    next_of(number) = static_cast<std::int32_t>(number);  // who leaves next, if this is a switch
    record.event = event;
    record.preempt = 1U << 31U;
    record.turn = static_cast<std::uint32_t>(number);
  }
  void record(std::int64_t time_ns, std::uint8_t event = 0) { write(reserve(), time_ns, event); }

  struct Page {
    bool any = false, after_loss = false;
    std::int64_t lost = -1;
    std::vector<std::int64_t> times_ns;
    std::vector<std::int64_t> pids;
  };
  Page read() {
    std::vector<std::byte> bytes(BpfRing::layout.page_bytes());
    Page page;
    page.any = ring.read(2, bytes);
    PageReader reader(BpfRing::layout, bytes);
    page.after_loss = reader.after_loss();
    page.lost = reader.lost();
    const auto format = bpf_format("sched_switch", 1);
    const auto* const pid = find_field(format.fields, "common_pid");
    while (const auto event = reader.next()) {
      page.times_ns.push_back(event->time_ns);
      page.pids.push_back(number_in(*pid, event->data).value_or(-1));
    }
    CHECK_FALSE(reader.damaged());
    return page;
  }
};

TEST_CASE("records come out as the kernel's pages have them, each once") {
  Ring ring;
  CHECK_FALSE(ring.read().any);
  for (const std::int64_t time_ns :
       std::initializer_list<std::int64_t>{1000, 1100, 900'000'000'000, 900'000'000'001})
    ring.record(time_ns);
  const auto page = ring.read();
  CHECK(page.times_ns == std::vector<std::int64_t>{1000, 1100, 900'000'000'000, 900'000'000'001});
  CHECK(page.pids == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK_FALSE(page.after_loss);
  CHECK_FALSE(ring.read().any);
  ring.record(900'000'000'002, 1);
  CHECK(ring.read().times_ns == std::vector<std::int64_t>{900'000'000'002});
  std::vector<std::byte> bytes(BpfRing::layout.page_bytes());
  CHECK_FALSE(ring.ring.read(1, bytes));  // a CPU that has none
}

TEST_CASE("what was overwritten is counted before the first record that is left") {
  Ring ring;
  for (std::int64_t i = 0; i < 40; ++i) ring.record(1000 + i);
  const auto page = ring.read();
  CHECK(page.after_loss);
  CHECK(page.lost + static_cast<std::int64_t>(page.pids.size()) == 40);
  CHECK(page.pids.front() == page.lost);
  CHECK(page.pids.back() == 39);
  CHECK(page.pids.size() == records - 1);  // the place after the last may be being written
}

TEST_CASE("a switch from a task that the last one did not go to tells that events are missing") {
  Ring ring;
  for (std::int64_t i = 0; i < 5; ++i) ring.record(1000 + i);
  ring.next_of(3) = 75;  // and record 4 leaves task 3: 75's own switch is missing
  const auto before = ring.read();
  CHECK(before.pids == std::vector<std::int64_t>{0, 1, 2});
  CHECK_FALSE(before.after_loss);
  const auto after = ring.read();
  CHECK(after.after_loss);
  CHECK(after.lost == 1);
  CHECK(after.pids == std::vector<std::int64_t>{3, 4});
  CHECK_FALSE(ring.read().any);
}

TEST_CASE("after what was overwritten nothing is known of who ran") {
  Ring ring;
  ring.record(1000);
  CHECK(ring.read().pids == std::vector<std::int64_t>{0});
  for (std::int64_t i = 0; i < 40; ++i) ring.record(2000 + i);
  const auto page = ring.read();
  CHECK(page.lost + static_cast<std::int64_t>(page.pids.size()) == 40);
}

TEST_CASE("a record that is not whole ends what is read until it is") {
  Ring ring;
  ring.record(1000);
  const auto open = ring.reserve();
  ring.record(1002);  // an interrupt's
  CHECK(ring.read().pids == std::vector<std::int64_t>{0});
  CHECK_FALSE(ring.read().any);
  CHECK(ring.ring.blocked(2));
  CHECK_FALSE(ring.ring.blocked(1));
  ring.write(open, 1001);
  CHECK_FALSE(ring.ring.blocked(2));
  const auto page = ring.read();
  CHECK(page.pids == std::vector<std::int64_t>{1, 2});
  CHECK(page.times_ns == std::vector<std::int64_t>{1001, 1002});
  CHECK_FALSE(ring.ring.blocked(2));  // nothing is left
  // The same place, one turn later: what stands there is the older record.
  for (std::int64_t i = 0; i < records - 3; ++i) ring.record(2000 + i);
  ring.reserve();
  while (ring.read().any) {
  }
  CHECK_FALSE(ring.read().any);
}

TEST_CASE("what was interrupted before it took its place follows the interrupt, which keeps its length") {
  Ring ring;
  for (const std::int64_t time_ns : std::initializer_list<std::int64_t>{1000, 1002, 1010, 1001, 1020})
    ring.record(time_ns);
  CHECK(ring.read().times_ns == std::vector<std::int64_t>{1000, 1002, 1010, 1010, 1020});
}

TEST_CASE("pages are full before another begins") {
  std::vector<BpfRecord> memory(4096);
  BpfCounter counter;
  BpfRing ring({"sched_switch", "irq_handler_entry"}, 4096);
  ring.add(0, counter, memory);
  for (; counter.next <= 200; ++counter.next) {
    BpfRecord& record = memory[counter.next];
    record.time_ns = static_cast<std::int64_t>(1000 + counter.next);
    record.event = counter.next % 2;
    record.turn = static_cast<std::uint32_t>(counter.next);
  }
  std::vector<std::byte> page(BpfRing::layout.page_bytes());
  std::vector<std::int64_t> sizes;
  while (ring.read(0, page)) sizes.push_back(stretch_of(BpfRing::layout, page).events);
  CHECK(sizes == std::vector<std::int64_t>{61, 61, 61, 17});
}

TEST_CASE("flags are those of the kernel's trace") {
  BpfReading x86{.bottom_halves_flag = 128, .resched_bit = 3, .count_has_resched = true};
  BpfRecord record;
  record.preempt = 1U << 31U;
  const auto flags = [&](IrqsOff off = IrqsOff::never) { return int{bpf_flags(record, off, x86)}; };
  CHECK(flags() == 0);
  CHECK(flags(IrqsOff::always) == 1);
  CHECK(flags(IrqsOff::in_hardirq) == 0);
  record.task_flags = 1U << 3U;
  CHECK(flags() == 4);
  record.preempt = 0;  // x86 has 0 there where one is due
  CHECK(flags() == 4 + 32);
  record = {};
  record.preempt = 1U << 31U | 0x10000;
  CHECK(flags(IrqsOff::in_hardirq) == 1 + 8);
  record.preempt = 1U << 31U | 0x100;
  CHECK(flags() == 16);
  record.preempt = 1U << 31U | 0x200;
  CHECK(flags() == 128);
  record.preempt = 1U << 31U | 0x100000;
  CHECK(flags() == 64);
  x86.bottom_halves_flag = 0;
  record.preempt = 1U << 31U | 0x200;
  CHECK(flags() == 0);
}

TEST_CASE("on RT the softirqs are the task's, and a lazy rescheduling may have the other flag's bit") {
  BpfReading rt{.lazy_flag = 32,
                .preempt_resched_flag = 0,
                .bottom_halves_flag = 128,
                .resched_bit = 3,
                .lazy_bit = 6,
                .count_has_resched = true,
                .softirq_in_task = true};
  BpfRecord record;
  record.preempt = 0x100;
  CHECK(bpf_flags(record, IrqsOff::never, rt) == 0);
  record.softirq = 0x300;
  CHECK(bpf_flags(record, IrqsOff::never, rt) == 16 + 128);
  record.task_flags = 1U << 6U;
  CHECK(bpf_flags(record, IrqsOff::never, rt) == 16 + 32 + 128);
}

TEST_CASE(
    "a task that wakes itself does so with interrupts as they are, and idle ends as the kernel lets it") {
  BpfRecord record;
  record.preempt = 1U << 31U;
  record.pid = 7;
  BpfReading reading{.count_has_resched = true};
  const auto with = [&](std::int32_t first, IrqsOff rule) {
    std::memcpy(record.values, &first, sizeof first);
    return int{bpf_flags(record, rule, reading)};
  };
  CHECK(with(8, IrqsOff::unless_itself) == 1);
  CHECK(with(7, IrqsOff::unless_itself) == 0);
  CHECK(with(-1, IrqsOff::idle) == 1);
  reading.idle_ends_with_irqs_on = true;
  CHECK(with(-1, IrqsOff::idle) == 0);
  CHECK(with(1, IrqsOff::idle) == 1);
}

TEST_CASE("the depth of preemption is without what the way into a program adds") {
  BpfRecord record;
  record.preempt = 1U << 31U | 0x10003;
  CHECK(bpf_preempt(record, {}) == 3);
  CHECK(bpf_preempt(record, {.own_preempt = 1}) == 2);
  record.preempt = 0xff;
  CHECK(bpf_preempt(record, {}) == 0x0f);
}

TEST_CASE("an idle task is named after its CPU, whatever stands in its place") {
  Ring ring;
  ring.record(1000);
  ring.next_of(1) = 0;
  std::memcpy(ring.at(1).values + 16, "stale name 1234", 16);
  std::vector<std::byte> bytes(BpfRing::layout.page_bytes());
  REQUIRE(ring.ring.read(2, bytes));
  const auto format = bpf_format("sched_switch", 1);
  PageReader reader(BpfRing::layout, bytes);
  const auto event = reader.next();
  REQUIRE(event);
  CHECK(text_in(*find_field(format.fields, "next_comm"), event->data) == "swapper/2");
}

TEST_CASE("the state of a task that is left is the trace's") {
  CHECK(bpf_prev_state(0) == 0);
  CHECK(bpf_prev_state(1) == 1);
  CHECK(bpf_prev_state(1U << 31U) == 0x100);  // preempted
  CHECK(bpf_prev_state(1U << 31U | 1U) == 0x100);
  CHECK(bpf_prev_state(0x402) == 0x80);        // idle
  CHECK(bpf_prev_state(0x1000) == 2);          // waits for a lock of RT
  CHECK(bpf_prev_state(0x80 | 0x10) == 0x10);  // dead
  CHECK(bpf_prev_state(0x100 | 2) == 2);       // may be killed
}

TEST_CASE("what was there before is passed over, and says how deep the way into a program is") {
  Ring ring;
  const BpfReading on_x86{.count_has_resched = true};
  CHECK_FALSE(ring.ring.skip(on_x86));
  for (std::int64_t i = 0; i < 30; ++i) ring.record(1000 + i);
  ring.at(30).preempt = 1U << 31U | 1;
  ring.at(29).preempt = 1U << 31U | 3;
  for (std::uint64_t i = 15; i < 29; ++i) ring.at(i).preempt = 1U << 31U | 2;
  const auto skipped = ring.ring.skip(on_x86);
  REQUIRE(skipped);
  CHECK(skipped->preempt == 1);
  CHECK(skipped->saw_plain_task);
  CHECK_FALSE(ring.read().any);
}

TEST_CASE("counts of which none is a task's are no preemption counts") {
  const BpfReading on_x86{.count_has_resched = true}, on_arm64{};
  const auto is_plain = [](std::uint32_t count, const BpfReading& reading) {
    Ring ring;
    for (std::int64_t i = 0; i < 8; ++i) ring.record(1000 + i);
    for (std::uint64_t i = 1; i <= 8; ++i) ring.at(i).preempt = count;
    const auto skipped = ring.ring.skip(reading);
    REQUIRE(skipped);
    return skipped->saw_plain_task;
  };
  CHECK(is_plain(1U << 31U | 2, on_x86));
  CHECK_FALSE(is_plain(0, on_x86));  // what is read where nothing is
  CHECK_FALSE(is_plain(0xffff8881, on_x86));
  CHECK_FALSE(is_plain(1U << 31U | 0x10001, on_x86));  // in an interrupt
  CHECK(is_plain(1, on_arm64));
  CHECK_FALSE(is_plain(1U << 31U, on_arm64));
}

}  // namespace
}  // namespace howlate
