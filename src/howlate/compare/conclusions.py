"""The statements of a comparison: each is made from the numbers by a rule of docs/compare.md, in whichever
direction they point. Pure functions; they claim only what sides.sides supports."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from howlate.compare.compare import Block, Comparison
from howlate.compare.relations import relations
from howlate.compare.topics import MOST_SAID, Topic, topics_of
from howlate.compare.trends import boundaries, run_times, trends
from howlate.figures.figure import things_of
from howlate.sides.sides import SideRow
from howlate.statistics import phrases
from howlate.words.say import Text, english, english_text, to_json
from howlate.words.statement import Caption, Statement, message

Concluded = list[tuple[Text, list[Statement]]]
"""Statements below their headings."""

LEFT_OUT = message(
    "starved.left-out",
    "Left out, because the measurement starved the load, as the study expects: {sides:items}.",
)
TYPICAL = message("typical.once", "{side}: {share:level} of the {things} are at or below {times}.")
TYPICAL_RANGE = message("typical.range", "{low_ns:time} ({low_at}) to {high_ns:time} ({high_at})")
LARGEST = message(
    "largest.spread",
    "{side}: the largest seen is {largest}.",
    "{side}: the largest seen is {largest}; over its {repetitions} the maximum is {smallest_ns:time} to "
    "{largest_ns:time}.",
    by="count",
)
NEXT = message(
    "largest.next",
    "Under the same conditions one more {unit} shows a larger value with a probability of 1 in {of}.",
)
ALONE = message(
    "alone.caution",
    "Caution, {side}: in {count} of {cells} cell a single sample determines maximum and deviation; without it the "
    "maxima of these are {least_ns:time} to {most_ns:time}.",
    "Caution, {side}: in {count} of {cells} cells a single sample determines maximum and deviation; without it the "
    "maxima of these are {least_ns:time} to {most_ns:time}.",
    by="cells",
)


def conclusions(comparison: Comparison) -> Concluded:
    concluded: Concluded = []
    comparison, left_out = without_starved(comparison)
    for topic in topics_of(comparison):
        statements = _about(topic) if topic.column else []
        columns = _columns(comparison, topic)
        if topic.column == ("" if "" in columns else columns[0]):  # once, where all sides are
            statements += run_times(topic)
        if statements:
            concluded.append((topic.heading, statements))
    return [*concluded, *left_out]


def conclusions_json(concluded: Concluded) -> list[dict[str, Any]]:
    """`summary` of `compare --json`: the rule's name in docs/compare.md, the English text, and the statement."""
    return [
        {
            "about": english_text(heading),
            "rule": statement.rule.partition(".")[0].replace("-", " "),
            "text": english(statement),
            "statement": to_json(statement),
        }
        for heading, statements in concluded
        for statement in statements
    ]


def _about(topic: Topic) -> list[Statement]:
    return [
        *typical(topic),
        *largest(topic),
        *boundaries(topic),
        *relations(topic),
        *alone(topic),
        *trends(topic),
    ]


def without_starved(comparison: Comparison) -> tuple[Comparison, Concluded]:
    """The comparison without the rows whose load was starved as the study expects, and the names of these
    rows."""
    names: dict[str, None] = {}
    blocks = []
    for block in comparison.blocks:
        starved = {row.side for row in block.rows if row.starved}
        load = block.labels.get("load", "")
        names |= dict.fromkeys(
            f"{comparison.sides[side]}, {load}" if load else comparison.sides[side] for side in starved
        )
        rows = tuple(row for row in block.rows if row.side not in starved)
        pairs = tuple(pair for pair in block.pairs if not starved & {pair.first, pair.second})
        if rows:
            blocks.append(replace(block, rows=rows, pairs=pairs))
    if not names:
        return comparison, []
    left_out = LEFT_OUT(sides=tuple(names))
    return replace(comparison, blocks=tuple(blocks)), [(Caption("Starved loads"), [left_out])]


def _columns(comparison: Comparison, topic: Topic) -> list[str]:
    first = topic.blocks[0]
    return [b.column for b in comparison.blocks if (b.test, b.labels) == (first.test, first.labels)]


