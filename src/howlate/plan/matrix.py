"""The matrix of a study as cells, in the study's order."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities, TestKind
from howlate.model.plan import Cell, Plan
from howlate.model.study import Order, Study, Value, spell
from howlate.model.units import parse_count, parse_cpus, parse_duration_ns
from howlate.plan.check import canonical, check_together, find_test, find_timer, parameters_of

MOST_CELLS = 10_000
OVERHEAD_S = 1.0
"""Around each cell: starting probe and loads, writing Parquet and statistics (rough, for the estimate)."""
LABELLED = ("load", "period", "policy", "timer", "cpu")

Canonical = Callable[[str, Value], Value | None]


def make_plan(
    study: Study, capabilities: Capabilities, labels: Mapping[str, str] | None = None, most: int = MOST_CELLS
) -> Plan:
    """All cells of the study, checked. `labels` (the kernel) are added to each and are no part of its id."""
    test = find_test(study.test, capabilities)
    count = study.order.repetitions
    for values in study.axes.values():
        count *= len(values)
    if count > most:
        raise UsageError(
            f"the matrix has {count:,} cells, more than {most:,}", f"allow it with --most-cells {count}"
        )

    @cache
    def spelt(name: str, value: Value) -> Value | None:
        try:
            return canonical(name, value, test, capabilities)
        except UsageError as problem:
            raise UsageError(f"{study.id}: {problem.message}", problem.remedy) from None

    for name, value in study.settings.items():
        spelt(name, value)
    once = [
        _cell(study, test, capabilities, point, spelt, labels or {})
        for point in _points(study)
        if not _excluded(point, study.exclude)
    ]
    if not once:
        raise UsageError(f"{study.id}: every cell is excluded", "take an [[exclude]] away")
    _no_twins(study, once)
    return Plan(tuple(_ordered(once, study.order)))


def _points(study: Study) -> Iterable[dict[str, Value]]:
    for values in itertools.product(*study.axes.values()):
        yield dict(zip(study.axes, values, strict=True))


def _excluded(point: Mapping[str, Value], exclude: Iterable[Mapping[str, tuple[Value, ...]]]) -> bool:
    return any(all(point[name] in values for name, values in entry.items()) for entry in exclude)


def _cell(
    study: Study,
    test: TestKind,
    capabilities: Capabilities,
    point: Mapping[str, Value],
    spelt: Canonical,
    labels: Mapping[str, str],
) -> Cell:
    """The point's first repetition."""
    parameters: dict[str, Value] = {}
    for name, value in {**study.settings, **point}.items():
        one = spelt(name, value)
        if one is not None:
            parameters[name] = one
    if "dither" in parameters_of(test, capabilities) and "dither" not in parameters:
        parameters.pop("seed", None)  # it is the dither's, and there is none
    try:
        impossible = check_together(parameters, test, capabilities)
        expected_s = expected_seconds(parameters, test, capabilities)
    except UsageError as problem:
        where = ", ".join(f"{k} = {spell(v)}" for k, v in point.items())
        raise UsageError(
            f"{study.id}{f', {where}' if where else ''}: {problem.message}", problem.remedy
        ) from None
    shown = _labels(parameters, point, test, capabilities)
    slug = [shown[name] for name in study.axes] or [test.name]
    return Cell(
        id=cell_id(test.name, parameters, slug, 1),
        test=test.name,
        parameters=parameters,
        labels={**labels, **shown},
        repetition=1,
        expected_s=expected_s,
        impossible=impossible,
    )


def _labels(
    parameters: Mapping[str, Value], point: Mapping[str, Value], test: TestKind, capabilities: Capabilities
) -> dict[str, str]:
    known = parameters_of(test, capabilities)
    shown: dict[str, str] = {}
    for name in LABELLED:
        if name in known:
            text = spell(parameters[name]) if name in parameters else known[name].default
            if name == "load":
                text = text or "none"
            if text:
                shown[name] = text
    for name in point:
        shown[name] = spell(parameters.get(name, () if name == "load" else False))
    return shown


