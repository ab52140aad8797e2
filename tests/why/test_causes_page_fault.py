"""For how long a page fault is the cause, and what it waits for."""

import pytest
from msgspec.structs import replace

from howlate.model.cause import Cause
from howlate.why.case_events import MachineFacts
from howlate.why.thread_timeline import FAULT_NS
from made_trace import HARD, IDLE, LAB, LOAD, OWN, MadeTrace, usual


def test_a_page_fault_of_the_task_and_the_disk_that_it_waits_for() -> None:
    made = usual(MadeTrace().asleep()).add(2_500, "page_fault_user", 0, a=1, b=2, c=4)
    assert made.explained(30_000).largest.cause is Cause.PAGE_FAULT
    made = usual(MadeTrace().asleep()).add(2_500, "page_fault_user", 0, a=1, b=2, c=4)
    made.switch(4_000, IDLE, 2).add(90_000, "irq_handler_entry", HARD, a=9).waking(90_100)
    made.add(90_200, "irq_handler_exit", HARD, a=9).switch(91_000, OWN, 0)
    found = made.explained(92_000)
    assert found.ns_of(Cause.PAGE_FAULT) == 1_500 + 86_100
    assert found.ns_of(Cause.IRQ) == 100  # the disk's, and no timer's


def test_a_lock_that_the_task_waits_for_long_after_a_page_fault_is_no_page_fault() -> None:
    made = usual(MadeTrace().asleep()).add(10_000, "page_fault_user", 0, a=1, b=2, c=4)
    made.switch(300_000, LOAD, 2).waking(490_000, flags=0).switch(491_000, OWN, 0)
    found = made.explained(492_000)
    assert found.ns_of(Cause.BLOCKED) == 190_000
    assert found.ns_of(Cause.PAGE_FAULT) == FAULT_NS


def test_a_task_that_goes_on_with_its_own_work_is_in_its_page_faults_for_a_bounded_time() -> None:
    """Two faults in the work of the release before, which takes longer than both."""
    made = MadeTrace().switch(-50_000, OWN)
    made.add(20_000, "page_fault_user", 0, a=1, b=2, c=4)
    made.add(90_000, "page_fault_user", 0, a=1, b=2, c=4)
    found = made.explained(400_000)
    assert found.ns_of(Cause.PAGE_FAULT) == 70_000 + FAULT_NS
    assert found.ns_of(Cause.OWN_LATE) == 20_000 + 400_000 - 90_000 - FAULT_NS


HUGE = replace(LAB, may_clear_huge=True)
ABSENT_WRITE = {"a": 0x7F0000200000, "b": 2, "c": 6}
"""A write to an absent page, which is the only one in its 2 MiB; the task keeps the CPU all the while."""


@pytest.mark.parametrize("is_on", [True, False])
def test_a_huge_page_is_cleared_for_longer_where_the_kernel_has_them(is_on: bool) -> None:
    made = usual(MadeTrace().asleep()).add(2_500, "page_fault_user", 0, **ABSENT_WRITE)
    found = made.explained(300_000, replace(LAB, may_clear_huge=is_on))
    assert found.ns_of(Cause.PAGE_FAULT) == (297_500 if is_on else FAULT_NS)


@pytest.mark.parametrize(
    ("at", "facts", "took"), [(5_000, HUGE, 395_000), (5_000, LAB, FAULT_NS), (-150_000, HUGE, 0)]
)
def test_own_work_after_a_fault_is_own_work(at: int, facts: MachineFacts, took: int) -> None:
    """A fault long before the release has been over for as long as its code may say."""
    made = MadeTrace().switch(-190_000, OWN).add(at, "page_fault_user", 0, **ABSENT_WRITE)
    found = made.explained(400_000, facts)
    assert found.ns_of(Cause.PAGE_FAULT) == took
    assert found.ns_of(Cause.OWN_LATE) == 400_000 - took


@pytest.mark.parametrize(("address", "code"), [(0x7F0000201000, 4), (0x7F0000201000, 7), (0x7F0000200008, 6)])
def test_another_page_fault_is_no_huge_page(address: int, code: int) -> None:
    """A read, a write to a page that is there, and one of two faults in the same 2 MiB."""
    made = MadeTrace().switch(-50_000, OWN)
    if code == 6:
        made.add(5_000, "page_fault_user", 0, a=0x7F0000203000, b=2, c=6)
    made.add(10_000, "page_fault_user", 0, a=address, b=2, c=code)
    found = made.explained(300_000, HUGE)
    assert found.parts[-1].cause is Cause.OWN_LATE and found.parts[-1].ns == 290_000 - FAULT_NS
