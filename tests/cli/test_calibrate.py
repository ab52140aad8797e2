"""`howlate calibrate`: what is refused before anything is measured, the exit code, and what is printed. It is tried
for real in tests/lab/test_inject.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from howlate.analysis.calibration import KindResult, Undisturbed
from howlate.analysis.cause import Cause
from howlate.calibrate import Calibration, KernelCalibration
from howlate.errors import ExitCode
from howlate.execute import Failure
from howlate.model.plan import Cell
from howlate.report.calibration import calibration_document, calibration_json
from howlate.words.statement import Statement

from .commands import Run, is_a_sentence

CALM = Undisturbed(1000, 4_000, 6_000, 2_000)
GOOD = KindResult(
    "6.1-rt", "irqs-off", 30, away=4, found=26, right=26, errors_ns=(300,) * 26, size_limit_ns=3_000
)
NOT_HERE = KindResult("6.1-rt", "softirq", 30, passed=27, away=3, passed_ns_max=8_000)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--kinds", "softirk"], "softirq"),
        (["--count", "9"], "10"),
        (["--count", "100000"], "2000"),
        (["--above", "soon"], "--above"),
        (["--above", "1s"], "--above"),
        (["--cpus", "2"], "--kernels"),
    ],
)
def test_wrong_words_are_a_sentence_with_a_remedy_and_code_2(
    howlate: Run, words: list[str], says: str
) -> None:
    done = howlate("calibrate", *words)
    assert done.code == 2, done
    assert says in done.err and is_a_sentence(done.err)
    assert done.out == "" and not Path("runs").exists()


def found(*results: KindResult, calm: Undisturbed = CALM, **more: tuple[Failure, ...]) -> Calibration:
    return Calibration(
        Path("runs/x"),
        (KernelCalibration("6.1-rt", calm, results),),
        more.get("impossible", ()),
        more.get("broken", ()),
    )


def failure(code: ExitCode, cell: Cell) -> Failure:
    return Failure(cell, code, Statement.verbatim("the module howlate_inject is not loaded."))


@pytest.fixture
def cell() -> Cell:
    return Cell("c", "cyclic", {"inject": "softirq"}, {"inject": "softirq"}, 1, 1.0)


def test_the_exit_code_says_whether_all_limits_are_kept(cell: Cell) -> None:
    assert found(GOOD, NOT_HERE).exit_code is ExitCode.DONE
    assert found(GOOD, replace(GOOD, unseen=1)).exit_code is ExitCode.FAILED
    assert found(replace(GOOD, errors_ns=(3_001,))).exit_code is ExitCode.FAILED
    assert found(GOOD, calm=replace(CALM, invented=((Cause.GAP, 1),))).exit_code is ExitCode.FAILED
    assert found().exit_code is ExitCode.NOT_POSSIBLE
    impossible = (failure(ExitCode.NOT_POSSIBLE, cell),)
    assert found(GOOD, impossible=impossible).exit_code is ExitCode.DONE
    assert found(GOOD, broken=(failure(ExitCode.BROKEN, cell),)).exit_code is ExitCode.BROKEN


def test_json_and_terminal_say_the_same(cell: Cell) -> None:
    wrong = replace(GOOD, kind="lock", right=20, wrong=((Cause.IPI, 6),), lost=1)
    calibration = found(GOOD, NOT_HERE, wrong, impossible=(failure(ExitCode.NOT_POSSIBLE, cell),))
    told = calibration_json(calibration)
    kinds = {each["kind"]: each for each in told["kernels"][0]["kinds"]}
    assert kinds["irqs-off"]["kept"] and kinds["irqs-off"]["error_ns"] == {
        "median": 300,
        "max": 300,
        "limit": 3_000,
    }
    assert kinds["softirq"]["delays_here"] is False and kinds["softirq"]["kept"]
    assert kinds["lock"]["wrong"] == {"ipi": 6} and not kinds["lock"]["kept"] and not told["kept"]
    assert told["impossible"][0]["inject"] == "softirq"
    document = calibration_document(calibration)
    said = " ".join(str(item) for item in document.items())
    for words in ("does not delay here", "NOT KEPT", "howlate_inject"):
        assert words in said
