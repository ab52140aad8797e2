"""Phrases inside the comparison's statements: places, sides, columns, figures, repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from howlate.model.columns import LATENCY, RESPONSE, column_title
from howlate.model.summary import MISSES
from howlate.words.statement import Rule, Statement, rule

UNDER = rule("place.under", "under {load}")
WITHOUT_LOAD = rule("place.without-load", "without load")
OVER_ALL = rule("place.over-all", "over all")
AT_PERIOD = rule("place.period", "at a period of {period}")
IN_TEST = rule("place.test", "in the test {test}")
WITH = rule("place.label", "with {name} {value}")
PLACE = rule("place.labels", "{labels:words}")

TIME = rule("time.alone", "{time_ns:time}")
TIME_AT = rule("time.at", "{time_ns:time} {where}")
TIME_WITHIN = rule(
    "time.within", "{time_ns:time} ({low_ns:time-at-least} to {high_ns:time-at-most} with 95 %)"
)
TIME_WITHIN_AT = rule(
    "time.within-at", "{time_ns:time} ({low_ns:time-at-least} to {high_ns:time-at-most} with 95 %) {where}"
)
SIDE_AT = rule("side.at", "{side} ({where})")
NUMBER = rule("number.alone", "{value:significant}")
NUMBERS = rule("number.range", "{low:significant} to {high:significant}")

WAKE_UPS = rule("things.wake-ups", "wake-ups")
DATA_POINTS = rule("things.data-points", "data points")
JUDGED_RELEASES = rule("verdict.releases", "releases")
JUDGED_POINTS = rule("verdict.data-points", "data points")
"""What is held against a deadline."""
SEEDS = rule("repetitions.seeds", "seeds")
REPETITIONS = rule("repetitions.repetitions", "repetitions")
SO_MANY_SEEDS = rule("repetitions.so-many-seeds", "{count} seed", "{count} seeds", by="count")
SO_MANY_REPETITIONS = rule(
    "repetitions.so-many-repetitions", "{count} repetition", "{count} repetitions", by="count"
)
FIGURES: Mapping[str, Rule] = {
    "0.5": rule("figure.median", "median"),
    "0.999": rule("figure.p999", "p99.9"),
    "max": rule("figure.maximum", "maximum"),
    "stddev": rule("figure.standard-deviation", "standard deviation"),
    MISSES: rule("figure.misses", "share of missed deadlines"),
}
"""The compared figures."""

_COLUMNS = {
    "Wake-up latency": rule("column.wake-up-latency", "Wake-up latency"),
    "Response time": rule("column.response-time", "Response time"),
    "Interrupt latency": rule("column.interrupt-latency", "Interrupt latency"),
}
_OTHER_COLUMN = rule("column.other", "{name}")
RUNS = rule("column.runs", "The load's own runs")
HEADING_IN_TEST = rule("heading.in-test", "{what}, test {test}")
HEADING_OF_PART = rule("heading.of-part", "{part}: {what}")


def under(load: str) -> Statement:
    """ "under cpu:50", "without load"."""
    if not load:
        return OVER_ALL()
    return WITHOUT_LOAD() if load == "none" else UNDER(load=load)


def label_phrase(name: str, value: str) -> Statement:
    """One label of a place."""
    if name == "load":
        return under(value)
    if name == "period":
        return AT_PERIOD(period=value)
    return IN_TEST(test=value) if name == "test" else WITH(name=name, value=value)


def time_at(
    time_ns: float, where: Statement | None, interval: tuple[float, float] | None = None
) -> Statement:
    """A time, with its place if there are several, and its interval if there is one."""
    if interval is None:
        return TIME(time_ns=time_ns) if where is None else TIME_AT(time_ns=time_ns, where=where)
    values = {"time_ns": time_ns, "low_ns": interval[0], "high_ns": interval[1]}
    return TIME_WITHIN(**values) if where is None else TIME_WITHIN_AT(**values, where=where)


def side_at(side: str, where: Statement | tuple[Statement, ...] | None) -> Statement | str:
    """A side, with the places of the statement if these are not all."""
    return SIDE_AT(side=side, where=where) if where else side


def span(values: Sequence[float]) -> Statement:
    """The smallest and the largest of several numbers, or the only one."""
    if len(values) == 1:
        return NUMBER(value=values[0])
    return NUMBERS(low=min(values), high=max(values))


def column_heading(column: str) -> Statement:
    """A column as a heading; "" stands for the time of the loads' own runs."""
    if not column:
        return RUNS()
    title = column_title(column)
    return _COLUMNS[title]() if title in _COLUMNS else _OTHER_COLUMN(name=title)


def things(column: str) -> Statement:
    """The unit being counted: wake-ups, or data points."""
    return WAKE_UPS() if column in (LATENCY, RESPONSE) else DATA_POINTS()
