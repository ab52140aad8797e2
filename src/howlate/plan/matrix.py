"""The matrix of a study as cells, in the study's order."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities, Parameter, TestKind
from howlate.model.decode import suggestion
from howlate.model.plan import Cell, Length, Plan
from howlate.model.study import EXPECTED, KERNEL, PART, Order, Study, Value, spell
from howlate.model.units import parse_bytes, parse_count, parse_cpus, parse_duration_ns
from howlate.plan.check import (
    alone_least_ns,
    canonical,
    check_together,
    find_test,
    find_timer,
    needs_reference,
    parameters_of,
)
from howlate.plan.machines import on_machines, seeded, seeds_differ, with_seed

MOST_CELLS = 10_000
OVERHEAD_S = 1.0
"""Around each cell: starting probe and loads, writing Parquet and statistics (rough, for the estimate)."""
UNMEASURED = "unmeasured"
"""The test that runs loads alone: there they are their own reference."""
ALONE_S, ALONE_MOST_S = 0.25, 5.0
"""How long the probe runs the loads with nothing measured beside them first, at least and at most, where a cell needs
that (`alone_at_least_ns` and `alone_at_most_ns` in the probe's cell/loads.cpp)."""
RESTART_S = 0.25
"""Ending the loads after that and starting them again (rough, for the estimate)."""
LABELLED = ("load", "period", "policy", "timer", "cpu")

Canonical = Callable[[str, Value, str], Value | None]


@dataclass(frozen=True)
class Machines:
    """What a target's machines can do, by label; the plan has the axis `kernel` over them."""

    can: Mapping[str, Capabilities]
    impossible: Mapping[str, str]
    """Machines on which nothing can be measured, and why. They stand in `can` as well, with another's."""
    seeds: int = 0
    """So many seeds are the repetitions of a point (virtual time); 0: the study's repetitions."""
    cost: Callable[[Cell, Length], float] | None = None
    """The host's seconds for a cell that takes so long by the machine's clock; None where these are the same."""
    stream_bytes_most: int = 0
    """What a machine can give back of a cell; 0: without a limit."""


def make_plan(
    study: Study,
    capabilities: Capabilities,
    labels: Mapping[str, str] | None = None,
    most: int = MOST_CELLS,
    machines: Machines | None = None,
) -> Plan:
    """All cells of the study, checked. `labels` (the kernel of a machine without a name) are added to each and
    are no part of its id."""
    names = ("",) if machines is None else tuple(machines.can)
    pieces = [on_machines(piece, names) for piece in study.pieces()]
    if machines is not None and machines.seeds:
        pieces = [seeded(piece, machines.seeds) for piece in pieces]
    order = pieces[0].order
    _not_too_many(pieces, order.repetitions, most)
    can = {"": capabilities} if machines is None else machines.can
    once = [cell for piece in pieces for cell in _once(piece, can, machines, labels or {})]
    _no_twins(study, once)
    cells = _ordered(once, order)
    if machines is not None and machines.seeds:
        cells = _with_seeds(cells, can)
    return Plan(tuple(cells))


def _not_too_many(pieces: Iterable[Study], repetitions: int, most: int) -> None:
    count = 0
    for piece in pieces:
        points = repetitions
        for values in piece.axes.values():
            points *= len(values)
        count += points
    if count > most:
        raise UsageError(
            f"the matrix has {count:,} cells, more than {most:,}", f"allow it with --most-cells {count}"
        )


def _once(
    study: Study, can: Mapping[str, Capabilities], machines: Machines | None, labels: Mapping[str, str]
) -> list[Cell]:
    """Each point's first repetition. The study is one without parts."""

    @cache
    def spelt(name: str, value: Value, machine: str) -> Value | None:
        try:
            return canonical(name, value, find_test(study.test, can[machine]), can[machine])
        except UsageError as problem:
            raise UsageError(f"{study.name}: {problem.message}", problem.remedy) from None

    for name, value in study.settings.items():
        spelt(name, value, next(iter(can)))

    def plain(name: str, value: Value) -> Value | None:
        return value if name == KERNEL else spelt(name, value, next(iter(can)))

    exclude = [_exclusion(study, entry, plain) for entry in study.exclude]
    found = [
        _cell(study, can, machines, point, spelt, labels)
        for point in _points(study)
        if not any(all(plain(n, point[n]) in values for n, values in entry.items()) for entry in exclude)
    ]
    if not found:
        raise UsageError(f"{study.name}: every cell is excluded", "take an [[exclude]] away")
    return found


def _with_seeds(cells: Iterable[Cell], can: Mapping[str, Capabilities]) -> Iterable[Cell]:
    """A cell's repetition is its seed; where a seed changes nothing one is measured."""

    @cache
    def known(test: str, machine: str) -> Mapping[str, str]:
        return _defaults(parameters_of(find_test(test, can[machine]), can[machine]))

    for cell in cells:
        defaults = known(cell.test, cell.machine)
        if seeds_differ(cell.parameters, defaults):
            yield replace(cell, parameters=with_seed(cell.parameters, cell.repetition, defaults))
        elif cell.repetition == 1:
            yield cell


def _defaults(parameters: Mapping[str, Parameter]) -> dict[str, str]:
    return {name: parameter.default for name, parameter in parameters.items()}


def _points(study: Study) -> Iterable[dict[str, Value]]:
    for values in itertools.product(*study.axes.values()):
        yield dict(zip(study.axes, values, strict=True))


def _exclusion(
    study: Study, entry: Mapping[str, tuple[Value, ...]], plain: Callable[[str, Value], Value | None]
) -> dict[str, set[Value | None]]:
    """An exclude's values in their one spelling; refuses one that its axis does not have. A kernel may be absent:
    which ones are measured is the target's to say."""
    found: dict[str, set[Value | None]] = {}
    for name, values in entry.items():
        found[name] = set()
        axis = {plain(name, value) for value in study.axes[name]}
        for value in values:
            try:
                one = plain(name, value)
            except UsageError:
                one = value  # no value at all, such as a misspelt load
            if one not in axis and name != KERNEL:
                raise UsageError(
                    f'{study.name}: [[exclude]] names {name} = "{spell(value)}", which is not on that axis',
                    suggestion(spell(value), (spell(v) for v in study.axes[name])),
                )
            found[name].add(one)
    return found


def _cell(
    study: Study,
    can: Mapping[str, Capabilities],
    machines: Machines | None,
    point: Mapping[str, Value],
    spelt: Canonical,
    labels: Mapping[str, str],
) -> Cell:
    """The point's first repetition."""
    machine = "" if machines is None else spell(point[KERNEL])
    capabilities = can[machine]
    test = find_test(study.test, capabilities)
    given = {name: value for name, value in {**study.settings, **point}.items() if name != KERNEL}
    spellings = {name: spelt(name, value, machine) for name, value in given.items()}
    parameters = {name: value for name, value in spellings.items() if value is not None}
    if _is_seed_idle(parameters, test, capabilities, machines):
        parameters.pop("seed", None)
    try:
        impossible = check_together(parameters, test, capabilities)
        expected_s = expected_seconds(parameters, test, capabilities)
    except UsageError as problem:
        where = ", ".join(f"{k} = {spell(v)}" for k, v in point.items())
        raise UsageError(
            f"{study.name}{f', {where}' if where else ''}: {problem.message}", problem.remedy
        ) from None
    shown = _labels(parameters, point, test, capabilities)
    slug = [shown[name] for name in study.axes] or ([] if study.part else [test.name])
    part = {PART: study.part} if study.part else {}
    cell = Cell(
        id=cell_id(test.name, parameters, [*part.values(), *slug], 1, machine),
        test=test.name,
        parameters=parameters,
        labels={**part, **labels, **shown},
        repetition=1,
        expected_s=expected_s,
        impossible=impossible,
        machine=machine,
        starvation_expected=study.starvation == EXPECTED,
    )
    return cell if machines is None else _on_machine(cell, machines, capabilities)


def _is_seed_idle(
    parameters: Mapping[str, Value], test: TestKind, capabilities: Capabilities, machines: Machines | None
) -> bool:
    """Whether a seed is no part of the point: it is the dither's and there is none, or the repetition's."""
    no_dither = "dither" in parameters_of(test, capabilities) and "dither" not in parameters
    return no_dither or (machines is not None and bool(machines.seeds))


def _on_machine(cell: Cell, machines: Machines, capabilities: Capabilities) -> Cell:
    """With how long it takes there, and whether it can be measured there at all."""
    impossible = machines.impossible.get(cell.machine, "") or cell.impossible
    if machines.cost is not None:
        cell = replace(cell, expected_s=machines.cost(cell, planned_length(cell, capabilities)))
    cell = replace(cell, impossible=impossible)
    return cell if impossible else replace(cell, impossible=_too_much(cell, machines, capabilities))


def _too_much(cell: Cell, machines: Machines, capabilities: Capabilities) -> str:
    """Why the machine cannot give back what it would measure, on one CPU at least; "" if it can."""
    needed, most = expected_stream_bytes(cell, capabilities, 1), machines.stream_bytes_most
    if not most or needed <= most:
        return ""
    return (
        f"about {needed / 2**20:,.0f} MiB of samples do not fit into a guest's window of {most / 2**20:.0f} MiB; "
        "ask for fewer activations, and for more seeds in their place"
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
    for name, value in point.items():
        shown[name] = spell(
            value if name == KERNEL else parameters.get(name, () if name == "load" else False)
        )
    return shown


def cell_id(
    test: str, parameters: Mapping[str, Value], words: Iterable[str], repetition: int, machine: str = ""
) -> str:
    """A folder's name that depends on what is measured alone, never on the place in the plan."""
    what = [test, sorted(parameters.items()), *([machine] if machine else [])]
    content = json.dumps(what, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(content.encode()).hexdigest()[:10]
    slug = re.sub(r"[^a-z0-9.]+", "-", "-".join(words).lower()).strip("-.")[:60].rstrip("-.")
    return f"{slug or test}-{digest}-{repetition}"


def _no_twins(study: Study, cells: Iterable[Cell]) -> None:
    seen: set[str] = set()
    for cell in cells:
        if cell.id in seen:
            what = ", ".join(f"{k} = {cell.labels[k]}" for k in study.names_of_axes if k in cell.labels)
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
    return replace(
        cell, id=f"{cell.id.removesuffix(f'-{cell.repetition}')}-{repetition}", repetition=repetition
    )


MOST_LANES = 64
"""Assumed where a study says "all" and the number of CPUs is the target's to know."""
STREAM_ROW_BYTES = 40
"""Of a sample in the stream, with its share of the framing."""
POINT_NS = 20_000
"""Of a data point, where the test does not say how long one takes: roughly, for the estimate."""


def expected_stream_bytes(cell: Cell, capabilities: Capabilities, most_lanes: int = MOST_LANES) -> int:
    """How much the probe will write at most, roughly: every measuring CPU's activations or data points."""
    test = find_test(cell.test, capabilities)
    seconds, most = ends(cell.parameters, test, capabilities)
    text = _reader(cell.parameters, test)
    period_ns = parse_duration_ns(text("period")) if text("period") else 1_000_000
    rows = min(most, seconds * 1e9 / max(1, period_ns)) if text("points") in ("", "0") else most
    cpus = text("cpus") or text("cpu") or "0"
    try:
        lanes = len(parse_cpus(cpus))
    except ValueError:
        lanes = MOST_LANES
    return int(rows * min(lanes, most_lanes) * max(STREAM_ROW_BYTES, test.row_bytes)) + 1_000_000


def expected_seconds(parameters: Mapping[str, Value], test: TestKind, capabilities: Capabilities) -> float:
    """Duration, or activations times period, or points times what one takes, whichever ends first, and the work
    around it."""
    length = _length(parameters, test, capabilities)
    return length.measuring_s + OVERHEAD_S + (length.alone_s + RESTART_S if length.alone_s else 0.0)


def planned_length(cell: Cell, capabilities: Capabilities) -> Length:
    """How long a cell takes by the machine's clock, without the work around it."""
    return _length(cell.parameters, find_test(cell.test, capabilities), capabilities)


def _length(parameters: Mapping[str, Value], test: TestKind, capabilities: Capabilities) -> Length:
    seconds, _ = ends(parameters, test, capabilities)
    if test.name == UNMEASURED or not needs_reference(parameters, capabilities):
        return Length(seconds)
    alone_s = max(ALONE_S, alone_least_ns(parameters, capabilities) / 1e9)
    return Length(seconds, alone_s, ALONE_MOST_S)


def expected_point_ns(test: TestKind, text: Callable[[str], str]) -> float:
    """What the probe says that a data point takes with these options, as `text` spells them."""
    if not test.point_ns:
        return POINT_NS
    kinds = {p.name: p.type for p in test.params}

    def number(option: str) -> float:
        value = text(option)
        if not value:
            return 0.0
        parse = {"duration": parse_duration_ns, "bytes": parse_bytes}.get(kinds.get(option, ""), parse_count)
        return float(parse(value))

    return sum(
        term.factor * math.prod(number(option) for option in term.options)
        for term in test.point_ns
        if not term.where or text(term.where) == term.has_value
    )


def _reader(parameters: Mapping[str, Value], test: TestKind) -> Callable[[str], str]:
    defaults = {p.name: p.default for p in test.params}
    return lambda name: spell(parameters[name]) if name in parameters else defaults.get(name, "")


def ends(parameters: Mapping[str, Value], test: TestKind, capabilities: Capabilities) -> tuple[float, float]:
    """After how many seconds and activations or points a cell ends; refuses one that never would."""
    text = _reader(parameters, test)
    seconds = rows = float("inf")
    if text("duration") and parse_duration_ns(text("duration")) > 0:
        seconds = parse_duration_ns(text("duration")) / 1e9
    if text("period"):
        period_ns = parse_duration_ns(text("period"))
        if period_ns <= 0:
            raise UsageError("a period of no length cannot be", "write a period like 1ms")
        if text("activations") not in ("", "0"):
            rows = parse_count(text("activations"))
            timer = find_timer(text("timer"), capabilities) if text("timer") and capabilities.timers else None
            slower = 2 if timer is not None and timer.windows else 1
            seconds = min(seconds, rows * period_ns * slower / 1e9)
    if text("points") not in ("", "0"):
        rows = parse_count(text("points"))
        seconds = min(seconds, rows * expected_point_ns(test, text) / 1e9)
    if seconds == float("inf"):
        counts = {"activations", "points"} & {p.name for p in test.params}
        if counts or "duration" in {p.name for p in test.params}:
            raise UsageError(
                f"neither {next(iter(counts), 'a count')} nor a duration is set, so a cell would never end",
                "set one",
            )
        seconds = 0.0
    return seconds, rows
