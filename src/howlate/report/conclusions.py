"""What a comparison says in words: each sentence made from the numbers by a rule of docs/compare.md, in whichever
direction they point. Pure functions; nothing is claimed that stats.sides does not carry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from howlate.charts._words import significant
from howlate.language import _
from howlate.report.boundaries import boundaries
from howlate.report.compare import Block, Comparison
from howlate.report.parts import MOST_SAID, Part, Said, parts_of, time_of, title_of
from howlate.report.relations import relations
from howlate.report.trends import run_times, trends
from howlate.stats.diagnose import next_stretch_confidence
from howlate.stats.sides import Row


def conclusions(found: Comparison) -> list[tuple[str, list[Said]]]:
    """All sentences, by what they are about."""
    out = []
    found, left_out = without_starved(found)
    for part in parts_of(found):
        said = (
            []
            if not part.column
            else [
                *typical(part),
                *largest(part),
                *boundaries(part),
                *relations(part),
                *alone(part),
                *trends(part),
            ]
        )
        columns = _columns(found, part)
        if part.column == ("" if "" in columns else columns[0]):  # once, where all sides are
            said += run_times(part)
        if said:
            out.append((title_of(part), said))
    return [*out, *left_out]


def without_starved(found: Comparison) -> tuple[Comparison, list[tuple[str, list[Said]]]]:
    """The comparison without the rows whose load was starved as the study expects, and a sentence that names them."""
    names: dict[str, None] = {}
    blocks = []
    for block in found.blocks:
        starved = {row.side for row in block.rows if row.starved}
        load = block.labels.get("load", "")
        names |= dict.fromkeys(
            f"{found.sides[side]}, {load}" if load else found.sides[side] for side in starved
        )
        rows = tuple(row for row in block.rows if row.side not in starved)
        pairs = tuple(pair for pair in block.pairs if not starved & {pair.first, pair.second})
        if rows:
            blocks.append(replace(block, rows=rows, pairs=pairs))
    if not names:
        return found, []
    text = _(
        "Left out of all sentences, because what was measured starved the load, as the study expects: {names}."
    ).format(names="; ".join(names))
    return replace(found, blocks=tuple(blocks)), [(_("Starved loads"), [Said("starved", text)])]


def _columns(found: Comparison, part: Part) -> list[str]:
    first = part.blocks[0]
    return [b.column for b in found.blocks if (b.test, b.labels) == (first.test, first.labels)]


def typical_level(part: Part) -> str:
    """The highest of p99.9, p99 and the median that every valid repetition of every block states; "" for none."""
    rows = [row for block in part.blocks for row in block.rows if row.once]
    return next((q for q in ("0.999", "0.99", "0.5") if rows and all(row.range(q) for row in rows)), "")


TOLD = ("load", "timer")
"""What is typical is told for each of these that varies: no latency is to be read without its way to sleep."""


def typical_values(part: Part, side: int, level: str) -> dict[str, float]:
    """By load and way to sleep, in words, the largest over its blocks of the median over the repetitions."""
    rest = tuple(name for block in part.blocks for name in block.labels if name not in TOLD)
    found: dict[str, float] = {}
    for block, row in part.rows(side):
        its = row.range(level)
        if its is not None:
            where = part.where(block, rest)
            found[where] = max(found.get(where, 0.0), its.median)
    return found


def typical(part: Part) -> list[Said]:
    """A sentence a side."""
    level = typical_level(part)
    if not level:
        return []
    share = _("half") if level == "0.5" else f"{significant(float(level) * 100, 4).rstrip('0').rstrip('.')} %"
    came = _("came within") if part.are_wake_ups else _("are within")
    repeated = any(len(row.once) > 1 for block in part.blocks for row in block.rows)
    over = (
        _("in the median over its {repetitions} ").format(repetitions=part.repetitions()) if repeated else ""
    )
    out = []
    for side, name in enumerate(part.sides):
        found = typical_values(part, side, level)
        if found:
            out.append(
                Said(
                    "typical",
                    _("{name}: {over}{share} of the {values} {came} {found}.").format(
                        name=name,
                        over=over,
                        share=share,
                        values=_(part.values),
                        came=came,
                        found=_each(found),
                    ),
                )
            )
    return out


def _each(found: Mapping[str, float]) -> str:
    if len(found) <= MOST_SAID:
        return ", ".join(f"{time_of(value)} {where}".strip() for where, value in found.items())
    low, high = min(found, key=lambda k: found[k]), max(found, key=lambda k: found[k])
    return _("{time_of} ({low}) to {time_of2} ({high})").format(
        time_of=time_of(found[low]), low=low, time_of2=time_of(found[high]), high=high
    )


def largest_of(part: Part, side: int) -> tuple[Block, Row] | None:
    """Where the side's largest value of all was seen."""
    found = [(block, row) for block, row in part.rows(side) if row.range("maximum")]
    return max(found, key=lambda pair: _largest(pair[1]), default=None)


