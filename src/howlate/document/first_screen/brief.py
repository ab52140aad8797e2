"""A run in one line for scripts: the outcome, and of the row that it is about the largest latency, p99 and misses.

FAIL max=9098.7us p99=455.8us missed=4/3015 load=none runs/20260102T030405-check
MEASURED max=9098.7us p99=455.8us load=none runs/20260102T030405-check"""

from __future__ import annotations

from howlate.document.first_screen.answer import ScreenAnswer
from howlate.document.of_runs import Material
from howlate.statistics.labels import axes_that_vary
from howlate.words.printable import shell_word

MEASURED = "MEASURED"
"""In the place of an outcome, where no deadline was stated."""
NOTHING = "-"


def brief_of(material: Material) -> str:
    """Of the first run of the material: the first row of its screen. The folder is as a command takes it."""
    answer = ScreenAnswer.of(material)
    rows = answer.rows.rows
    axes = axes_that_vary([row.group.labels for row in rows]) if rows else ()
    figures = [f"max={NOTHING}", f"p99={NOTHING}"]
    for worst in rows[:1]:
        counts = worst.counts
        figures = [f"max={_us(worst.max_ns)}", f"p99={_us(worst.p99_ns)}"]
        figures += (
            [f"missed={counts.misses}/{counts.releases}"] if answer.outcome and counts is not None else []
        )
        labels = worst.group.labels
        figures += [f"{axis}={shell_word(labels[axis])}" for axis in axes if labels.get(axis)]
    return " ".join([answer.outcome or MEASURED, *figures, material.folder])


def _us(ns: float | None) -> str:
    return NOTHING if ns is None else f"{ns / 1000:.1f}us"
