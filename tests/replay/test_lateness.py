from collections.abc import Sequence

import pytest

from howlate.model.cause import Cause, Why
from howlate.replay.call_stacks import Call, Task
from howlate.replay.execution import INTERRUPT, Execution
from howlate.replay.lateness import Slice, lateness_of, parts_of
from howlate.replay.log import Switch
from howlate.replay.release_path import release_path
from made_execution import CALL, CLI, IRET, PLAIN, RDTSC, RETURN, STI, SYSRET, execution

Steps = Sequence[tuple[str, int, bytes]]
STEPS: Steps = [
    *(("work", 0, PLAIN),) * 3,
    ("work", 1, CLI),
    *(("work", 2, PLAIN),) * 10,  # the release is among them
    ("work", 3, STI),
    ("work", 4, PLAIN),
    ("asm_sysvec_apic_timer_interrupt", 0, CALL),
    *(("hrtimer_interrupt", 0, PLAIN),) * 5,
    ("hrtimer_interrupt", 1, RETURN),
    ("asm_sysvec_apic_timer_interrupt", 5, IRET),
    *(("work", 5, PLAIN),) * 20,
    ("work", 6, CALL),
    *(("__schedule", 0, PLAIN),) * 4,
    ("__schedule", 1, CALL),
    ("__switch_to", 0, RETURN),
    ("__schedule", 6, RETURN),
    *(("do_nanosleep", 6, PLAIN),) * 2,
    ("do_nanosleep", 7, RETURN),
    ("entry_SYSCALL_64", 5, SYSRET),
    ("main", 2, PLAIN),
    ("main", 3, RDTSC),
    ("main", 5, PLAIN),
]
STAMP = len(STEPS) - 2
RELEASE = 8


def made(counted: Sequence[tuple[int, int]] = ((0, 0), (24, 1), (29, 0)), steps: Steps = STEPS) -> Execution:
    switch = next(number for number, step in enumerate(steps) if step[0] == "__switch_to")
    back = next(number for number, step in enumerate(steps) if step[2] == IRET) + 1
    left = next(number for number, step in enumerate(steps) if step[2] == SYSRET) + 1
    return execution(
        steps, flags=[(0, True), (back, True), (left, True)], switches=[Switch(switch, 1, 2)], counts=counted
    )


def test_the_parts_add_up_to_the_latency_and_say_what_it_went_to() -> None:
    found = lateness_of(made(), 1000 + RELEASE, STAMP - RELEASE, STAMP)
    assert [(part.cause, part.why, part.ns) for part in found.parts] == [
        (Cause.IRQ_LATE, None, 7),
        (Cause.TIMER_IRQ, Why.BEFORE_INTERRUPT, 1),
        (Cause.TIMER_IRQ, None, 8),
        (Cause.NOT_PREEMPTIBLE, Why.NO_KERNEL_PREEMPTION, 21),
        (Cause.SWITCH, None, 5),
        (Cause.RETURN, None, 7),
    ]
    assert sum(part.ns for part in found.parts) == found.latency_ns == found.instructions
    held = found.parts[3]
    assert dict(held.reasons) == {Why.NO_KERNEL_PREEMPTION: 16, Why.PREEMPTION_OFF: 5}
    assert held.function == "work"
    assert (found.parts[2].name, found.parts[2].function) == ("", "hrtimer_interrupt")


def test_where_the_preemption_count_was_not_read_the_chain_of_calls_tells_a_lock_and_else_nothing() -> None:
    """As on arm64. The last of what is held is four instructions of a lock, and a call back."""
    after = next(number for number, step in enumerate(STEPS) if step[0] == "__schedule") - 1
    locked = [("work", 6, CALL), *(("_raw_spin_lock", 0, PLAIN),) * 4, ("_raw_spin_lock", 1, RETURN)]
    steps = [*STEPS[:after], *locked, ("work", 11, CALL), *STEPS[after + 1 :]]
    stamp = len(steps) - 2
    held = lateness_of(made((), steps), 1000 + RELEASE, stamp - RELEASE, stamp).parts[3]
    assert (held.cause, dict(held.reasons)) == (Cause.NOT_PREEMPTIBLE, {Why.UNCOUNTED: 22, Why.IN_LOCK: 5})


def test_each_function_has_its_own_instructions_and_those_of_all_it_called() -> None:
    found = {
        each.name: each for each in lateness_of(made(), 1000 + RELEASE, STAMP - RELEASE, STAMP).functions
    }
    assert (found["work"].self_ns, found["work"].inclusive_ns) == (29, 42)
    assert (found["hrtimer_interrupt"].self_ns, found["hrtimer_interrupt"].inclusive_ns) == (6, 6)
    assert found["hrtimer_interrupt"].stack == (
        "work",
        "asm_sysvec_apic_timer_interrupt",
        "hrtimer_interrupt",
    )
    assert found["do_nanosleep"].stack == ("main", "entry_SYSCALL_64", "do_nanosleep")


