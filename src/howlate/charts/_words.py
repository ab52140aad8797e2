"""How times and counts are written for people: in direct labels, descriptions and tables of the report."""

from __future__ import annotations

import math
from collections.abc import Sequence

from howlate.charts._figure import Subject
from howlate.charts._scale import NARROW_SPACE
from howlate.language import N_, _
from howlate.model.columns import LATENCY, RESPONSE, column_title, column_words, things

INSIDE = (
    N_("wake-up latency"),
    N_("response time"),
    N_("interrupt latency"),
    N_("wake-up"),
    N_("wake-ups"),
    N_("data points"),
)
"""Columns and their values as they stand inside a sentence (model/columns.py makes them)."""


def column_of(subjects: Sequence[Subject]) -> str:
    """The column that is drawn: that of the bins."""
    return next((s.bins.column for s in subjects if s.bins is not None), LATENCY)


def said_of(subjects: Sequence[Subject]) -> tuple[str, str, str]:
    """What is drawn as a heading, inside a sentence, and what its values are one of each."""
    column = column_of(subjects)
    return title_of_column(column), words_of_column(column), things_of(column)


def title_of_column(column: str) -> str:
    """As a heading, in the reader's language."""
    return _(column_title(column))


def words_of_column(column: str) -> str:
    """Inside a sentence, in the reader's language."""
    return _(column_words(column))


def things_of(column: str, count: int = 2) -> str:
    """What its values are one of each, in the reader's language."""
    return _(things(column, count))


def are_wake_ups(subjects: Sequence[Subject]) -> bool:
    """Is what is drawn how late something woke?"""
    return column_of(subjects) in (LATENCY, RESPONSE)


def sentence_case(text: str) -> str:
    """With a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]


def time_text(ns: float, micro: str = "µs", space: str = NARROW_SPACE) -> str:
    """A time in the unit that reads best, with three significant digits, never fewer than its whole
    digits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), (micro, 1e3)):
        if abs(ns) >= size * 0.9995:
            return f"{significant(ns / size)}{space}{unit}"
    return f"{significant(ns)}{space}ns" if ns != int(ns) else f"{int(ns)}{space}ns"


def significant(value: float, digits: int = 3) -> str:
    """Three significant digits: 1.20, 12.0, 120, 1200."""
    if value == 0:
        return "0"
    whole = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}")))) + 1
    return f"{value:.{max(0, digits - whole)}f}"


def grouped(value: int, space: str = NARROW_SPACE) -> str:
    """A whole number with its thousands apart."""
    return f"{value:,}".replace(",", space)


def one_in(times: float) -> str:
    """A share as odds: "1 in 1 000", "1 in 10⁶"."""
    power = round(math.log10(times)) if times > 0 else 0
    if power >= 5 and math.isclose(times, 10.0**power, rel_tol=1e-9):
        many = f"10{str(power).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
    else:
        many = grouped(round(times)) if times >= 10 else significant(times, 2).removesuffix(".0")
    return _("1 in {many}").format(many=many)


def seconds_text(seconds: float, space: str = NARROW_SPACE) -> str:
    """How long something took: "12 s", "4 min", "1 h 30 min"."""
    if seconds < 10:
        return f"{significant(seconds, 2).removesuffix('.0')}{space}s"
    if seconds < 120:
        return f"{seconds:.0f}{space}s"
    if seconds < 2 * 3600:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes}{space}min" + (f" {rest}{space}s" if rest and minutes < 10 else "")
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours}{space}h" + (f" {rest}{space}min" if rest else "")
