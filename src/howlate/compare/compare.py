"""The comparison of the sides of a joined set: tables in the published layout, and the differences
(docs/compare.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from howlate.errors import UsageError
from howlate.model.columns import RESPONSE
from howlate.model.decode import members
from howlate.model.guest_cpus import GUEST, USUAL
from howlate.model.loaded import MeasuredKernel, RunContent
from howlate.sides.configs import Difference, compared, that_matter
from howlate.sides.gravity import beside_published, gravity_ns
from howlate.sides.join import join
from howlate.sides.joined import (
    KERNEL,
    OF_THE_SEED,
    PART,
    Joined,
    MatrixPlace,
    described,
    labels_that_vary,
    parameters_of,
)
from howlate.sides.printed_figures import PrintedDocument, PrintedLine, find_document
from howlate.sides.side_names import fact
from howlate.sides.sides import FIGURES, LOAD, NOT_ALIKE, RUN, Decision, Once, SideRow, decisions
from howlate.statistics.statistics import QUANTILES
from howlate.words.say import english, statement_of
from howlate.words.say import to_json as statement_json
from howlate.words.statement import Statement, message

MOST_CROSSED = 4
"""With more sides, each is compared only with the first, not with every other."""

NOT_INTERLEAVED = message(
    "pairs.not-interleaved",
    "the runs are not interleaved: a difference may come from the time of measuring as well as from the side",
)
IN_BLOCKS = message(
    "pairs.in-blocks",
    "the cells were measured in blocks, not interleaved: order.kind=interleaved makes pairs of them",
)


class Pair(Struct, frozen=True):
    """Two sides at one point."""

    first: int
    second: int
    decisions: tuple[Decision, ...]


class Block(Struct, frozen=True):
    """One table: a combination of all labels except the kernel, a column of the samples, a row for each side."""

    title: str
    test: str
    labels: Mapping[str, str]
    column: str
    rows: tuple[SideRow, ...]
    pairs: tuple[Pair, ...]
    published: tuple[PrintedLine, ...] = ()
    """What the study's document prints for these labels, if the study names one."""
    stand: tuple[frozenset[int], ...] = ()
    """For each of these, the sides that were measured in the same way."""

    @property
    def runs(self) -> tuple[str, ...]:
        """Figures of the loads' own runs."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.runs))

    def gravities(self, sides: Sequence[str]) -> dict[int, list[str]]:
        names: dict[int, list[str]] = {}
        for row in self.rows:
            names.setdefault(row.gravity_ns, []).append(sides[row.side])
        return names

    def row(self, side: int) -> SideRow | None:
        return next((row for row in self.rows if row.side == side), None)


class Comparison(Struct, frozen=True):
    """The whole content of `compare`, before it is put into words. With a published document, one side is
    enough."""

    joined: Joined
    blocks: tuple[Block, ...]
    names: tuple[str, ...]
    """The compared sides in `differences`: labels of kernels that share a configuration."""
    differences: tuple[Difference, ...]
    kernels: tuple[MeasuredKernel, ...]
    documents: tuple[PrintedDocument, ...] = ()

    @property
    def sides(self) -> tuple[str, ...]:
        return tuple(side.name for side in self.joined.sides)


def _one_side(contents: Sequence[RunContent], joined: Joined) -> Statement:
    """Why no point has two sides: a run is empty, the runs measured different points, or there is only one
    run. The remedy names the axes along which it can be compared."""
    empty = [content.name or content.run.id for content in contents if not content.cells]
    if empty:
        return statement_of(
            "no cell is whole yet in {runs:all}",
            remedy="measure it to its end: the same command goes on with it",
            runs=empty,
        )
    unlike = _unlike_guests(contents, joined)
    if unlike is not None:
        return unlike
    options = [f"--by {label}" for label in labels_that_vary(joined.places)]
    axes = f", or compare along an axis with {', '.join(options)}" if options else ""
    if len(contents) > 1:
        return statement_of(
            "no point was measured in more than one of these runs",
            remedy="measure the same study in both{axes}",
            axes=axes,
        )
    return statement_of(
        "only {side} can be compared",
        remedy="name a run of another kernel{axes}",
        side=joined.sides[0].name,
        axes=axes,
    )


def _unlike_guests(contents: Sequence[RunContent], joined: Joined) -> Statement | None:
    """Why these runs have no place in common, if their guests are the reason. Guests with unlike CPUs are also
    different machines, so there may be several sides."""
    guests = list(dict.fromkeys(place.labels.get(GUEST, str(USUAL)) for place in joined.places))
    if len(contents) < 2 or len(guests) < 2 or joined.matched:
        return None
    return statement_of(
        "these runs were measured in unlike guests ({guests:all}), in which the same instructions take "
        "different times",
        remedy="measure both in guests of one kind, or show them side by side with --by guest",
        guests=guests,
    )


def compare(contents: Sequence[RunContent], by: str = KERNEL) -> Comparison:
    """UsageError if there is nothing to compare: there is only one side, or runs of unlike guests share no place."""
    joined = join(contents, by)
    known = {
        run.study.reference: find_document(run.study.reference) for run in joined.runs if run.study.reference
    }
    if len(joined.sides) < 2 and not (joined.sides and known):
        raise UsageError(_one_side(contents, joined))
    unlike = None if known else _unlike_guests(contents, joined)
    if unlike is not None:
        raise UsageError(unlike)
    names = labels_that_vary(joined.places)
    blocks = [block for place in joined.places for block in _blocks(joined, place, names, known)]
    joined = replace(joined, warnings=(*joined.warnings, *_beside_published(joined, blocks)))
    kernels = _kernels(contents)
    who, differing = compared(kernels)
    return Comparison(
        joined, tuple(blocks), tuple(who), tuple(that_matter(differing)), kernels, tuple(known.values())
    )


def _beside_published(joined: Joined, blocks: Sequence[Block]) -> list[Statement]:
    """The note that figures of a real-time core are smaller by its gravity than the published ones next to them."""
    names: dict[int, dict[str, None]] = {}
    for block in blocks:
        for gravity, own in (
            block.gravities([side.name for side in joined.sides]).items() if block.published else ()
        ):
            names.setdefault(gravity, {}).update(dict.fromkeys(own))
    beside = beside_published({gravity: tuple(own) for gravity, own in names.items()})
    return [] if beside is None else [beside]


def compare_if_several(contents: Sequence[RunContent]) -> Comparison | None:
    """None for a single side without a document, and for runs without cells."""
    try:
        return compare(contents)
    except UsageError:
        return None


def _blocks(
    joined: Joined, place: MatrixPlace, names: Sequence[str], known: Mapping[str, PrintedDocument]
) -> list[Block]:
    cells = [cell for member in place.members.values() for cell in member.group.cells]
    columns = dict.fromkeys(name for cell in cells for name in cell.columns)
    shown = [n for n in columns if n != RESPONSE or any(c.columns[n].max for c in cells if n in c.columns)]
    if len({tuple(cell.columns) for cell in cells}) > 1:
        shown.append("")  # what they have in common: how long the loads' own runs took
    blocks = []
    for column in shown:
        rows = tuple(
            SideRow(
                side,
                {r: once for r, cell in member.by_repetition.items() if (once := Once.of(cell, column))},
                member.group.planned,
                member.not_loaded,
                gravity_ns(member.group.cells),
            )
            for side, member in sorted(place.members.items())
            if not column or any(column in cell.columns for cell in member.group.cells)
        )
        pairs = tuple(
            _pair(a, b, refusal(joined, place, a.side, b.side), measured=bool(column))
            for a, b in combinations(rows, 2)
            if len(rows) <= MOST_CROSSED or a is rows[0]
        )
        title = described(place, names) if names else ""
        if not column and not any(row.runs for row in rows):
            continue
        beside = _published(joined, place, column, known)
        lines, stand = tuple(line for line, _ in beside), tuple(sides for _, sides in beside)
        blocks.append(Block(title, place.test, place.labels, column, rows, pairs, lines, stand))
    return blocks


def _pair(first: SideRow, second: SideRow, refused: Statement | None, *, measured: bool) -> Pair:
    """Decides the figures of a column, and separately the loads' own runs; Holm covers each group."""
    runs = tuple(name for name in first.runs if name in second.runs)
    of_column = decisions(first, second, refused) if measured else ()
    return Pair(first.side, second.side, (*of_column, *decisions(first, second, refused, runs)))


