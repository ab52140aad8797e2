"""A calibration as a document: a table of kernels and kinds, and the causes that were wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from howlate.document.document import Document, Item, Section, texts
from howlate.document.sheet import Column, Sheet, labels, numbers, times
from howlate.document.sheet import texts as column
from howlate.model.cause import Cause
from howlate.model.decode import members
from howlate.why.calibrate.calibration import KindResult, Undisturbed
from howlate.why.cause_words import NAMES
from howlate.why.late_parts import UNIT
from howlate.words.language import _
from howlate.words.statement import Caption, Listed, Statement, message

if TYPE_CHECKING:
    from howlate.why.calibrate.flow import Calibration, KernelCalibration

CALM = message(
    "calibrate.calm",
    "{kernel}, without a delay: {samples:count} samples, median {median_ns:time}, spread {spread_ns:time}. "
    "{late:count} took more than twice the median: {invented:count} by an unusual cause (limit {limit:percent} of "
    "all), {undecided:count} perhaps by a hypervisor or firmware, {unexplained:count} unexplained.",
)
CALM_DISTURBED = message(
    "calibrate.calm-disturbed",
    "The causes are invented, or this machine was disturbed. Repeat it with nothing else running.",
)
CALM_EMPTY = message(
    "calibrate.calm-empty",
    "{kernel}, without a delay: no sample was measured, so there is nothing to compare the delays with. Run it "
    "again, without --out or with another one.",
)
CAUSES = message("calibrate.causes", "{cell}, {which}: {causes:items}.")
FAILED = message("calibrate.failed", "{what} failed: {reason}.")


def calibration_document(calibration: Calibration) -> Document:
    results = [result for kernel in calibration.kernels for result in kernel.results]
    items: tuple[Item, ...] = (
        *((_sheet(results), *_details(results)) if results else ()),
        *texts("notes", list(statements(calibration))),
        *texts("cautions", list(_failures(calibration))),
    )
    return Document((Section("calibration", items, _("Delays of known size")),))


def _rare(key: str, heading: str, counts: Sequence[int]) -> list[Column]:
    return [numbers(key, heading, counts)] if any(counts) else []


def _sheet(results: Sequence[KindResult]) -> Sheet:
    return Sheet(
        "calibration",
        _("Delays of known size; times in µs"),
        (
            *_names(results),
            numbers("injected", _("injected"), [each.injected for each in results]),
            numbers("hit", _("made late"), [each.hit for each in results]),
            numbers("found", _("found"), [each.unusual for each in results]),
            numbers("lost", _("lost"), [each.lost for each in results]),
            times("error_median", _("size error, median"), [each.error_ns_median for each in results], UNIT),
            times("error_max", _("largest"), [each.error_ns_max for each in results], UNIT),
            numbers("right", _("cause right"), [each.right for each in results]),
            column("outcome", _("outcome"), [outcome_text(each) for each in results], words=True),
        ),
        kind="calibration",
    )


def _names(results: Sequence[KindResult]) -> tuple[Column, Column]:
    return (
        labels("kernel", _("kernel"), [each.kernel for each in results]),
        labels("kind", _("delay"), [each.kind for each in results]),
    )


def _details(results: Sequence[KindResult]) -> Iterator[Sheet]:
    """What is rare, of the kinds that have any of it."""
    some = [each for each in results if _is_special(each)]
    if some:
        columns = (
            *_rare("unwanted", _("not made"), [each.unwanted for each in some]),
            *_rare("unseen", _("unseen"), [each.unseen for each in some]),
            *_rare("unmeasurable", _("not measurable"), [each.unmeasurable for each in some]),
            *_rare("passed", _("passed"), [0 if each.delays_here else each.passed for each in some]),
            times("passed_max", _("passed, latest"), [each.passed_ns_max for each in some], UNIT),
            *_rare("undecided", _("right as far as events can tell"), [each.undecided for each in some]),
            times("error_limit", _("size error, limit"), [each.size_limit_ns for each in some], UNIT),
            times("uncertainty", _("ends known within"), [each.uncertainty_ns_max for each in some], UNIT),
            *_rare("within", _("sizes right only within that"), [each.within_uncertainty for each in some]),
        )
        yield Sheet("special", _("Special cases; times in µs"), (*_names(some), *columns))


def _is_special(result: KindResult) -> bool:
    return not result.delays_here or any(
        (
            result.unwanted,
            result.unseen,
            result.unmeasurable,
            result.undecided,
            result.uncertainty_ns_max,
            result.excessive_errors_ns,
        )
    )


def outcome_text(result: KindResult) -> str:
    if not result.delays_here:
        return _("does not delay here")
    if not result.keeps_limits:
        return _("NOT KEPT")
    return _("kept as far as events can tell") if result.rests_on_possible else _("kept")


def statements(calibration: Calibration) -> Iterator[Statement]:
    """What the table does not hold."""
    for kernel in calibration.kernels:
        yield from _calm_statements(kernel.kernel, kernel.calm)
        for result in kernel.results:
            cell = f"{result.kernel} {result.kind}"
            yield from _causes(cell, Caption("wrong causes"), result.wrong)
            yield from _causes(cell, Caption("late without a delay"), result.besides)


def _calm_statements(kernel: str, calm: Undisturbed) -> Iterator[Statement]:
    if not calm.samples:
        yield CALM_EMPTY(kernel=kernel)
        return
    yield CALM(
        kernel=kernel,
        samples=calm.samples,
        median_ns=calm.median_ns,
        spread_ns=calm.spread_ns,
        late=calm.late,
        invented=calm.invented_count,
        limit=calm.invented_limit,
        undecided=sum(count for _cause, count in calm.undecided),
        unexplained=calm.unexplained,
    )
    yield from _causes(kernel, Caption("causes without a delay"), (*calm.invented, *calm.undecided))
    if calm.invented_count > calm.invented_limit * calm.samples and not calm.is_virtual:
        yield CALM_DISTURBED()


def _causes(cell: str, which: Caption, causes: Sequence[tuple[Cause, int]]) -> Iterator[Statement]:
    if causes:
        counted = tuple(Listed((f"{count} ×", NAMES[cause]), " ") for cause, count in causes)
        yield CAUSES(cell=cell, which=which, causes=counted)


def _failures(calibration: Calibration) -> Iterator[Statement]:
    for failure in (*calibration.impossible, *calibration.broken):
        cell_labels = failure.cell.labels
        what = cell_labels.get("inject", cell_labels.get("part", failure.cell.id))
        yield FAILED(what=what, reason=failure.message.rstrip("."))


def calibration_json(calibration: Calibration) -> dict[str, Any]:
    return {
        "schema": 1,
        "run": str(calibration.path),
        "kept": int(calibration.exit_code) == 0,
        "kernels": [_kernel_json(kernel) for kernel in calibration.kernels],
        "impossible": [
            {"inject": failure.cell.labels.get("inject", ""), **failure.to_json()}
            for failure in calibration.impossible
        ],
        "failed": [{"id": failure.cell.id, **failure.to_json()} for failure in calibration.broken],
    }


def _kernel_json(kernel: KernelCalibration) -> dict[str, Any]:
    calm = kernel.calm
    return {
        "kernel": kernel.kernel,
        "undisturbed": {
            **members(calm, "samples", "median_ns", "threshold_ns", "spread_ns", "late", "unexplained"),
            "undecided": dict(calm.undecided),
            "invented": dict(calm.invented),
            "invented_limit": calm.invented_limit,
            "kept": calm.keeps_limits,
        },
        "kinds": [kind_json(result) for result in kernel.results],
    }


def kind_json(result: KindResult) -> dict[str, Any]:
    return {
        **members(result, "kind", "injected", "unwanted", "away", "passed", "short", "hit"),
        "found": result.unusual,
        **members(result, "lost", "unseen", "unmeasurable", "right", "undecided"),
        "rests_on_undecided": result.rests_on_possible,
        "wrong": dict(result.wrong),
        "besides": dict(result.besides),
        "error_ns": {
            "compared": len(result.errors_ns),
            "median": result.error_ns_median,
            "max": result.error_ns_max,
            "limit": result.size_limit_ns,
        },
        "uncertainty_ns": {"max": result.uncertainty_ns_max, "limit": result.uncertainty_limit_ns},
        **members(result, "within_uncertainty", "delays_here"),
        "kept": result.keeps_limits,
    }
