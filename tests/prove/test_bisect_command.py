"""`howlate lab bisect --window`: what it refuses, and what skips a step. No guest is needed."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

from howlate.cli._progress import execute_cells
from howlate.errors import (
    DamagedError,
    GuestError,
    HowlateError,
    TargetError,
    UnfitKernelError,
    UsageError,
)
from howlate.lab.archive.packages import AbsentError
from howlate.lab.problems import NOT_IN_ARCHIVE, UNUSABLE, guest_failed, not_installed
from howlate.lab.replay import STAMP_NOT_FOUND
from howlate.lab.targets.lab import LabTarget
from howlate.measure.prepare import RunRequest
from howlate.prove import measured_steps
from howlate.prove.bisected import WINDOWS, Step, StepAnswer, StepRequest, StepSide
from howlate.prove.forked_part import UNEQUAL
from howlate.prove.lab._search_line import showing
from howlate.prove.lab.bisect import BisectOptions
from howlate.prove.landscape import Goal, Probed, ReleaseWindow, Search
from howlate.prove.measured_steps import MeasuredSteps
from howlate.prove.proof import Landscape, Proof
from howlate.prove.searched import ProofRequest
from howlate.replay.execution import TIME_UNEXPLAINED
from howlate.studies import find_study
from howlate.words.say import english

LIMIT_NS = 100_000
STEP = Step("6.1", "", "6.1")


def options(*changes: str, window: str = "20ms") -> BisectOptions:
    return BisectOptions("6.1", "6.12", None, "", window, changes, ())


@pytest.mark.parametrize("change", ["period=2ms", "load=none;policy=other", "cyclic.load=none"])
def test_a_setting_that_a_single_release_does_not_have_is_refused(change: str) -> None:
    with pytest.raises(UsageError, match="does not go with --window"):
        options("load=none", *change.split(";")).check()
    options(*change.split(";"), window="").check()
    options("load=none").check()


class OpenedTarget:
    """Of one machine."""

    machines = ("6.1",)

    def close(self) -> None:
        pass


def answered(
    monkeypatch: pytest.MonkeyPatch, proof_of: Callable[[ProofRequest], Proof], again: bool = False
) -> StepAnswer:
    def searched(
        target: LabTarget, machine: str, load: str, asked: ProofRequest, showing: object
    ) -> tuple[Proof, list[object]]:
        return proof_of(asked), []

    monkeypatch.setattr(measured_steps, "searched", searched)
    steps = MeasuredSteps(
        request=RunRequest(find_study("preemption-models"), ("load=cpu:50",)),
        limit_ns=LIMIT_NS,
        window_ns=20_000_000,
        build="",
        folder=Path(),
        opened=lambda label, own: cast(LabTarget, OpenedTarget()),
        execute=execute_cells,
        showing=showing,
    )
    return steps.proved(STEP, StepRequest(again=again))


def proof(found_ns: int, goal: Goal) -> Proof:
    search = Search(ReleaseWindow(0, 1), goal, 0)
    search.add(Probed(0, found_ns))
    return Proof.of_search(Landscape("6.1", "cpu:50", 0), search, [])


@pytest.mark.parametrize(
    "problem",
    [
        GuestError(guest_failed("it ended")),
        UnfitKernelError(UNUSABLE(what="6.1", reason="it has no symbols", hint="")),
        AbsentError(NOT_IN_ARCHIVE(what="linux-image", hint="")),
    ],
)
def test_a_kernel_that_dies_is_unfit_or_cannot_be_had_skips_the_step_and_says_why(
    monkeypatch: pytest.MonkeyPatch, problem: HowlateError
) -> None:
    answer = answered(monkeypatch, failing_with(problem))
    assert answer.side is StepSide.SKIP
    assert answer.why is not None and problem.message in english(answer.why)


@pytest.mark.parametrize(
    "problem",
    [
        TargetError(UNEQUAL(what="latency", again_ns=2, before_ns=3, path="kept.json")),
        TargetError(STAMP_NOT_FOUND(cell="6.1")),
        DamagedError(TIME_UNEXPLAINED(ns=5)),
        not_installed("qemu-system-x86_64", "qemu-system-x86"),
    ],
)
def test_a_defect_of_howlate_or_what_this_machine_lacks_ends_the_search(
    monkeypatch: pytest.MonkeyPatch, problem: HowlateError
) -> None:
    """Skipped steps would hide it: the next kernel has it too."""
    with pytest.raises(type(problem)) as caught:
        answered(monkeypatch, failing_with(problem))
    assert caught.value is problem


def failing_with(problem: HowlateError) -> Callable[[ProofRequest], Proof]:
    def fails(asked: ProofRequest) -> Proof:
        raise problem

    return fails


def test_a_step_is_asked_in_windows_that_do_not_touch_and_again_in_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[ProofRequest] = []

    def kept(question: ProofRequest) -> Proof:
        asked.append(question)
        return proof(50_000, question.goal)

    for again in (False, True):
        assert answered(monkeypatch, kept, again).side is StepSide.GOOD
    assert _begins(asked) == sorted(_begins(asked)) and len(asked) == 2 * WINDOWS
    assert all(question.worst for question in asked)  # what is found counts, whoever objects to a bound
    assert all(one.length_ns == 20_000_000 and one.checks for one in asked)
    assert min(b - a for a, b in zip(_begins(asked), _begins(asked)[1:], strict=False)) > 20_000_000


def _begins(asked: Sequence[ProofRequest]) -> list[int]:
    return [one.first_ns for one in asked]
