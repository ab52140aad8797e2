"""A run in one line for scripts: the outcome, and of the row that it is about the largest latency, p99 and misses.

FAIL max=9098.7us p99=455.8us missed=4/3015 load=none runs/20260102T030405-check
MEASURED max=9098.7us p99=455.8us load=none runs/20260102T030405-check"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from howlate.document.first_screen.answer import outcome_of
from howlate.document.first_screen.rows import screen_rows
from howlate.document.of_runs import Material
from howlate.model.summary import DeadlineSummary
from howlate.statistics.labels import axes_that_vary
from howlate.words.printable import shell_word

MEASURED = "MEASURED"
"""In the place of an outcome, where no deadline was stated."""
NOTHING = "-"


class BriefRow(NamedTuple):
    """The figures of one row."""

    labels: Mapping[str, str]
    max_ns: float | None
    p99_ns: float | None
    counts: DeadlineSummary | None


def brief(outcome: str, row: BriefRow | None, every: Sequence[Mapping[str, str]], folder: str) -> str:
    """`row`: the worst; `every`: the labels of all rows; `folder`: as a command takes it."""
    if row is None:
        row = BriefRow({}, None, None, None)
    counts = row.counts
    missed = [f"missed={counts.misses}/{counts.releases}"] if outcome and counts is not None else []
    axes = axes_that_vary(every) if every else ()
    where = [f"{axis}={shell_word(row.labels[axis])}" for axis in axes if row.labels.get(axis)]
    return " ".join(
        [outcome or MEASURED, f"max={_us(row.max_ns)}", f"p99={_us(row.p99_ns)}", *missed, *where, folder]
    )


def brief_of(material: Material) -> str:
    """Of the first run of the material."""
    found = screen_rows(material.runs[0])
    worst = next((BriefRow(r.group.labels, r.max_ns, r.p99_ns, r.counts) for r in found.rows), None)
    return brief(outcome_of(material), worst, [row.group.labels for row in found.rows], material.folder)


def _us(ns: float | None) -> str:
    return NOTHING if ns is None else f"{ns / 1000:.1f}us"
