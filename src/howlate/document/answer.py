"""The short answer: the largest latency that was seen, and what stands beside it. No sentence promises anything
beyond the samples."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.charts._words import things_of, words_of_column
from howlate.model.columns import LATENCY, RESPONSE, things
from howlate.model.loaded import CellContent
from howlate.model.summary import ColumnSummary
from howlate.statistics.groups import Group
from howlate.statistics.labels import axes_that_vary
from howlate.words.caption import Caption
from howlate.words.quantities import seconds_text, time_text
from howlate.words.statement import Statement, rule

MOST_KERNELS = 12
"""Kernels that one sentence names."""

NOTHING_MEASURED = rule("report.nothing-measured", "Nothing was measured yet.")
NONE_VALID = rule("report.none-valid", "None of the cells is valid, so there is no answer yet.")
NO_VALID_REPETITION = rule("report.no-valid-repetition", "No repetition is valid, so there is no answer yet.")
NOT_UNDER_LOAD = rule(
    "report.not-under-load",
    "No load was there where it was asked for, as the study expects: there is no answer under load.",
)
NO_VALUE = rule("report.no-value", "Nothing was found that could be late: the valid cells have no value.")
HERE = rule("report.seen-here", "Largest {what} seen on this machine")
HERE_IN = rule("report.seen-here-in", "Largest {what} seen in {span} on this machine")
SEEN = rule("report.seen", "Largest {what} seen")
SEEN_IN = rule("report.seen-in", "Largest {what} seen in {span}")
ON_SEVERAL = rule("report.seen-on-several", "Largest {what} seen on these {machines} machines")
ON_SEVERAL_IN = rule(
    "report.seen-on-several-in", "Largest {what} seen in {span} on these {machines} machines"
)
OVER_SEEDS = rule("report.seen-over-seeds", "Largest {what} seen in virtual time over all seeds")
OVER_REPETITIONS = rule("report.seen-over-repetitions", "Largest {what} seen over all repetitions")
LARGEST = rule("report.largest", "{seen}: {largest_ns:time}.")
LARGEST_CALM = rule("report.largest-calm", "{seen}: {largest_ns:time}, without load.")
LARGEST_UNDER = rule("report.largest-under", "{seen}: {largest_ns:time}, under {row}.")
LARGEST_OF = rule("report.largest-of", "{seen}: {largest_ns:time}, of {row}.")
WITH_LOAD = rule("report.with-load", "With a load the largest was {largest_ns:time}, under {row}.")
WITHOUT_LOAD = rule("report.without-load", "Without load the largest was {largest_ns:time}.")
HALF_CAME = rule("report.half-came", "Half of the {things} came within {high_ns:time}.")
HALF_CAME_TO = rule(
    "report.half-came-to",
    "Half of the {things} came within {low_ns:time} to {high_ns:time}, depending on the load.",
)
HALF_LIE = rule("report.half-lie", "Half of the {things} lie within {high_ns:time}.")
HALF_LIE_TO = rule(
    "report.half-lie-to",
    "Half of the {things} lie within {low_ns:time} to {high_ns:time}, depending on the cell.",
)
NO_OVERRUN = rule(
    "report.no-overrun",
    "{count:count} {things} was measured; no release was missed.",
    "{count:count} {things} were measured; no release was missed.",
    by="count",
)
OVERRUNS = rule(
    "report.overruns",
    "{count:count} {things} was measured; releases without a wake-up: {overruns:count}.",
    "{count:count} {things} were measured; releases without a wake-up: {overruns:count}.",
    by="count",
)
NONE_MISSING = rule(
    "report.none-missing",
    "{count:count} {things} was measured; none is missing.",
    "{count:count} {things} were measured; none is missing.",
    by="count",
)
UNCOUNTED = rule(
    "report.uncounted",
    "{count:count} {things} was measured; whether any was missed is not known.",
    "{count:count} {things} were measured; whether any was missed is not known.",
    by="count",
)
MISSING = rule(
    "report.missing",
    "{count:count} {things} was measured; missing: {overruns:count}.",
    "{count:count} {things} were measured; missing: {overruns:count}.",
    by="count",
)
OUTCOMES = rule("report.outcomes", "Passes: {passes:count}, failures: {failures:count}.")
OF_EACH_KERNEL = rule("report.of-each-kernel", "The largest of each kernel: {kernels}.")
OF_KERNELS = rule("report.of-kernels", "The largest of each kernel: {kernels} and {rest} more.")
CELLS = rule(
    "report.cells",
    "{cells:count} cell was measured.",
    "{cells:count} cells were measured.",
    by="cells",
)
POINTS_AND_SEEDS = rule(
    "report.points-and-seeds",
    "{points:count} point was measured with its seeds.",
    "{points:count} points were measured with their seeds.",
    by="points",
)
POINTS_AND_REPETITIONS = rule(
    "report.points-and-repetitions",
    "{points:count} point was measured with its repetitions.",
    "{points:count} points were measured with their repetitions.",
    by="points",
)

Named = tuple[str, CellContent]


def answer_of_points(groups: Sequence[Group], *, virtual: bool) -> list[Statement]:
    """Where points are repeated: the largest of all, then each kernel's largest."""
    found = [(group, spread) for group in groups if (spread := group.spread(_column(group))) is not None]
    if not found:
        return [NO_VALID_REPETITION() if groups else NOTHING_MEASURED()]
    worst, spread = max(found, key=lambda pair: pair[1].maxima.largest)
    axes = axes_that_vary([group.labels for group, _spread in found])
    row = " · ".join(worst.labels[axis] for axis in axes if worst.labels.get(axis))
    seen = (OVER_SEEDS if virtual else OVER_REPETITIONS)(what=words_of_column(_column(worst)))
    largest = spread.maxima.largest
    statements = [
        LARGEST_OF(seen=seen, largest_ns=largest, row=row)
        if len(found) > 1
        else LARGEST(seen=seen, largest_ns=largest)
    ]
    by_kernel: dict[str, float] = {}
    for group, each in found:
        kernel = group.labels.get("kernel", "")
        by_kernel[kernel] = max(by_kernel.get(kernel, 0), each.maxima.largest)
    if len(by_kernel) > 1:
        ordered = sorted(by_kernel.items(), key=lambda pair: pair[1])
        named = [f"{kernel} {time_text(ns, space=' ')}" for kernel, ns in ordered]
        rest = len(named) - MOST_KERNELS
        values = {"kernels": ", ".join(named[:MOST_KERNELS])}
        statements.append(OF_KERNELS(**values, rest=rest) if rest > 0 else OF_EACH_KERNEL(**values))
    cells = sum(len(group.counted) for group, _spread in found)
    points = POINTS_AND_SEEDS if virtual else POINTS_AND_REPETITIONS
    return [*statements, CELLS(cells=cells), points(points=len(found))]


