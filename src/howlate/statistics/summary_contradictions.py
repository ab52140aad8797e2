"""Contradictions within a summary of our own samples: the rules for printed tables, and those that only a
whole summary allows. Real samples are never accused: figures count as known to nine digits."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from howlate.model.summary import CellSummary, ColumnSummary
from howlate.statistics.contradictions import PrintedNumber, Summary, contradictions

_DIGITS = Fraction(1, 10**9)


def contradiction(summary: CellSummary) -> str:
    """The first contradiction, as the end of a sentence; "" if there is none."""
    for name, column in summary.columns.items():
        if what := column_contradiction(column):
            return f"{name}: {what}"
    counts = summary.accounting
    if counts.releases != counts.recorded + counts.overruns + counts.dropped:
        return (
            f"{counts.releases:,} releases are not {counts.recorded:,} recorded, {counts.overruns:,} overruns and "
            f"{counts.dropped:,} dropped"
        )
    return ""


def column_contradiction(column: ColumnSummary) -> str:
    if column.count is not None and column.count < 0:
        return f"count {column.count} is below zero"
    exceeded = column.period_exceeded
    if exceeded is not None and column.count is not None and not 0 <= exceeded <= column.count:
        return f"period_exceeded {exceeded:,} is not within the count {column.count:,}"
    if what := _disorder(column):
        return what
    row = Summary(
        n=column.count,
        min=_known(column.min),
        mean=_known(column.mean),
        max=_known(column.max),
        stddev=_known(column.stddev),
    )
    for found in contradictions(row):
        figures = ", ".join(f"{name} {getattr(column, name, column.count)}" for name in found.figures)
        return f"{figures} cannot stand together ({found.rule})"
    return ""


def _disorder(column: ColumnSummary) -> str:
    """min <= quantiles in their order <= max."""
    quantiles = sorted((float(q), v) for q, v in column.quantiles.items() if v is not None)
    rising = [("min", column.min), *((f"quantile {q:g}", v) for q, v in quantiles), ("max", column.max)]
    known = [(name, value) for name, value in rising if value is not None]
    for (low, small), (high, large) in pairwise(known):
        if small > large:
            return f"{high} {large:,} is below {low} {small:,}"
    return ""


def _known(value: float | None) -> PrintedNumber | None:
    if value is None:
        return None
    exact = Fraction(value)
    return PrintedNumber(exact, abs(exact) * _DIGITS)
