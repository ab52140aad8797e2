"""The comparison of the sides of a joined set: tables in the published layout, and what differs (docs/compare.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from howlate.errors import UsageError
from howlate.language import _
from howlate.model.columns import RESPONSE
from howlate.model.reference import Reference
from howlate.model.summary import CellSummary
from howlate.reference.beside import Line, lines_beside
from howlate.reference.load import find_reference
from howlate.report.configs import Difference, that_matter
from howlate.report.content import RunContent
from howlate.report.join import KERNEL, PART, Joined, Place, described, join, labels_that_vary, parameters_of
from howlate.report.kernels import Kernel, compared
from howlate.report.sides import fact
from howlate.stats.sides import FIGURES, LOAD, RUN, Once, Row, Verdict, verdicts

MOST_CROSSED = 4
"""Of more sides than these each is compared with the first alone, not with every other."""


@dataclass(frozen=True)
class Pair:
    """Two sides at one point."""

    first: int
    second: int
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class Block:
    """One table: a combination of all labels but the kernel, a column of the samples, a row a side."""

    title: str
    test: str
    labels: Mapping[str, str]
    column: str
    rows: tuple[Row, ...]
    pairs: tuple[Pair, ...]
    published: tuple[Line, ...] = ()
    """What the study's document prints for these labels, where it names one."""
    stand: tuple[frozenset[int], ...] = ()
    """Of each of these the sides that were measured as it was."""

    @property
    def runs(self) -> tuple[str, ...]:
        """Figures of the loads' own runs."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.runs))

    def row(self, side: int) -> Row | None:
        return next((row for row in self.rows if row.side == side), None)


@dataclass(frozen=True)
class Comparison:
    """Everything that `compare` says, before it is put into words. Of one side where a document stands beside it."""

    joined: Joined
    blocks: tuple[Block, ...]
    names: tuple[str, ...]
    """Who is compared in `differences`: labels of kernels that share a configuration."""
    differences: tuple[Difference, ...]
    kernels: tuple[Kernel, ...]
    references: tuple[Reference, ...] = ()
    """The documents that stand beside."""

    @property
    def sides(self) -> tuple[str, ...]:
        return tuple(side.name for side in self.joined.sides)


def _one_side(contents: Sequence[RunContent], joined: Joined, axes: str) -> UsageError:
    """Why there are no two sides at any point: a run has nothing, they measured other points, or there is one run.
    `axes`: how to compare within a run, where that is possible."""
    empty = [content.name or content.run.id for content in contents if not content.cells]
    if not joined.sides or empty:
        where = f" in {', '.join(empty)}" if joined.sides else ""
        return UsageError(
            f"no cell is whole yet{where}", "measure it to its end: the same command goes on with it"
        )
    if len(contents) > 1:
        return UsageError(
            "no point was measured in more than one of these runs",
            f"measure the same study in both{', ' + axes if axes else ''}",
        )
    return UsageError(
        f"there is one side alone, {joined.sides[0].name}",
        f"name a run of another kernel{', ' + axes if axes else ''}",
    )


def compare(contents: Sequence[RunContent], by: str = KERNEL) -> Comparison:
    """UsageError where there is nothing to compare: one side alone."""
    joined = join(contents, by)
    known = {
        run.study.reference: find_reference(run.study.reference) for run in joined.runs if run.study.reference
    }
    if len(joined.sides) < 2 and not (joined.sides and known):
        vary = labels_that_vary(joined.places)
        remedy = (
            _("or compare along an axis with --by {vary}").format(vary=_(" or --by ").join(vary))
            if vary
            else ""
        )
        raise _one_side(contents, joined, remedy)
    names = labels_that_vary(joined.places)
    blocks = [block for place in joined.places for block in _blocks(joined, place, names, known)]
    kernels = _kernels(contents)
    who, found = compared(kernels)
    return Comparison(
        joined, tuple(blocks), tuple(who), tuple(that_matter(found)), kernels, tuple(known.values())
    )


def compare_if_several(contents: Sequence[RunContent]) -> Comparison | None:
    """None where there is one side alone and no document beside it, or no cell at all."""
    try:
        return compare(contents)
    except UsageError:
        return None


def side_names(found: Comparison) -> dict[tuple[int, str], str] | None:
    """By run and the cells' label `kernel` the name of the side; None where kernel and preemption do not tell the
    sides apart."""
    sides = found.joined.sides
    if len({(side.kernel, side.preemption) for side in sides}) < len(sides):
        return None
    return {
        (member.run, member.group.labels.get(KERNEL, "")): sides[i].name
        for place in found.joined.places
        for i, member in place.members.items()
    }


def labels_of(contents: Sequence[RunContent], found: Comparison | None) -> list[dict[str, str]]:
    """Of all cells of all runs, one after the other. Cells of several runs are told apart by the kernel where that
    does, else by the run."""
    kernels = side_names(found) if found is not None and len(contents) > 1 else None
    labels = []
    for number, content in enumerate(contents):
        for cell in content.cells:
            own = dict(cell.summary.labels)
            if kernels is not None:
                own[KERNEL] = kernels[number, own.get(KERNEL, "")]
            labels.append(
                {"run": content.name or content.run.id, **own}
                if len(contents) > 1 and kernels is None
                else own
            )
    return labels


def labelled(contents: Sequence[RunContent], found: Comparison | None) -> list[CellSummary]:
    """The summaries of all cells with those labels."""
    cells = [cell.summary for content in contents for cell in content.cells]
    labels = labels_of(contents, found)
    return [replace(cell, labels=one) for cell, one in zip(cells, labels, strict=True)]


def _blocks(
    joined: Joined, place: Place, names: Sequence[str], known: Mapping[str, Reference]
) -> list[Block]:
    cells = [cell for member in place.members.values() for cell in member.group.cells]
    columns = dict.fromkeys(name for cell in cells for name in cell.columns)
    said = [n for n in columns if n != RESPONSE or any(c.columns[n].max for c in cells if n in c.columns)]
    if len({tuple(cell.columns) for cell in cells}) > 1:
        said.append("")  # what they have in common: how long the loads' own runs took
    found = []
    for column in said:
        rows = tuple(
            Row(
                side,
                {r: once for r, cell in member.by_repetition.items() if (once := Once.of(cell, column))},
                member.group.planned,
                member.not_loaded,
            )
            for side, member in sorted(place.members.items())
            if not column or any(column in cell.columns for cell in member.group.cells)
        )
        pairs = tuple(
            _pair(a, b, refusal(joined, place, a.side, b.side), bool(column))
            for a, b in combinations(rows, 2)
            if len(rows) <= MOST_CROSSED or a is rows[0]
        )
        title = described(place, names) if names else ""
        if not column and not any(row.runs for row in rows):
            continue
        beside = _published(joined, place, column, known)
        lines, stand = tuple(line for line, _ in beside), tuple(sides for _, sides in beside)
        found.append(Block(title, place.test, place.labels, column, rows, pairs, lines, stand))
    return found


def _pair(first: Row, second: Row, refused: str, measured: bool) -> Pair:
    """The figures of a column by Holm together, the loads' own runs for themselves."""
    runs = tuple(name for name in first.runs if name in second.runs)
    of_column = verdicts(first, second, refused) if measured else ()
    return Pair(first.side, second.side, (*of_column, *verdicts(first, second, refused, runs)))


