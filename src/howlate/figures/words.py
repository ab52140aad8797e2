"""The names in charts: columns, and the unit being counted."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.figures.figure import Subject
from howlate.figures.scale import Scale
from howlate.model.columns import LATENCY, RESPONSE, column_title, column_words, things
from howlate.words.caption import Caption
from howlate.words.quantities import time_text
from howlate.words.say import Text

NAMES = (
    Caption("Wake-up latency"),
    Caption("Response time"),
    Caption("Interrupt latency"),
    Caption("wake-up latency"),
    Caption("response time"),
    Caption("interrupt latency"),
    Caption("wake-up"),
    Caption("wake-ups"),
    Caption("data point"),
    Caption("data points"),
)
"""Columns, as headings and inside a sentence, and the units being counted: model/columns.py makes them, and here
the catalogues find them."""


def column_of(subjects: Sequence[Subject]) -> str:
    return next((s.bins.column for s in subjects if s.bins is not None), LATENCY)


def names_of(subjects: Sequence[Subject]) -> tuple[Caption, Caption, Caption]:
    """The drawn quantity, as a heading and inside a sentence, and the unit being counted."""
    column = column_of(subjects)
    return title_of_column(column), words_of_column(column), things_of(column)


def title_of_column(column: str) -> Caption:
    return Caption(column_title(column))


def words_of_column(column: str) -> Caption:
    return Caption(column_words(column))


def things_of(column: str, count: int = 2) -> Caption:
    return Caption(things(column, count))


def around_zero(x: Scale) -> Text:
    """How to read an axis with values of 0 or below; "" for one of values above zero, or a linear one."""
    return (
        Caption(
            "The axis is nearly linear within {knee} of zero, and logarithmic beyond it.",
            knee=time_text(x.knee),
        )
        if x.log and x.knee
        else ""
    )


def are_wake_ups(subjects: Sequence[Subject]) -> bool:
    return column_of(subjects) in (LATENCY, RESPONSE)
