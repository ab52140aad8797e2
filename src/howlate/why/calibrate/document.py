"""What a calibration found, as a document: a table of kernels and kinds, and the sentences that go with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from howlate.document.document import Document, Section, texts
from howlate.document.sheet import Row, Sheet, labels, numbers, times
from howlate.document.sheet import texts as column
from howlate.model.cause import Cause
from howlate.why.calibrate.calibration import RIGHT_LIMIT, KindResult, Undisturbed
from howlate.why.cause_names import NAMES
from howlate.why.late_parts import UNIT
from howlate.words.language import _
from howlate.words.say import Text, text_of
from howlate.words.statement import rule

if TYPE_CHECKING:
    from howlate.why.calibrate.flow import Calibration, KernelCalibration

CALM = rule(
    "calibrate.calm",
    "{kernel}, without a delay: {samples:count} samples, median {median_ns:time}, spread {spread_ns:time}; "
    "{late:count} took more than twice the median; {invented} of these were given an unusual cause. The limit is "
    "{limit:percent} of all samples.",
)
CALM_NONE_LATE = rule(
    "calibrate.calm-none-late",
    "{kernel}, without a delay: {samples:count} samples, median {median_ns:time}, spread {spread_ns:time}; none took "
    "more than twice the median, so no cause could be invented.",
)
CALM_INVENTED = rule(
    "calibrate.calm-invented",
    "{kernel}, without a delay: of {samples:count} samples {late:count} took more than twice the median, and "
    "the events name an unusual cause for {invented:count} of these, more than {limit:percent} of all: "
    "{causes:items}.",
)
CALM_INVENTED_HERE = rule(
    "calibrate.calm-invented-here",
    "They are invented, or this machine was disturbed. Repeat it with nothing else running.",
)
CALM_UNDECIDED = rule(
    "calibrate.calm-undecided",
    "Events do not show whether a hypervisor or firmware had the CPU in {count:count} more: {causes:items}.",
)
CALM_UNEXPLAINED = rule(
    "calibrate.calm-unexplained",
    "{count:count} more is unexplained.",
    "{count:count} more are unexplained.",
    by="count",
)
CALM_EMPTY = rule(
    "calibrate.calm-empty",
    "{kernel}, without a delay: no sample was measured, so there is nothing to compare the delays with. Run it "
    "again, without --out or with another one.",
)
TIMES = rule("calibrate.times", "{cause} ({count} times)")
NO_DELAY = rule(
    "calibrate.no-delay",
    "{kind} does not delay the task on {kernel}: {passed} delays went on when it was due, and it had its time stamp "
    "before they ended, at most {worst_ns:time} after its release.",
)
WRONG = rule("calibrate.wrong", "{kind} on {kernel}: named otherwise: {causes:items}.")
UNDECIDED = rule(
    "calibrate.undecided",
    "{kind} on {kernel}: of {found} causes {right} are right, and {undecided} are right as far as events can tell: "
    "they do not show whether a hypervisor or firmware had the CPU.",
)
RESTS_ON_UNDECIDED = rule(
    "calibrate.rests-on-undecided",
    "The limit of {least:percent} is kept only together with these.",
)
RESTS_ON_RIGHT = rule(
    "calibrate.rests-on-right", "The limit of {least:percent} is kept by those that are right alone."
)
UNWANTED = rule(
    "calibrate.unwanted",
    "{kind} on {kernel}: {count} of {injected} delays could not be made as wanted, and is in no other count.",
    "{kind} on {kernel}: {count} of {injected} delays could not be made as wanted, and are in no other count.",
    by="count",
)
UNSEEN = rule(
    "calibrate.unseen",
    "{kind} on {kernel}: {count} late sample shows nothing out of the ordinary.",
    "{kind} on {kernel}: {count} late samples show nothing out of the ordinary.",
    by="count",
)
LOST = rule(
    "calibrate.lost",
    "{kind} on {kernel}: {count} late sample was not kept.",
    "{kind} on {kernel}: {count} late samples were not kept.",
    by="count",
)
TOO_LARGE = rule(
    "calibrate.too-large",
    "{kind} on {kernel}: a size is wrong by {error_ns:time}, more than {limit_ns:time} (1 us, the test's own spread, "
    "on several CPUs a round of turns) and its own uncertainty.",
)
NOT_COMPARED = rule(
    "calibrate.not-compared",
    "{kind} on {kernel}: no size was compared, since no delay that was named rightly was going on at a release.",
)
UNCERTAIN = rule(
    "calibrate.uncertain",
    "{kind} on {kernel}: the ends of the delays are known within {most_ns:time} (half of the call that ended each).",
)
WITHIN_UNCERTAINTY = rule(
    "calibrate.within-uncertainty",
    "{count} size keeps the limit of {limit_ns:time} only together with its own uncertainty.",
    "{count} sizes keep the limit of {limit_ns:time} only together with their own uncertainty.",
    by="count",
)
UNMEASURABLE = rule(
    "calibrate.unmeasurable",
    "{kind} on {kernel}: the size of {count} delay is not measurable, since its end is not known within "
    "{limit_ns:time}.",
    "{kind} on {kernel}: the sizes of {count} delays are not measurable, since their ends are not known within "
    "{limit_ns:time}.",
    by="count",
)
BESIDES = rule("calibrate.besides", "{kind} on {kernel}: late without a delay: {causes:items}.")
NOT_HERE = rule("calibrate.not-here", "{what} cannot be made here: {reason}.")
FAILED = rule("calibrate.failed", "{what} failed: {reason}.")
NONE_HIT = rule(
    "calibrate.none-hit", "{kind} on {kernel}: no delay made a sample late, so nothing was tried."
)


def calibration_document(found: Calibration) -> Document:
    """For the terminal."""
    results = [result for kernel in found.kernels for result in kernel.results]
    items = (
        *((_sheet(results),) if results else ()),
        *texts("notes", [text for kernel in found.kernels for text in _of_kernel(kernel)]),
        *texts("cautions", list(_failures(found))),
    )
    return Document((Section("calibration", items, _("Delays of known size")),))


def _sheet(results: Sequence[KindResult]) -> Sheet:
    undecided = numbers(
        "undecided", _("right as far as events can tell"), [each.undecided for each in results]
    )
    unmeasurable = numbers("unmeasurable", _("not measurable"), [each.unmeasurable for each in results])
    return Sheet(
        "calibration",
        _("Delays of known size; times in µs"),
        (
            labels("kernel", _("kernel"), [each.kernel for each in results]),
            labels("kind", _("delay"), [each.kind for each in results]),
            numbers("injected", _("injected"), [each.injected for each in results]),
            numbers("hit", _("made late"), [each.hit for each in results]),
            numbers("found", _("found"), [each.found for each in results]),
            numbers("lost", _("lost"), [each.lost for each in results]),
            *([unmeasurable] if any(each.unmeasurable for each in results) else []),
            times("error_median", _("size error, median"), [each.error_ns_median for each in results], UNIT),
            times("error_max", _("largest"), [each.error_ns_max for each in results], UNIT),
            numbers("right", _("cause right"), [each.right for each in results]),
            *([undecided] if any(each.undecided for each in results) else []),
            column("outcome", _("outcome"), [outcome_text(each) for each in results], words=True),
        ),
        tuple(Row() for _each in results),
        kind="calibration",
    )


def outcome_text(result: KindResult) -> str:
    if not result.delays_here:
        return _("does not delay here")
    return _("kept") if result.keeps_limits else _("NOT KEPT")


def _of_kernel(found: KernelCalibration) -> Iterator[Text]:
    yield _calm_text(found.kernel, found.calm)
    for result in found.results:
        yield from _of_kind(result)


def _calm_text(kernel: str, calm: Undisturbed) -> Text:
    if not calm.samples:
        return CALM_EMPTY(kernel=kernel)
    times = {"median_ns": calm.median_ns, "spread_ns": calm.spread_ns}
    where = {"kernel": kernel, "samples": calm.samples}
    if not calm.late:
        return CALM_NONE_LATE(**where, **times)
    counts = {"late": calm.late, "invented": calm.invented_count, "limit": calm.invented_limit}
    told: list[Text] = [CALM(**where, **times, **counts)]
    if calm.invented_count > calm.invented_limit * calm.samples:
        told = [CALM_INVENTED(**where, **counts, causes=_counted(calm.invented))]
        if not calm.is_virtual:
            told.append(CALM_INVENTED_HERE())
    if calm.undecided:
        count = sum(count for _cause, count in calm.undecided)
        told.append(CALM_UNDECIDED(count=count, causes=_counted(calm.undecided)))
    if calm.unexplained:
        told.append(CALM_UNEXPLAINED(count=calm.unexplained))
    return tuple(told)


def _of_kind(result: KindResult) -> Iterator[Text]:
    where = {"kind": result.kind, "kernel": result.kernel}
    if result.unwanted:
        yield UNWANTED(**where, count=result.unwanted, injected=result.injected)
    if not result.delays_here:
        yield NO_DELAY(**where, passed=result.passed, worst_ns=result.passed_ns_max)
        return
    if result.hit == 0:
        yield NONE_HIT(**where)
    if result.lost:
        yield LOST(**where, count=result.lost)
    if result.unseen:
        yield UNSEEN(**where, count=result.unseen)
    if result.undecided:
        yield _undecided_text(result)
    if result.wrong:
        yield WRONG(**where, causes=_counted(result.wrong))
    if result.unmeasurable:
        yield UNMEASURABLE(**where, count=result.unmeasurable, limit_ns=result.uncertainty_limit_ns)
    if result.uncertainty_ns_max:
        yield _uncertainty_text(result)
    if result.found and not result.errors_ns:
        yield NOT_COMPARED(**where)
    if result.excessive_errors_ns:
        yield TOO_LARGE(**where, error_ns=max(result.excessive_errors_ns), limit_ns=result.size_limit_ns)
    if result.besides:
        yield BESIDES(**where, causes=_counted(result.besides))


def _uncertainty_text(result: KindResult) -> Text:
    """How well the ends of the delays are known, and what rests on it."""
    told = UNCERTAIN(kind=result.kind, kernel=result.kernel, most_ns=result.uncertainty_ns_max)
    if not result.within_uncertainty:
        return told
    return (told, WITHIN_UNCERTAINTY(count=result.within_uncertainty, limit_ns=result.size_limit_ns))


def _undecided_text(result: KindResult) -> Text:
    """What the limit rests on, if causes are right only as far as events can tell."""
    counts = {"found": result.found, "right": result.right, "undecided": result.undecided}
    told = UNDECIDED(kind=result.kind, kernel=result.kernel, **counts)
    if result.rests_on_undecided:
        return (told, RESTS_ON_UNDECIDED(least=RIGHT_LIMIT))
    return (told, RESTS_ON_RIGHT(least=RIGHT_LIMIT)) if result.right >= RIGHT_LIMIT * result.found else told


def _counted(causes: Sequence[tuple[Cause, int]]) -> tuple[Text, ...]:
    return tuple(TIMES(cause=text_of(NAMES[cause]), count=count) for cause, count in causes)


def _failures(found: Calibration) -> Iterator[Text]:
    for made, failures in ((NOT_HERE, found.impossible), (FAILED, found.broken)):
        for failure in failures:
            labels_of = failure.cell.labels
            what = labels_of.get("inject", labels_of.get("part", failure.cell.id))
            yield made(what=what, reason=failure.message.rstrip("."))


def calibration_json(found: Calibration) -> dict[str, Any]:
    """The content of `--json`."""
    return {
        "schema": 1,
        "run": str(found.path),
        "kept": int(found.exit_code) == 0,
        "kernels": [_kernel_json(kernel) for kernel in found.kernels],
        "impossible": [
            {"inject": failure.cell.labels.get("inject", ""), **failure.to_json()}
            for failure in found.impossible
        ],
        "failed": [{"id": failure.cell.id, **failure.to_json()} for failure in found.broken],
    }


def _kernel_json(found: KernelCalibration) -> dict[str, Any]:
    calm = found.calm
    return {
        "kernel": found.kernel,
        "undisturbed": {
            "samples": calm.samples,
            "median_ns": calm.median_ns,
            "threshold_ns": calm.threshold_ns,
            "spread_ns": calm.spread_ns,
            "late": calm.late,
            "unexplained": calm.unexplained,
            "undecided": dict(calm.undecided),
            "invented": dict(calm.invented),
            "invented_limit": calm.invented_limit,
            "kept": calm.keeps_limits,
        },
        "kinds": [kind_json(result) for result in found.results],
    }


def kind_json(result: KindResult) -> dict[str, Any]:
    return {
        "kind": result.kind,
        "injected": result.injected,
        "unwanted": result.unwanted,
        "away": result.away,
        "passed": result.passed,
        "short": result.short,
        "hit": result.hit,
        "found": result.found,
        "lost": result.lost,
        "unseen": result.unseen,
        "unmeasurable": result.unmeasurable,
        "right": result.right,
        "undecided": result.undecided,
        "rests_on_undecided": result.rests_on_undecided,
        "wrong": dict(result.wrong),
        "besides": dict(result.besides),
        "error_ns": {
            "compared": len(result.errors_ns),
            "median": result.error_ns_median,
            "max": result.error_ns_max,
            "limit": result.size_limit_ns,
        },
        "uncertainty_ns": {"max": result.uncertainty_ns_max, "limit": result.uncertainty_limit_ns},
        "within_uncertainty": result.within_uncertainty,
        "delays_here": result.delays_here,
        "kept": result.keeps_limits,
    }