def _column(group: Group) -> str:
    """The column that the answer is about: the one that a verdict would be about."""
    with_value = [cell for cell in group.counted or group.cells if cell.columns]
    worst = max(with_value, key=lambda cell: cell.columns[cell.latest].max or 0, default=None)
    return LATENCY if worst is None else worst.latest


def answer(
    cells: Sequence[CellContent], names: Sequence[str], machines: int = 1, *, imported: bool = False
) -> list[Statement]:
    """The largest latency of the valid cells, then what stands beside it. `machines`: how many they were measured
    on. `imported`: some came from another tool's file, which may be of any machine."""
    usable = [
        (name, cell)
        for name, cell in zip(names, cells, strict=True)
        if cell.summary.valid and not cell.summary.starved and _answers(cell).max is not None
    ]
    if not usable:
        return [_no_answer(cells)]
    name, worst = max(usable, key=lambda pair: _max(pair[1]))
    seen = _seen(usable, words_of_column(worst.summary.latest), machines, imported=imported)
    calm = worst.summary.labels.get("load") == "none"
    values = {"seen": seen, "largest_ns": _max(worst)}
    if len(usable) == 1:
        first = LARGEST(**values)
    elif calm and name == "none":
        first = LARGEST_CALM(**values)
    else:
        first = LARGEST_UNDER(**values, row=name)
    by_unit = _by_unit([(name, worst), *usable])
    alike = by_unit.pop(things(worst.summary.latest))[1:]
    counted = [_counts(cells) for cells in (alike, *by_unit.values())]
    return [first, *_loads(usable, calm=calm), *_medians(alike), *counted, *_outcomes(usable)]