def cell_id(test: str, parameters: Mapping[str, Value], words: Iterable[str], repetition: int) -> str:
    """A folder's name that depends on what is measured alone, never on the place in the plan."""
    content = json.dumps([test, sorted(parameters.items())], sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(content.encode()).hexdigest()[:10]
    slug = re.sub(r"[^a-z0-9.]+", "-", "-".join(words).lower()).strip("-.")[:60].rstrip("-.")
    return f"{slug or test}-{digest}-{repetition}"


def _no_twins(study: Study, cells: Iterable[Cell]) -> None:
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            what = ", ".join(f"{k} = {cell.labels[k]}" for k in study.axes)
            raise UsageError(
                f"{study.id}: the cell {what} stands twice in the matrix", "repeat it by order.repetitions"
            )
        seen.add(cell.id)


def _ordered(once: list[Cell], order: Order) -> Iterable[Cell]:
    repetitions = range(1, order.repetitions + 1)
    if order.kind == "blocked":
        return [_repeated(cell, r) for cell in once for r in repetitions]
    cells = [[_repeated(cell, r) for cell in once] for r in repetitions]
    if order.kind == "random":
        # By a hash, so that the order is the same in every Python and each repetition is a round of its own.
        cells = [
            sorted(row, key=lambda c: hashlib.sha256(f"{order.seed}:{c.id}".encode()).digest())
            for row in cells
        ]
    return [cell for row in cells for cell in row]


def _repeated(cell: Cell, repetition: int) -> Cell:
    if repetition == cell.repetition:
        return cell
    return Cell(
        id=f"{cell.id.removesuffix(f'-{cell.repetition}')}-{repetition}",
        test=cell.test,
        parameters=cell.parameters,
        labels=cell.labels,
        repetition=repetition,
        expected_s=cell.expected_s,
        impossible=cell.impossible,
    )


MOST_LANES = 64
"""Assumed where a study says "all" and the number of CPUs is the target's to know."""
STREAM_ROW_BYTES = 40
"""Of a sample in the stream, with its share of the framing."""


def expected_stream_bytes(cell: Cell, capabilities: Capabilities) -> int:
    """How much the probe will write at most, roughly: every measuring CPU's activations."""
    test = find_test(cell.test, capabilities)
    seconds, activations = _ends(cell.parameters, test, capabilities)
    text = _reader(cell.parameters, test)
    period_ns = parse_duration_ns(text("period")) if text("period") else 1_000_000
    rows = min(activations, seconds * 1e9 / max(1, period_ns))
    cpus = text("cpus") or text("cpu") or "0"
    try:
        lanes = len(parse_cpus(cpus))
    except ValueError:
        lanes = MOST_LANES
    return int(rows * lanes * STREAM_ROW_BYTES) + 1_000_000


def expected_seconds(parameters: Mapping[str, Value], test: TestKind, capabilities: Capabilities) -> float:
    """Duration, or activations times period, whichever ends first, and the work around it."""
    seconds, _ = _ends(parameters, test, capabilities)
    return seconds + OVERHEAD_S


def _reader(parameters: Mapping[str, Value], test: TestKind) -> Callable[[str], str]:
    defaults = {p.name: p.default for p in test.params}
    return lambda name: spell(parameters[name]) if name in parameters else defaults.get(name, "")


def _ends(parameters: Mapping[str, Value], test: TestKind, capabilities: Capabilities) -> tuple[float, float]:
    """After how many seconds and activations a cell ends; refuses one that never would."""
    text = _reader(parameters, test)
    seconds = activations = float("inf")
    if text("duration") and parse_duration_ns(text("duration")) > 0:
        seconds = parse_duration_ns(text("duration")) / 1e9
    if text("period"):
        period_ns = parse_duration_ns(text("period"))
        if period_ns <= 0:
            raise UsageError("a period of no length cannot be", "write a period like 1ms")
        if text("activations") not in ("", "0"):
            activations = parse_count(text("activations"))
            timer = find_timer(text("timer"), capabilities) if text("timer") and capabilities.timers else None
            slower = 2 if timer is not None and timer.windows else 1
            seconds = min(seconds, activations * period_ns * slower / 1e9)
    if seconds == float("inf"):
        if {"duration", "activations"} & {p.name for p in test.params}:
            raise UsageError(
                "neither activations nor a duration is set, so a cell would never end", "set one"
            )
        seconds = 0.0
    return seconds, activations