def test_a_release_while_the_cpu_was_halted_begins_with_the_rest_of_the_halt() -> None:
    steps = [("work", 0, PLAIN), ("work", 1, bytes.fromhex("f4")), *STEPS[16:]]
    switch = next(number for number, step in enumerate(steps) if step[0] == "__switch_to")
    stamp = len(steps) - 2
    anchors = [(0, 1000), (len(steps), 1000 + len(steps) + 500)]
    idle = execution(steps, anchors, switches=[Switch(switch, 1, 2)])
    found = lateness_of(idle, 1400, stamp + 500 - 400, stamp)
    assert (found.parts[0].cause, found.parts[0].ns, found.halted_ns) == (Cause.IDLE, 102, 102)
    assert sum(part.ns for part in found.parts) == stamp + 100


ENDED = next(number for number, step in enumerate(STEPS) if step[0] == "__switch_to") + 1
"""Of the switch."""
FREES = [*(("free_page", 0, PLAIN),) * 50, ("free_page", 1, RETURN)]
CLEANS_UP = [("finish", 0, PLAIN), ("finish", 1, CALL), *FREES, ("finish", 6, RETURN)]
FINISHES = (
    "finish_task_switch",
    "finish_task_switch.isra.0",
    "finish_task_switch.constprop.0",
    "finish_lock_switch",
    "finish_arch_post_lock_switch",
    "__mmdrop",
)


@pytest.mark.parametrize("name", [*FINISHES, "a_function_of_a_later_kernel"])
def test_what_is_cleaned_up_after_the_switch_to_the_task_holds_the_cpu_and_is_no_part_of_the_switch(
    name: str,
) -> None:
    steps = [
        *STEPS[:ENDED],
        ("__schedule", 6, CALL),
        *CLEANS_UP,
        ("__schedule", 11, RETURN),
        *STEPS[ENDED + 1 :],
    ]
    stamp = len(steps) - 2
    switch = ENDED - 1
    made_it = execution(
        steps, flags=[(0, True), (24, True), (stamp - 1, True)], switches=[Switch(switch, 1, 2)],
        counts=[(0, 0), (switch, 2)], named={"finish": name},
    )  # fmt: skip
    found = lateness_of(made_it, 1000 + RELEASE, stamp - RELEASE, stamp)
    cleaned = len(CLEANS_UP)
    assert [(part.cause, part.ns) for part in found.parts[4:]] == [
        (Cause.SWITCH, 5),
        (Cause.RETURN, 2),
        (Cause.NOT_PREEMPTIBLE, cleaned),
        (Cause.RETURN, 6),
    ]
    assert (found.parts[6].function, dict(found.parts[6].reasons)) == (
        "free_page",
        {Why.PREEMPTION_OFF: cleaned},
    )
    path = release_path(made_it, 1000 + RELEASE, stamp - RELEASE, stamp)
    plain = release_path(made(), 1000 + RELEASE, STAMP - RELEASE, STAMP)
    assert (path.own_ns, path.held_ns) == (plain.own_ns + 1, plain.held_ns + cleaned)
    assert path.interruptions == plain.interruptions


def by_another_task(caller: str, name: str) -> list[tuple[Cause, int]]:
    """Parts from the scheduler's on, where a task runs between the holder and the measuring one: it cleans up for
    `caller`, and gives the CPU away."""
    cleans_up = [(caller, 6, CALL), *CLEANS_UP, (caller, 11, RETURN)]
    first_switch = ENDED - 1
    away = [("__schedule", 0, PLAIN)] * 4 + [("__schedule", 1, CALL), ("__switch_to", 0, RETURN)]
    steps = [*STEPS[:ENDED], *cleans_up, ("schedule", 0, PLAIN), ("schedule", 1, CALL), *away]
    switches = [Switch(first_switch, 1, 3), Switch(len(steps) - 1, 3, 2)]
    steps += STEPS[ENDED:]
    stamp = len(steps) - 2
    found = execution(
        steps, flags=[(0, True), (24, True), (stamp - 1, True)], switches=switches,
        counts=[(0, 0), (first_switch, 2)], named={"finish": name, "lock": "ret_from_fork"},
    )  # fmt: skip
    return [
        (part.cause, part.ns) for part in lateness_of(found, 1000 + RELEASE, stamp - RELEASE, stamp).parts[4:]
    ]