def typical_level(topic: Topic) -> str:
    """The highest of p99.9, p99 and the median that every valid repetition of every block states; "" if none
    is."""
    rows = [row for block in topic.blocks for row in block.rows if row.once]
    return next((q for q in ("0.999", "0.99", "0.5") if rows and all(row.spread(q) for row in rows)), "")


TYPICAL_LABELS = ("load", "timer")
"""Typical values are stated for each of these that varies, because no latency should be read without its way
to sleep."""


class TypicalTime(Struct, frozen=True):
    """The median over the repetitions, and its interval of 95 % where there is one."""

    ns: float
    interval: tuple[float, float] | None


def typical_values(topic: Topic, side: int, level: str) -> dict[Statement | None, TypicalTime]:
    """By load and way to sleep, in words, the largest over its blocks of the median over the repetitions. It may be
    negative: a real-time core's tasks answer ahead of their release."""
    rest = tuple(name for block in topic.blocks for name in block.labels if name not in TYPICAL_LABELS)
    largest: dict[Statement | None, TypicalTime] = {}
    for block, row in topic.rows(side):
        spread = row.spread(level)
        if spread is not None:
            where = topic.where(block, rest)
            if where not in largest or spread.median > largest[where].ns:
                largest[where] = TypicalTime(spread.median, row.interval(level))
    return largest


def typical(topic: Topic) -> list[Statement]:
    level = typical_level(topic)
    if not level:
        return []
    repeated = any(len(row.once) > 1 for block in topic.blocks for row in block.rows)
    statements = []
    for side, name in enumerate(topic.sides):
        times = typical_values(topic, side, level)
        if not times:
            continue
        over = Caption("median over {repetitions}", repetitions=topic.repetitions)
        who = phrases.SIDE_AT(side=name, where=over) if repeated else name
        statements.append(
            TYPICAL(side=who, share=float(level), things=things_of(topic.column), times=_each(times))
        )
    return statements


def _each(times: dict[Statement | None, TypicalTime]) -> Statement | tuple[Statement, ...]:
    if len(times) <= MOST_SAID:
        return tuple(phrases.time_at(time.ns, where, time.interval) for where, time in times.items())
    low, high = min(times, key=lambda k: times[k].ns), max(times, key=lambda k: times[k].ns)
    return TYPICAL_RANGE(low_ns=times[low].ns, low_at=low, high_ns=times[high].ns, high_at=high)


def largest_of(topic: Topic, side: int) -> tuple[Block, SideRow] | None:
    rows = [(block, row) for block, row in topic.rows(side) if row.spread("maximum")]
    return max(rows, key=lambda pair: _largest(pair[1]), default=None)


def _largest(row: SideRow) -> float:
    spread = row.spread("maximum")
    return spread.largest if spread is not None else 0.0


def largest(topic: Topic) -> list[Statement]:
    """The largest value of each side, and how likely a larger one is."""
    statements = []
    fewest: list[int] = []
    for side, name in enumerate(topic.sides):
        at = largest_of(topic, side)
        if at is None:
            continue
        block, row = at
        spread, count = row.spread("maximum"), len(row.once)
        assert spread is not None
        statements.append(
            LARGEST(
                side=name,
                largest=phrases.time_at(spread.largest, topic.where(block)),
                count=count,
                repetitions=topic.counted(count),
                smallest_ns=spread.smallest,
                largest_ns=spread.largest,
            )
        )
        fewest.append(count)
    if fewest:
        unit = Caption("seed") if topic.virtual else Caption("repetition")
        statements.append(
            NEXT(unit=unit, of=min(fewest) + 1)
        )  # the next of them is as likely the largest as each
    return statements


def alone(topic: Topic) -> list[Statement]:
    """For each side in which one sample makes maximum and deviation somewhere: a statement that these two
    figures depend on it."""
    statements = []
    for side, name in enumerate(topic.sides):
        cells = [once.column.alone for _block, row in topic.rows(side) for once in row.once.values()]
        rests_ns = [rest.max for rest in cells if rest is not None]
        if rests_ns:
            statements.append(
                ALONE(
                    side=name,
                    count=len(rests_ns),
                    cells=len(cells),
                    least_ns=min(rests_ns),
                    most_ns=max(rests_ns),
                )
            )
    return statements