def _published(
    joined: Joined, place: Place, column: str, known: Mapping[str, Reference]
) -> list[tuple[Line, frozenset[int]]]:
    """What a document prints, each with the sides that were measured as it was. A side whose study names no document
    has that of the first that does."""
    named = [known.get(joined.runs[member.run].study.reference) for member in place.members.values()]
    first = next((reference for reference in named if reference is not None), None)
    found: list[tuple[Line, set[int]]] = []
    for (side, member), own in zip(place.members.items(), named, strict=True):
        reference = own or first
        if reference is not None and column:
            labels = {**member.group.labels, **place.labels}
            for line in lines_beside(reference, labels, column, parameters_of(member)):
                known_sides = next((sides for its, sides in found if its == line), None)
                if known_sides is None:
                    found.append((line, {side}))
                else:
                    known_sides.add(side)
    return [(line, frozenset(sides)) for line, sides in found]


def refusal(joined: Joined, place: Place, first: int, second: int) -> str:
    """Why the repetitions of two sides are no pairs; "" where they are."""
    one, other = place.members[first], place.members[second]
    asked, also = parameters_of(one), parameters_of(other)
    unlike = {n for n in {*asked, *also} if asked.get(n) != also.get(n)} - {joined.by, *place.labels}
    if unlike and joined.by != PART:  # in what parts differ is what is compared
        return _("they were not measured alike ({join})").format(join=", ".join(sorted(unlike)))
    if joined.virtual:
        if apart := _instructions_apart(joined, one.run, other.run, first, second):
            return _(
                "they were not measured with the same {apart}, whose instructions are counted too"
            ).format(apart=apart)
        common = set(one.parameters) & set(other.parameters)
        if any(
            one.parameters[r].get(n) != other.parameters[r].get(n) for r in common for n in ("first", "seed")
        ):
            return _("their seeds are not the same")
        return ""
    if one.run != other.run:
        return _("the runs are not interleaved: what differs may be the day as well as the side")
    if joined.runs[one.run].study.order.kind == "blocked":
        return _(
            "the cells were measured in blocks, not interleaved: order.kind=interleaved makes pairs of them"
        )
    return ""


