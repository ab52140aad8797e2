"""A run in one line for scripts: the outcome, and of the row that it is about the largest latency, p99 and misses.

FAIL max=9098.7us p99=455.8us missed=4/3015 load=none runs/20260102T030405-check
MEASURED max=9098.7us p99=455.8us load=none runs/20260102T030405-check"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from howlate.document.first_screen.answer import ScreenAnswer
from howlate.document.report_input import ReportInput
from howlate.statistics.labels import axes_that_vary
from howlate.words.printable import shell_word

MEASURED = "MEASURED"
"""In the place of an outcome, where no deadline was stated."""
UNMEASURED = "UNMEASURED"
"""Where no cell is whole."""
NOTHING = "-"
NOT_VALID = "valid=no"


def brief_of(material: ReportInput) -> str:
    """Of the first run of the material: the first row of its screen. The folder is as a command takes it."""
    answer = ScreenAnswer.of(material)
    rows = answer.rows.rows
    if not rows:
        return line(answer.outcome or UNMEASURED, (None, None), [], material.folder)
    worst, counts = rows[0], rows[0].counts
    missed: list[str] = []
    if answer.outcome and counts is not None:
        missed = [f"missed{'>=' if counts.at_least else '='}{counts.misses}/{counts.releases}"]
    labels = labels_of(worst.group.labels, [row.group.labels for row in rows])
    marks = [NOT_VALID] if worst.mark else []
    return line(answer.outcome, (worst.max_ns, worst.p99_ns), [*missed, *labels, *marks], material.folder)


def line(outcome: str, figures: tuple[float | None, float | None], words: Sequence[str], folder: str) -> str:
    """`figures`: the largest and p99, in nanoseconds; `words`: what else is said of them."""
    largest, p99 = map(_us, figures)
    return " ".join([outcome or MEASURED, f"max={largest}", f"p99={p99}", *words, folder])


def labels_of(row: Mapping[str, str], every: Sequence[Mapping[str, str]]) -> list[str]:
    """The labels that distinguish the row, as words of a shell."""
    return [f"{axis}={shell_word(row[axis])}" for axis in axes_that_vary(every) if row.get(axis)]


def _us(ns: float | None) -> str:
    return NOTHING if ns is None else f"{ns / 1000:.1f}us"