def _published(
    joined: Joined, place: MatrixPlace, column: str, known: Mapping[str, PrintedDocument]
) -> list[tuple[PrintedLine, frozenset[int]]]:
    """The figures that a document prints, each with the sides that were measured in the same way: a line of some
    preemption models belongs to sides of these alone. A side whose study names no document uses that of the first
    that does."""
    named = [known.get(joined.runs[member.run].study.reference) for member in place.members.values()]
    first = next((document for document in named if document is not None), None)
    stands: list[tuple[PrintedLine, set[int]]] = []
    for (side, member), own in zip(place.members.items(), named, strict=True):
        document = own or first
        if document is not None and column:
            labels = {**member.group.labels, **place.labels}
            for line in document.lines(labels, column, parameters_of(member)):
                if line.preemption and joined.sides[side].preemption not in line.preemption:
                    continue
                known_sides = next((sides for known_line, sides in stands if known_line == line), None)
                if known_sides is None:
                    stands.append((line, {side}))
                else:
                    known_sides.add(side)
    return [(line, frozenset(sides)) for line, sides in stands]


def refusal(joined: Joined, place: MatrixPlace, first: int, second: int) -> Statement | None:
    """Why the repetitions of two sides are not pairs; None if they are."""
    first_member, second_member = place.members[first], place.members[second]
    asked, also = parameters_of(first_member), parameters_of(second_member)
    unlike = {n for n in {*asked, *also} if asked.get(n) != also.get(n)}
    unlike -= {joined.by, *place.labels, *joined.changes_nothing}
    if unlike and joined.by != PART:  # in what parts differ is what is compared
        return NOT_ALIKE(settings=tuple(sorted(unlike)))
    if joined.virtual:
        if apart := _instructions_apart(joined, first_member.run, second_member.run, first, second):
            return NOT_ALIKE(settings=(apart,))
        seeds, others = first_member.parameters, second_member.parameters
        common = set(seeds) & set(others)
        if any(seeds[r].get(n) != others[r].get(n) for r in common for n in OF_THE_SEED):
            return NOT_ALIKE(settings=("seed",))
        return None
    if first_member.run != second_member.run:
        return NOT_INTERLEAVED()
    if joined.runs[first_member.run].study.order.kind == "blocked":
        return IN_BLOCKS()
    return None


