"""The rules "trend" and "run time" of docs/compare.md: the maximum against a load's number, and what the runs of a
load take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from howlate.charts._words import significant
from howlate.language import _, retold
from howlate.model.study import numbered
from howlate.report.compare import Block
from howlate.report.parts import Part, Said, time_of
from howlate.stats.diagnose import kendall_trend
from howlate.stats.sides import LEVEL, RUN, Row, Verdict

FEWEST_NUMBERS = 5
"""Of fewer even a perfect order is no trend at the 5 % level."""


@dataclass(frozen=True)
class Series:
    """A figure against a load's number on one side."""

    load: str
    where: str
    points: tuple[tuple[float, float], ...]
    """(number, median over the repetitions), increasing numbers."""


def series_of(
    part: Part, side: int, pick: Callable[[Row], float | None], fewest: int = FEWEST_NUMBERS
) -> list[Series]:
    """By load and everything else that is the same, where there are enough numbers."""
    found: dict[tuple[str, tuple[tuple[str, str], ...]], list[tuple[float, float, Block]]] = {}
    for block, row in part.rows(side):
        load, value = numbered(block.labels.get("load", "")), pick(row)
        if load is not None and value is not None:
            rest = tuple(sorted((n, t) for n, t in block.labels.items() if n != "load"))
            found.setdefault((load[0], rest), []).append((load[1], value, block))
    return [
        Series(
            load,
            part.where(rows[0][2], ("load",)),
            tuple(sorted((number, value) for number, value, _ in rows)),
        )
        for (load, _), rows in found.items()
        if len({number for number, _, _ in rows}) >= fewest
    ]


def middle_maximum(row: Row) -> float | None:
    its = row.range("maximum")
    return None if its is None else its.median


def trends(part: Part) -> list[Said]:
    """Whether the maximum rises with a load's number: Kendall's tau over the numbers. Equal maxima, and those at
    equal numbers, are neither a rise nor a fall."""
    out = []
    for side, name in enumerate(part.sides):
        for its in series_of(part, side, middle_maximum):
            values = [value for _, value in its.points]
            trend = kendall_trend(values, [number for number, _ in its.points])
            assert trend is not None
            first, last = its.points[0][0], its.points[-1][0]
            span = _("from {first:g} to {last:g} of {load}{value}{where}").format(
                first=first, last=last, load=its.load, value=" " if its.where else "", where=its.where
            )
            change = _("{time_of} to {time_of2}, tau {tau:.2f}, p {p:.2g}").format(
                time_of=time_of(values[0]), time_of2=time_of(values[-1]), tau=trend.tau, p=trend.p
            )
            if trend.p >= LEVEL:
                text = _("{name}: no rise and no fall of the maximum is shown {span} ({change})").format(
                    name=name, span=span, change=change
                )
            elif trend.tau > 0:
                text = _("{name}: the maximum rises {span} ({change})").format(
                    name=name, span=span, change=change
                )
            else:
                text = _("{name}: the maximum falls {span} ({change})").format(
                    name=name, span=span, change=change
                )
            out.append(Said("trend", _("{sentence}.").format(sentence=text)))
    return out


def run_times(part: Part) -> list[Said]:
    """Whether a load's own runs take longer on one side than on the other."""
    out = []
    for first, second in dict.fromkeys((p.first, p.second) for block in part.blocks for p in block.pairs):
        by_load: dict[str, list[tuple[Block, Verdict]]] = {}
        for block in part.blocks:
            for pair in block.pairs:
                for verdict in pair.verdicts if (pair.first, pair.second) == (first, second) else ():
                    if verdict.figure.startswith(RUN):
                        by_load.setdefault(verdict.figure, []).append((block, verdict))
        out += [
            Said("run time", _run_time(part, first, second, figure, found))
            for figure, found in by_load.items()
        ]
    return out


def _run_time(
    part: Part, first: int, second: int, figure: str, found: Sequence[tuple[Block, Verdict]]
) -> str:
    """Told where pairs are told apart; else as seen, with the reason."""
    load = figure.removeprefix(RUN).rpartition(".")[0]
    a, b = part.sides[first], part.sides[second]
    ratios = []
    for block, _verdict in found:
        one, other = block.row(first), block.row(second)
        mine = one.range(figure) if one is not None else None
        its = other.range(figure) if other is not None else None
        if mine is not None and its is not None and its.median > 0:
            ratios.append(mine.median / its.median)
    span = (
        _("{significant} to {significant2} times as long").format(
            significant=significant(min(ratios)), significant2=significant(max(ratios))
        )
        if len(ratios) > 1
        else _("{significant} times as long").format(significant=significant(ratios[0]))
        if ratios
        else _("an unknown time")
    )
    stated = [verdict.direction for _, verdict in found if verdict.direction != "unstated"]
    head = _("A run of {load} takes {span} on {a} as on {b}").format(load=load, span=span, a=a, b=b)
    if not stated:
        return _("{head}, as seen; that it is the side's doing is not stated: {why}.").format(
            head=head, why=retold(found[0][1].why)
        )
    longer, shorter = stated.count("larger"), stated.count("smaller")
    return _(
        "{head}: longer at {longer}, shorter at {shorter}, not distinguishable at {stated} "
        "of {stated2} points."
    ).format(
        head=head, longer=longer, shorter=shorter, stated=len(stated) - longer - shorter, stated2=len(stated)
    )