def _largest(row: Row) -> float:
    its = row.range("maximum")
    return its.largest if its is not None else 0.0


def largest(part: Part) -> list[Said]:
    out = []
    fewest: list[int] = []
    for side, name in enumerate(part.sides):
        found = largest_of(part, side)
        if found is None:
            continue
        block, row = found
        its, count = row.range("maximum"), len(row.once)
        assert its is not None
        where = part.where(block)
        spread = (
            _("; over its {count} {repetitions} the maximum is {smallest} to {largest}").format(
                count=count,
                repetitions=part.repetitions(),
                smallest=time_of(its.smallest),
                largest=time_of(its.largest),
            )
            if count > 1
            else _("; one {repetitions}, so without a spread").format(repetitions=part.repetitions(1))
        )
        out.append(
            Said(
                "largest",
                _("{name}: the largest seen is {largest}{value}{where}{spread}.").format(
                    name=name,
                    largest=time_of(its.largest),
                    value=" " if where else "",
                    where=where,
                    spread=spread,
                ),
            )
        )
        fewest.append(count)
    if fewest:
        out.append(Said("largest", _next(min(fewest), part)))
    return out


def alone(part: Part) -> list[Said]:
    """A sentence for each side of which one sample makes maximum and deviation somewhere: what is said of these two
    figures rests on it."""
    out = []
    for side, name in enumerate(part.sides):
        cells = [its.column.alone for _block, row in part.rows(side) for its in row.once.values()]
        found = [its for its in cells if its is not None]
        if found:
            least, most = min(its.max for its in found), max(its.max for its in found)
            out.append(
                Said(
                    "alone",
                    _(
                        "Caution, {name}: in {some} of {cells} cells one sample alone makes the maximum and the "
                        "deviation; without it the maxima of these are {least} to {most}. What is said "
                        "here of maxima and deviations rests on such samples."
                    ).format(
                        name=name, some=len(found), cells=len(cells), least=time_of(least), most=time_of(most)
                    ),
                )
            )
    return out


def _next(repetitions: int, part: Part) -> str:
    """The bound on the next stretch that exchangeable repetitions allow."""
    if repetitions == 1 and not part.virtual:
        return _(
            "A largest value is no limit: that as long again shows none larger has a probability "
            "of 1 in 2, if what comes is like what was."
        )
    if repetitions == 1:
        return _(
            "One seed is one case of phase and dither, not a kernel's value: that another, where "
            "a seed changes anything, shows none larger has a probability of 1 in 2."
        )
    sure = next_stretch_confidence(repetitions, 1)
    assert 0 < sure < 1
    one = part.repetitions(1)
    return _(
        "A largest value is no limit: that one more {one} shows none larger has a "
        "probability of {repetitions} in {repetitions2}, that as many again show none 1 in "
        "2, if what comes is like what was."
    ).format(one=one, repetitions=repetitions, repetitions2=repetitions + 1)