def _instructions_apart(joined: Joined, run: int, other: int, first: int, second: int) -> str:
    """What else than the kernel makes instructions, and is not the same on both sides; "" where all of it is."""
    probes = {joined.runs[i].versions.get("probe", "") for i in (run, other)}
    emulators = {fact(joined.sides[i].facts, "lab.emulator") for i in (first, second)}
    return "probe" if len(probes) > 1 else "QEMU" if len(emulators) > 1 else ""


def _kernels(contents: Sequence[RunContent]) -> tuple[Kernel, ...]:
    found: dict[tuple[str, str], Kernel] = {}
    for content in contents:
        for kernel in content.kernels or _own(content):
            found.setdefault((kernel.label, kernel.version), kernel)
    return tuple(found.values())


def _own(content: RunContent) -> tuple[Kernel, ...]:
    """The kernel of a machine that is none of the lab's."""
    values = content.run.facts.get("values")
    if not isinstance(values, dict):
        return ()
    config = values.get("kernel.config")
    options = {str(k): str(v) for k, v in config.items() if v != "n"} if isinstance(config, dict) else {}
    release = str(values.get("kernel.release") or "unknown")
    return (
        Kernel(
            release,
            release,
            str(values.get("kernel.version") or "unknown"),
            str(values.get("kernel.cmdline") or ""),
            options,
            False,
        ),
    )


def to_json(found: Comparison) -> dict[str, Any]:
    """`compare --json`, without the summary."""
    sides = [
        {
            "name": side.name,
            "kernel": side.kernel,
            "preemption": side.preemption,
            "run": found.joined.runs[side.run].id,
        }
        for side in found.joined.sides
    ]
    return {
        "schema": 1,
        "clock": found.joined.runs[0].clock,
        "runs": [run.id for run in found.joined.runs],
        "sides": sides,
        "warnings": list(found.joined.warnings),
        "tables": [_table(found, block) for block in found.blocks],
        "configuration": [
            {"option": one.option, "values": dict(zip(found.names, one.values, strict=True)), "why": one.why}
            for one in found.differences
        ],
    }


def _table(found: Comparison, block: Block) -> dict[str, Any]:
    rows = []
    for row in block.rows:
        figures = {name: row.range(name) for name in (*FIGURES, "0.5", LOAD)}
        rows.append(
            {
                "side": found.sides[row.side],
                "counted": len(row.once),
                "planned": row.planned,
                "starved": row.starved,
                "not_loaded": list(row.not_loaded),
                **{
                    "median" if name == "0.5" else name: None if its is None else its.to_json()
                    for name, its in figures.items()
                },
                "runs": {
                    name.removeprefix(RUN): its.to_json()
                    for name in row.runs
                    if (its := row.range(name)) is not None
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
            {"first": found.sides[p.first], "second": found.sides[p.second], **v.to_json()}
            for p in block.pairs
            for v in p.verdicts
        ],
    }
