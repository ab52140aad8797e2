"""Validity: each check fails the cell by its own sentence, and warnings do not."""

from typing import Any

import pytest
from msgspec.structs import replace

from howlate.statistics.valid import UNWATCHED, CellRecord, LoadRecord, ThreadAccount, failures, warnings
from howlate.words.say import english
from howlate.words.statement import Statement

THREAD = ThreadAccount(0, 1)
SLOW = Statement.verbatim("slow disk.")
GOOD = CellRecord(1_000, threads=(THREAD,), clocksource_before="tsc", clocksource_after="tsc", realtime=True)


def with_thread(**changes: Any) -> CellRecord:
    other = replace(THREAD, **changes)
    return replace(GOOD, threads=(THREAD, other))


def test_a_good_cell_has_nothing_to_be_said() -> None:
    assert failures(GOOD) == []
    assert warnings(GOOD) == []


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (replace(GOOD, end="cut", end_reason="here"), "did not end by itself (here)"),
        (replace(GOOD, end="damaged", end_reason="there"), "is damaged (there)"),
        (replace(GOOD, stop_reason="failed"), "failed before its end"),
        (replace(GOOD, account_problems=("it is off by one",)), "it is off by one."),
        (replace(GOOD, samples=0), "no sample outside warm-up"),
        (with_thread(dropped=1), "1 sample dropped"),
        (with_thread(minor_faults=3), "3 minor and 0 major page faults"),
        (with_thread(major_faults=1), "0 minor and 1 major page faults"),
        (replace(with_thread(minor_faults=1), memory_lock="none"), "raise `ulimit -l`"),
        (replace(with_thread(minor_faults=1), memory_lock="present"), "raise `ulimit -l`"),
        (with_thread(stage_switches=1), "left the stage of its real-time core 1 time"),
        (with_thread(stage_switches=3), "left the stage of its real-time core 3 times"),
        (replace(GOOD, clocksource_after="hpet"), "from tsc to hpet"),
    ],
)
def test_a_failed_check_is_one_sentence(cell: CellRecord, sentence: str) -> None:
    (failure,) = failures(cell)
    assert sentence in english(failure)
    assert english(failure).endswith(".")


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (
            replace(GOOD, steal_ns=20_000_000, duration_ns=10**9, cpus=2),
            "took 20.0 ms (1.0 % of the measuring CPUs' time)",
        ),
        (replace(GOOD, smi_count=2), "2 system management interrupts"),
        (with_thread(involuntary_switches=1), "switched out 1 time involuntarily"),
        (with_thread(migrations=4), "migrated 4 times although"),
        (replace(GOOD, as_published=True), "never catches up"),
        (
            replace(GOOD, loads=(LoadRecord("cpu:50", 0.5, 0.46),)),
            "46 % of its CPUs, and its target is 50 %",
        ),
        (
            replace(GOOD, loads=(LoadRecord("disk", None, 0.2, (SLOW,)),)),
            "the load disk: slow disk.",
        ),
        (replace(GOOD, probe_warnings=(SLOW,)), "slow disk."),
    ],
)
def test_a_warning_leaves_the_cell_valid(cell: CellRecord, sentence: str) -> None:
    (warning,) = warnings(cell)
    assert sentence in english(warning)
    assert failures(cell) == []


def test_what_is_usual_for_ordinary_tasks_is_not_warned_of() -> None:
    assert warnings(replace(with_thread(involuntary_switches=9), realtime=False)) == []
    assert warnings(replace(with_thread(involuntary_switches=9), switched_by_design=True)) == []
    assert warnings(replace(with_thread(migrations=9), pinned=False)) == []
    assert warnings(replace(GOOD, loads=(LoadRecord("cpu:50", 0.5, 0.475),))) == []


def test_a_test_that_watched_nothing_is_inconclusive_and_not_valid() -> None:
    cell = CellRecord(0, may_be_empty=True, unwatched="duration 8ms, window 1s, width 500ms")
    assert failures(cell) == [UNWATCHED(options=cell.unwatched)]