@pytest.mark.parametrize("name", FINISHES)
def test_another_task_that_is_switched_to_cleans_up_first_and_asks_the_scheduler_again(name: str) -> None:
    """What calls the scheduler again is no other task that was executed."""
    assert by_another_task("__schedule", name) == [
        (Cause.SWITCH, 7),
        (Cause.NOT_PREEMPTIBLE, len(CLEANS_UP)),
        (Cause.SWITCH, 8),
        (Cause.RETURN, 7),
    ]


@pytest.mark.parametrize("name", ["schedule_tail", "finish_task_switch.isra.0"])
def test_a_new_task_cleans_up_without_having_called_the_scheduler(name: str) -> None:
    found = by_another_task("lock", name)
    assert (Cause.NOT_PREEMPTIBLE, len(CLEANS_UP)) in found
    assert sum(ns for cause, ns in found if cause is Cause.HIGHER_TASK) == 2  # ret_from_fork


@pytest.mark.parametrize(
    ("entry", "callee", "cause", "name"),
    [
        ("asm_sysvec_apic_timer_interrupt", "sysvec_apic_timer_interrupt", Cause.TIMER_IRQ, ""),
        ("asm_common_interrupt", "arch_timer_handler_virt", Cause.TIMER_IRQ, ""),
        ("asm_common_interrupt", "handle_edge_irq", Cause.IRQ, "asm_common_interrupt"),
        ("asm_sysvec_reschedule_ipi", "scheduler_ipi", Cause.IPI, "asm_sysvec_reschedule_ipi"),
        ("asm_common_interrupt", "ipi_handler", Cause.IPI, "asm_common_interrupt"),
        ("asm_sysvec_hyperv_callback", "hyperv_stimer0", Cause.IRQ, "asm_sysvec_hyperv_callback"),
    ],
)
def test_an_interrupt_is_told_by_the_functions_that_it_calls(
    entry: str, callee: str, cause: Cause, name: str
) -> None:
    switch = next(number for number, step in enumerate(STEPS) if step[0] == "__switch_to")
    back = next(number for number, step in enumerate(STEPS) if step[2] == IRET) + 1
    made_it = execution(
        STEPS, flags=[(0, True), (back, True), (len(STEPS) - 4, True)], switches=[Switch(switch, 1, 2)],
        counts=[(0, 0)], named={"asm_sysvec_apic_timer_interrupt": entry, "hrtimer_interrupt": callee},
    )  # fmt: skip
    part = lateness_of(made_it, 1000 + RELEASE, STAMP - RELEASE, STAMP).parts[2]
    assert (part.cause, part.name, part.function) == (cause, name, callee)


def test_a_softirq_that_keeps_the_cpu_is_interference_by_its_handler() -> None:
    after = next(number for number, step in enumerate(STEPS) if step[0] == "__schedule") - 1
    softirq = [("work", 6, CALL), ("lock", 0, PLAIN), ("lock", 1, CALL), *FREES, ("lock", 6, RETURN)]
    steps = [*STEPS[:after], *softirq, ("work", 11, CALL), *STEPS[after + 1 :]]
    stamp, switch = len(steps) - 2, next(n for n, step in enumerate(steps) if step[0] == "__switch_to")
    back = next(number for number, step in enumerate(steps) if step[2] == IRET) + 1
    made_it = execution(
        steps, flags=[(0, True), (back, True), (stamp - 1, True)], switches=[Switch(switch, 1, 2)],
        counts=[(0, 0)], named={"lock": "handle_softirqs", "free_page": "net_rx_action"},
    )  # fmt: skip
    found = lateness_of(made_it, 1000 + RELEASE, stamp - RELEASE, stamp)
    (part,) = (part for part in found.parts if part.cause is Cause.SOFTIRQ)
    assert (part.name, part.ns, part.reasons) == ("net_rx_action", len(softirq) - 1, ())
    assert sum(each.ns for each in found.parts) == found.latency_ns


def test_an_interrupt_of_what_stands_on_another_interrupt_is_its_own() -> None:
    """What the IPI interrupts was preempted at the end of the timer's interrupt."""
    call: Call | None = None
    for name in (
        "work",
        "asm_sysvec_apic_timer_interrupt",
        "preempt_schedule_irq",
        "asm_sysvec_reschedule_ipi",
    ):
        call = Call(name, call, Task(0), INTERRUPT if name.startswith("asm_") else "")
    assert call is not None
    (part,) = parts_of([Slice(Cause.TIMER_IRQ, None, 0, 5, call)])
    assert (part.cause, part.name) == (Cause.IPI, "asm_sysvec_reschedule_ipi")
