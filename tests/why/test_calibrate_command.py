"""`howlate calibrate`: what is refused before anything is measured, the exit code, and what is printed. It is tried
for real in tests/lab/test_inject.py."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from cli.commands import Run, is_a_sentence
from howlate.document.document import Document
from howlate.document.document_terminal import print_document
from howlate.errors import ExitCode
from howlate.measure.execute import Failure
from howlate.model.cause import Cause, CausePart, ExplainedCase
from howlate.model.plan import Cell
from howlate.model.trace import TraceCase
from howlate.why.calibrate.calibration import KindResult, Undisturbed, undisturbed
from howlate.why.calibrate.document import calibration_document, calibration_json
from howlate.why.calibrate.flow import Calibration, KernelCalibration
from howlate.why.calibrate.injected import InjectedCell, Window
from howlate.words.statement import Statement

CALM = Undisturbed(1000, 4_000, 6_000, 2_000)
GOOD = KindResult(
    "6.1-rt",
    "irqs-off",
    30,
    away=4,
    found=26,
    right=26,
    errors_ns=(300,) * 26,
    size_limit_ns=3_000,
    uncertainties_ns=(0,) * 26,
)
DISTURBED = replace(CALM, late=40, invented=((Cause.IRQ, 11),), is_virtual=False)
NOT_HERE = KindResult("6.1-rt", "softirq", 30, passed=27, away=3, passed_ns_max=8_000)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--kinds", "softirk"], "softirq"),
        (["--count", "9"], "10"),
        (["--count", "100000"], "2000"),
        (["--above", "soon"], "--above"),
        (["--above", "1s"], "--above"),
        (["--guest-cpus", "2"], "--kernels"),
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
    assert found(replace(GOOD, errors_ns=(3_001,) * 26)).exit_code is ExitCode.FAILED
    assert found(GOOD, calm=DISTURBED).exit_code is ExitCode.FAILED
    assert found().exit_code is ExitCode.NOT_POSSIBLE
    impossible = (failure(ExitCode.NOT_POSSIBLE, cell),)
    assert found(GOOD, impossible=impossible).exit_code is ExitCode.DONE
    assert found(GOOD, broken=(failure(ExitCode.BROKEN, cell),)).exit_code is ExitCode.BROKEN


def test_without_an_undisturbed_sample_nothing_can_be_concluded(cell: Cell) -> None:
    empty = KernelCalibration("6.1", Undisturbed(0, 0, 0, 0), ())
    one = found(GOOD)
    assert replace(one, kernels=(empty,)).exit_code is ExitCode.INCONCLUSIVE
    assert replace(one, kernels=(*one.kernels, empty)).exit_code is ExitCode.INCONCLUSIVE
    missed = found(replace(GOOD, unseen=1))
    assert replace(missed, kernels=(*missed.kernels, empty)).exit_code is ExitCode.FAILED
    document = calibration_document(replace(one, kernels=(*one.kernels, empty)))
    assert "6.1, without a delay: no sample" in said(document)


def test_causes_that_nothing_explains_fail_on_a_real_machine_too() -> None:
    """By samples as a machine has them, with the explanations of those that were late."""
    windows = [Window(0, 1, i, i * 10**6, 90_000 if i < 20 else 5_000) for i in range(1000)]
    cases = [
        ExplainedCase(TraceCase(0, i, i * 10**6, 90_000, 0, 0), (CausePart(Cause.HIGHER_TASK, 0, 90_000),))
        for i in range(20)
    ]
    calm = undisturbed(InjectedCell("c", "", "", tuple(windows)), cases, is_virtual=False)
    assert found(GOOD, calm=calm).exit_code is ExitCode.FAILED
    assert found(GOOD, calm=replace(calm, invented=())).exit_code is ExitCode.DONE


def test_a_kind_of_which_no_size_was_compared_does_not_keep_the_limits() -> None:
    none = replace(GOOD, errors_ns=(), uncertainties_ns=())
    told = calibration_json(found(none))["kernels"][0]["kinds"][0]
    assert told["error_ns"] == {"compared": 0, "median": None, "max": None, "limit": 3_000}
    assert not told["kept"] and found(none).exit_code is ExitCode.FAILED
    assert "no size was compared" in said(calibration_document(found(none)))


def test_delays_that_could_not_be_made_as_wanted_are_told() -> None:
    assert "could not be made" not in said(calibration_document(found(GOOD)))
    text = said(calibration_document(found(replace(GOOD, injected=40, unwanted=10))))
    assert "10 of 40 delays could not be made as wanted" in text


def test_what_is_said_of_the_samples_without_a_delay() -> None:
    text = said(calibration_document(found(GOOD)))
    assert "none took more than twice the median" in text
    text = said(
        calibration_document(
            found(GOOD, calm=replace(CALM, late=40, invented=((Cause.IRQ, 3),), is_virtual=False))
        )
    )
    assert "40 took more than twice the median; 3 of these" in text and "1.0 %" in text
    more = replace(DISTURBED, undecided=((Cause.GAP, 7),), unexplained=2)
    text = said(calibration_document(found(GOOD, calm=more)))
    assert "an unusual cause for 11 of these" in text and "machine was disturbed" in text
    assert "had the CPU in 7 more" in text and "2 more are unexplained" in text
    told = calibration_json(found(GOOD, calm=more))["kernels"][0]["undisturbed"]
    assert (told["late"], told["unexplained"], told["kept"]) == (40, 2, False)
    assert (told["invented"], told["undecided"]) == ({"irq": 11}, {"gap": 7})


@pytest.mark.parametrize(("right", "rests"), [(0, True), (99, False)])
def test_causes_that_are_right_as_far_as_events_tell_are_counted_apart(right: int, rests: bool) -> None:
    calibration = found(replace(GOOD, injected=104, found=100, right=right, undecided=100 - right))
    told = calibration_json(calibration)["kernels"][0]["kinds"][0]
    assert (told["right"], told["undecided"], told["rests_on_undecided"]) == (right, 100 - right, rests)
    assert told["kept"]
    text = said(calibration_document(calibration))
    assert f"{100 - right} are right as far as events can tell" in text
    assert ("only together" in text, "alone" in text) == (rests, not rests) and "99 %" in text


def test_what_rests_on_the_uncertainty_of_a_delay_is_counted_and_shown() -> None:
    uncertain = replace(
        GOOD,
        injected=200,
        found=199,
        right=199,
        unmeasurable=1,
        errors_ns=(300, 4_000),
        uncertainties_ns=(200, 1_500),
        uncertainty_limit_ns=2_000,
    )
    calibration = found(GOOD, uncertain)
    certain, told = calibration_json(calibration)["kernels"][0]["kinds"]
    assert certain["uncertainty_ns"]["max"] == certain["within_uncertainty"] == certain["unmeasurable"] == 0
    assert told["uncertainty_ns"] == {"max": 1_500, "limit": 2_000}
    assert (told["within_uncertainty"], told["unmeasurable"], told["hit"], told["kept"]) == (1, 1, 200, True)
    text = said(calibration_document(calibration))
    assert "known within 1.50 µs" in text and "not measurable" in text
    assert "1 size keeps the limit of 3.00 µs only together with its own uncertainty" in text
    assert "not measurable" not in said(calibration_document(found(GOOD)))


def said(document: Document) -> str:
    """All that is printed, in one line."""
    out = io.StringIO()
    print_document(Console(file=out, width=200), document)
    return " ".join(out.getvalue().split())


def test_json_and_terminal_say_the_same(cell: Cell) -> None:
    wrong = replace(GOOD, kind="lock", right=20, wrong=((Cause.IPI, 6),), lost=1)
    calibration = found(GOOD, NOT_HERE, wrong, impossible=(failure(ExitCode.NOT_POSSIBLE, cell),))
    told = calibration_json(calibration)
    kinds = {each["kind"]: each for each in told["kernels"][0]["kinds"]}
    assert kinds["irqs-off"]["kept"] and kinds["irqs-off"]["error_ns"] == {
        "compared": 26,
        "median": 300,
        "max": 300,
        "limit": 3_000,
    }
    assert kinds["softirq"]["delays_here"] is False and kinds["softirq"]["kept"]
    assert kinds["lock"]["wrong"] == {"ipi": 6} and not kinds["lock"]["kept"] and not told["kept"]
    assert told["impossible"][0]["inject"] == "softirq"
    text = said(calibration_document(calibration))
    for words in ("does not delay here", "NOT KEPT", "howlate_inject"):
        assert words in text