def _by_unit(cells: Sequence[Named]) -> dict[str, list[Named]]:
    """The cells by what was counted, wake-ups or data points; those of the first one's unit first."""
    found: dict[str, list[Named]] = {}
    for pair in cells:
        found.setdefault(things(pair[1].summary.latest), []).append(pair)
    return found


def _no_answer(cells: Sequence[CellContent]) -> Statement:
    if any(cell.summary.starved for cell in cells):
        return NOT_UNDER_LOAD()
    if any(cell.summary.valid for cell in cells):
        return NO_VALUE()
    return NONE_VALID() if cells else NOTHING_MEASURED()


def _seen(usable: Sequence[Named], what: Caption, machines: int, *, imported: bool) -> Statement:
    """How long was looked, and where."""
    seconds = [cell.looked_s or None for _name, cell in usable]
    known = [value for value in seconds if value is not None]
    values: dict[str, object] = {"what": what}
    if machines > 1:
        values["machines"] = machines
        without_time, with_time = ON_SEVERAL, ON_SEVERAL_IN
    else:
        without_time, with_time = (SEEN, SEEN_IN) if imported else (HERE, HERE_IN)
    if len(known) < len(seconds):
        return without_time(**values)
    return with_time(**values, span=seconds_text(sum(known), " "))


def _loads(usable: Sequence[Named], *, calm: bool) -> list[Statement]:
    """The largest with a load beside the one without, and the other way round."""
    idle = [pair for pair in usable if pair[1].summary.labels.get("load") == "none"]
    loaded = [pair for pair in usable if pair not in idle]
    if not (idle and loaded):
        return []
    if not calm:
        return [WITHOUT_LOAD(largest_ns=max(_max(cell) for _name, cell in idle))]
    name, cell = max(loaded, key=lambda pair: _max(pair[1]))
    return [WITH_LOAD(largest_ns=_max(cell), row=name)]


def _medians(usable: Sequence[Named]) -> list[Statement]:
    """Between which values the medians lie."""
    column = usable[0][1].summary.latest
    medians = [_answers(cell).quantiles.get("0.5") for _name, cell in usable]
    stated = [median for median in medians if median is not None]
    if not stated:
        return []
    low, high = min(stated), max(stated)
    late = all(cell.summary.judged for _name, cell in usable)
    if time_text(low) == time_text(high):
        return [(HALF_CAME if late else HALF_LIE)(things=things_of(column), high_ns=high)]
    return [(HALF_CAME_TO if late else HALF_LIE_TO)(things=things_of(column), low_ns=low, high_ns=high)]


def _counts(usable: Sequence[Named]) -> Statement:
    """How many samples of one unit there are, and how many are missing. Only a schedule has releases."""
    column = usable[0][1].summary.latest
    counted = [cell.summary.overruns for _name, cell in usable]
    count = sum(_answers(cell).count or 0 for _name, cell in usable)
    values = {"count": count, "things": things_of(column, count)}
    late = column in (LATENCY, RESPONSE)
    overruns = sum(count for count in counted if count is not None)
    if None in counted:
        return UNCOUNTED(**values)
    if not overruns:
        return (NO_OVERRUN if late else NONE_MISSING)(**values)
    return (OVERRUNS if late else MISSING)(**values, overruns=overruns)


def _outcomes(usable: Sequence[Named]) -> list[Statement]:
    """Passes and failures, where the test has them."""
    counts = {
        name: sum(int(cell.summary.outcomes.get(name, 0)) for _name, cell in usable)
        for name in ("passes", "failures")
    }
    if not any(name in cell.summary.outcomes for _name, cell in usable for name in counts):
        return []
    return [OUTCOMES(**counts)]


def _answers(cell: CellContent) -> ColumnSummary:
    """The column that a verdict would be about."""
    return cell.summary.columns.get(cell.summary.latest, ColumnSummary(None))


def _max(cell: CellContent) -> int:
    return _answers(cell).max or 0
