"""Of a simulated CPU, whose true division of the time is known: the same causes, to the nanosecond."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from howlate.model.cause import Cause
from howlate.why.case_events import MachineFacts
from made_cpu import Doing, SimulatedCpu
from made_trace import CLOUD, IDLE, LAB, LOAD, METAL, NONE, OWN

GAP = st.integers(1, 300)
"""Between two things: the ordinary way, which takes little altogether."""
LONG = st.integers(1, 200_000)
HARD_KINDS = st.sampled_from(["irq", "ipi", "nmi"])
HARD_DOING = st.builds(Doing, HARD_KINDS, LONG)
NMIS = st.lists(st.builds(Doing, st.just("nmi"), st.integers(1, 20_000)), max_size=2).map(tuple)
IRQS = st.builds(Doing, st.sampled_from(["irq", "ipi"]), LONG, NMIS)
SOFTIRQS = st.builds(Doing, st.just("softirq"), LONG, st.lists(IRQS, max_size=2).map(tuple))
FACTS = st.sampled_from([LAB, METAL, NONE, CLOUD])


@settings(max_examples=max(300, settings().max_examples))
@given(st.data(), FACTS, st.sampled_from([LOAD, IDLE]))
def test_the_causes_of_a_simulated_cpu_are_the_true_ones(
    data: st.DataObject, facts: MachineFacts, current: object
) -> None:
    is_idle = current is IDLE
    cpu = SimulatedCpu(-100_000, IDLE if is_idle else LOAD)
    before_the_interrupt(cpu, data, facts, is_idle)
    cpu.timer(data.draw(GAP), data.draw(st.sampled_from([0, 5_000, 90_000])), data.draw(NMIS))
    if is_idle:
        cpu.leaves_idle(data.draw(GAP))
        cpu.spend(Cause.SWITCH, data.draw(GAP))
    else:
        until_the_switch(cpu, data, facts)
    cpu.switch(OWN)
    in_our_task(cpu, data)
    found = cpu.explained(facts)
    told: Counter[Cause] = Counter()
    for part in found.parts:
        told[part.cause] += part.ns
    assert sum(told.values()) == cpu.now
    assert +told == +cpu.true


def before_the_interrupt(cpu: SimulatedCpu, data: st.DataObject, facts: MachineFacts, is_idle: bool) -> None:
    """What was handled with interrupts off, some of it before the release."""
    if is_idle:
        cpu.spend(Cause.IDLE, 5_000)
        cpu.event("cpu_idle", a=2, b=1)
    cpu.count = 0 if is_idle else data.draw(st.sampled_from([0, 1, 2]))
    late_ns = data.draw(st.sampled_from([0, 0, 5_000, 150_000]))
    late = Cause.IRQ_LATE if facts.excludes_gaps else Cause.IRQ_LATE_OR_GAP
    waits = Cause.IDLE if is_idle else late if late_ns else Cause.TIMER_IRQ
    cpu.spend(waits, -cpu.now - data.draw(st.integers(1, 30_000)))  # up to shortly before the release
    for what in data.draw(st.lists(IRQS, max_size=3)):
        cpu.does(what)
        cpu.spend(waits, data.draw(GAP))
    if cpu.now < 0:
        cpu.spend(waits, -cpu.now)
    cpu.spend(waits, data.draw(GAP))
    if late_ns and not is_idle:
        cpu.spend(late, late_ns)


def until_the_switch(cpu: SimulatedCpu, data: st.DataObject, facts: MachineFacts) -> None:
    """What the interrupt's end has to do, and the task that it interrupted."""
    held_ns = data.draw(st.sampled_from([0, 90_000])) if cpu.count or facts.preemption == "none" else 0
    is_held = bool(held_ns or cpu.count)
    waits = Cause.NOT_PREEMPTIBLE if is_held else Cause.SWITCH
    for what in data.draw(st.lists(st.one_of(IRQS, SOFTIRQS, HARD_DOING), max_size=3)):
        cpu.spend(waits, data.draw(GAP))
        cpu.does(what)
    cpu.spend(waits, held_ns + data.draw(GAP))


def in_our_task(cpu: SimulatedCpu, data: st.DataObject) -> None:
    """Back to the program, with what comes on the way."""
    ways = st.lists(st.sampled_from(["handled", "preempted", "blocked", "moved"]), max_size=4)
    for what in data.draw(ways.filter(lambda names: names.count("moved") <= 1)):  # there are two CPUs
        if what == "handled":
            cpu.spend(Cause.RETURN, data.draw(GAP))
            cpu.does(data.draw(st.one_of(IRQS, SOFTIRQS, HARD_DOING)))
        elif what == "preempted":
            cpu.preempted(data.draw(LONG), data.draw(GAP))
        elif what == "blocked":
            waker = data.draw(st.sampled_from(["task", "irq", "softirq"]))
            cpu.blocked(data.draw(LONG), waker, data.draw(GAP))
        else:
            cpu.moved(data.draw(st.integers(1, 40_000)), data.draw(GAP))
    cpu.spend(Cause.RETURN, data.draw(GAP))
    if data.draw(st.booleans()):
        cpu.faults(data.draw(st.integers(1, 100_000)))
