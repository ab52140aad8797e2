"""Phrases inside the comparison's statements: places, sides, columns, figures, repetitions. Nouns are captions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from howlate.model.columns import TITLES, column_title
from howlate.model.summary import MISSES
from howlate.words.statement import Caption, Statement, message

UNDER = message("place.under", "under {load}")
WITHOUT_LOAD = message("place.without-load", "without load")
OVER_ALL = message("place.over-all", "over all")
AT_PERIOD = message("place.period", "at a period of {period}")
WITH = message("place.label", "with {name} {value}")
PLACE = message("place.labels", "{labels:words}")
TIME = message("time.alone", "{time_ns:time}")
TIME_WITHIN = message(
    "time.within", "{time_ns:time} ({low_ns:time-at-least} to {high_ns:time-at-most} with 95 %)"
)
TIME_AT = message("time.at", "{time} {where}")
SIDE_AT = message("side.at", "{side} ({where})")
NUMBER = message("number.alone", "{value:significant}")
NUMBERS = message("number.range", "{low:significant} to {high:significant}")
SO_MANY_SEEDS = message("repetitions.so-many-seeds", "{count} seed", "{count} seeds", by="count")
SO_MANY_REPETITIONS = message(
    "repetitions.so-many-repetitions", "{count} repetition", "{count} repetitions", by="count"
)
RELEASES, DATA_POINTS = Caption("releases"), Caption("data points")
SEEDS, REPETITIONS = Caption("seeds"), Caption("repetitions")
FIGURES: Mapping[str, Caption] = {
    "0.5": Caption("median"),
    "0.999": Caption("p99.9"),
    "max": Caption("maximum"),
    "stddev": Caption("standard deviation"),
    MISSES: Caption("share of missed deadlines"),
}


def under(load: str) -> Statement:
    """ "under cpu:50", "without load"."""
    if not load:
        return OVER_ALL()
    return WITHOUT_LOAD() if load == "none" else UNDER(load=load)


def label_phrase(name: str, value: str) -> Statement:
    if name == "load":
        return under(value)
    return AT_PERIOD(period=value) if name == "period" else WITH(name=name, value=value)


def time_at(
    time_ns: float, where: Statement | None, interval: tuple[float, float] | None = None
) -> Statement:
    """A time, with its place if there are several, and its interval if there is one."""
    time = TIME(time_ns=time_ns)
    if interval is not None:
        time = TIME_WITHIN(time_ns=time_ns, low_ns=interval[0], high_ns=interval[1])
    return time if where is None else TIME_AT(time=time, where=where)


def side_at(side: str, where: Statement | tuple[Statement, ...] | None) -> Statement | str:
    """A side, with the places of the statement if these are not all."""
    return SIDE_AT(side=side, where=where) if where else side


def span(values: Sequence[float]) -> Statement:
    if len(values) == 1:
        return NUMBER(value=values[0])
    return NUMBERS(low=min(values), high=max(values))


def column_heading(column: str) -> Caption | str:
    """A column as a heading; "" stands for the time of the loads' own runs."""
    if not column:
        return Caption("The load's own runs")
    return Caption(column_title(column)) if column in TITLES else column_title(column)