def _instructions_apart(joined: Joined, run: int, other: int, first: int, second: int) -> str:
    """Settings other than the kernel that change the executed instructions and differ between the sides; ""
    if all are equal."""
    probes = {joined.runs[i].versions.get("probe", "") for i in (run, other)}
    emulators = {fact(joined.sides[i].facts, "lab.emulator") for i in (first, second)}
    return "probe" if len(probes) > 1 else "QEMU" if len(emulators) > 1 else ""


def _kernels(contents: Sequence[RunContent]) -> tuple[MeasuredKernel, ...]:
    kernels: dict[tuple[str, str], MeasuredKernel] = {}
    for content in contents:
        for kernel in content.kernels or _own(content):
            kernels.setdefault((kernel.label, kernel.version), kernel)
    return tuple(kernels.values())


def _own(content: RunContent) -> tuple[MeasuredKernel, ...]:
    """The kernel of a machine outside of the lab."""
    values = content.run.facts.get("values")
    if not isinstance(values, dict):
        return ()
    config = values.get("kernel.config")
    options = {str(k): str(v) for k, v in config.items() if v != "n"} if isinstance(config, dict) else {}
    release = str(values.get("kernel.release") or "unknown")
    return (
        MeasuredKernel(
            release,
            release,
            str(values.get("kernel.version") or "unknown"),
            str(values.get("kernel.cmdline") or ""),
            options,
            whole=False,
        ),
    )


def to_json(comparison: Comparison) -> dict[str, Any]:
    """`compare --json`, without the summary."""
    sides = [
        {
            **members(side, "name", "kernel", "preemption"),
            "run": comparison.joined.runs[side.run].id,
        }
        for side in comparison.joined.sides
    ]
    return {
        "schema": 1,
        "clock": comparison.joined.runs[0].clock,
        "runs": [run.id for run in comparison.joined.runs],
        "sides": sides,
        "warnings": [english(warning) for warning in comparison.joined.warnings],
        "statements": [statement_json(warning) for warning in comparison.joined.warnings],
        "tables": [_table(comparison, block) for block in comparison.blocks],
        "configuration": [
            {
                "option": differs.option,
                "values": dict(zip(comparison.names, differs.values, strict=True)),
                "why": differs.why,
            }
            for differs in comparison.differences
        ],
    }


def _table(comparison: Comparison, block: Block) -> dict[str, Any]:
    rows = []
    for row in block.rows:
        figures = {name: row.spread(name) for name in (*FIGURES, "0.5", LOAD)}
        rows.append(
            {
                "side": comparison.sides[row.side],
                "counted": len(row.once),
                "planned": row.planned,
                "starved": row.starved,
                "not_loaded": list(row.not_loaded),
                "gravity_ns": row.gravity_ns,
                "intervals": {
                    name: dict(zip(("low", "high"), interval, strict=True))
                    for name in QUANTILES
                    if (interval := row.interval(name)) is not None
                },
                **{
                    "median" if name == "0.5" else name: None if spread is None else asdict(spread)
                    for name, spread in figures.items()
                },
                "runs": {
                    name.removeprefix(RUN): asdict(spread)
                    for name in row.runs
                    if (spread := row.spread(name)) is not None
                },
            }
        )
    return {
        "title": block.title,
        "test": block.test,
        "labels": dict(block.labels),
        "column": block.column,
        "rows": rows,
        "published": [line.to_json() for line in block.published],
        "differences": [
            {"first": comparison.sides[p.first], "second": comparison.sides[p.second], **v.to_json()}
            for p in block.pairs
            for v in p.decisions
        ],
    }
