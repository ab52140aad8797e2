"""`howlate calibrate`: what is refused before anything is measured, the exit code, and what is printed. It is tried
for real in tests/lab/test_inject.py."""

import io
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from cli.commands import Run, is_a_sentence
from howlate.document.document import Document
from howlate.document.document_terminal import print_document
from howlate.document.sheet import NOTHING, Sheet
from howlate.errors import ExitCode
from howlate.measure.execute import Failure
from howlate.model.cause import Cause, CausePart, ExplainedCase
from howlate.model.plan import Cell
from howlate.model.trace import TraceCase
from howlate.why.calibrate.calibration import KindResult, Undisturbed, undisturbed
from howlate.why.calibrate.document import CALM as CALM_SAMPLES
from howlate.why.calibrate.document import (
    CALM_DISTURBED,
    CALM_EMPTY,
    calibration_document,
    calibration_json,
    statements,
)
from howlate.why.calibrate.flow import Calibration, KernelCalibration
from howlate.why.calibrate.injected import InjectedCell, Window
from howlate.words.statement import Statement

CALM = Undisturbed(1000, 4_000, 6_000, 2_000)
GOOD = KindResult(
    "6.1-rt",
    "irqs-off",
    30,
    away=4,
    unusual=26,
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
    assert CALM_EMPTY(kernel="6.1") in statements(replace(one, kernels=(*one.kernels, empty)))


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
    assert shown(found(none))["error_max"] == NOTHING


def shown(calibration: Calibration) -> dict[str, str | int | float]:
    """The figures in the last row of the tables."""
    sheets = [each for each in calibration_document(calibration).sections[0].items if isinstance(each, Sheet)]
    cells = {column.key: column.cells[-1] for sheet in sheets for column in sheet.columns}
    return {key: cell.text if cell.value is None else cell.value for key, cell in cells.items()}


def test_delays_that_could_not_be_made_as_wanted_are_counted_apart() -> None:
    assert "unwanted" not in shown(found(GOOD))
    assert shown(found(replace(GOOD, injected=40, unwanted=10)))["unwanted"] == 10


def test_what_is_said_of_the_samples_without_a_delay() -> None:
    (calm,) = statements(found(GOOD))
    assert calm.rule == CALM_SAMPLES.id and calm.values["late"] == 0
    few = replace(CALM, late=40, invented=((Cause.IRQ, 3),), is_virtual=False)
    calm, causes = statements(found(GOOD, calm=few))
    assert (calm.values["late"], calm.values["invented"], calm.values["limit"]) == (40, 3, 0.01)
    assert [each.texts[0] for each in causes.values["causes"]] == ["3 ×"]
    more = replace(DISTURBED, undecided=((Cause.GAP, 7),), unexplained=2)
    calm, causes, disturbed = statements(found(GOOD, calm=more))
    assert [calm.values[name] for name in ("invented", "undecided", "unexplained")] == [11, 7, 2]
    assert [each.texts[0] for each in causes.values["causes"]] == ["11 ×", "7 ×"]
    assert disturbed == CALM_DISTURBED()
    told = calibration_json(found(GOOD, calm=more))["kernels"][0]["undisturbed"]
    assert (told["late"], told["unexplained"], told["kept"]) == (40, 2, False)
    assert (told["invented"], told["undecided"]) == ({"irq": 11}, {"gap": 7})


@pytest.mark.parametrize(("right", "rests"), [(0, True), (99, False)])
def test_causes_that_are_right_as_far_as_events_tell_are_counted_apart(right: int, rests: bool) -> None:
    calibration = found(replace(GOOD, injected=104, unusual=100, right=right, undecided=100 - right))
    told = calibration_json(calibration)["kernels"][0]["kinds"][0]
    assert (told["right"], told["undecided"], told["rests_on_undecided"]) == (right, 100 - right, rests)
    assert told["kept"]
    row = shown(calibration)
    assert (row["right"], row["undecided"]) == (right, 100 - right)
    assert (row["outcome"] == "kept") is not rests


def test_what_rests_on_the_uncertainty_of_a_delay_is_counted_and_shown() -> None:
    uncertain = replace(
        GOOD,
        injected=200,
        unusual=199,
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
    row = shown(calibration)
    assert (row["uncertainty"], row["within"], row["unmeasurable"]) == (1_500, 1, 1)
    assert not shown(found(GOOD)).keys() & {"uncertainty", "within", "unmeasurable"}


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
