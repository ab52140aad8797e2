"""Noise from run to run: of pairs where nothing differs, and of series of runs without a change."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from howlate.history.courses import BOOT, Course
from howlate.history.history import History, history
from howlate.history.known_runs import KnownCell, KnownColumn, KnownRun

Reals = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, float, int], Reals]
COUNT = 60
SPREAD = 0.13
"""Of the logarithm of a run's value."""


def _scaled(values: Reals, deviation: float, sd: float) -> Reals:
    scaled: Reals = values * (sd / deviation)
    return scaled


def _skewed(random: np.random.Generator, sd: float, count: int) -> Reals:
    return _scaled(random.gumbel(0, 1, count), np.pi / np.sqrt(6), sd)


def _drifting(random: np.random.Generator, sd: float, pairs: int) -> Reals:
    """What a turn leaves to the next one, in both of its runs, and their difference of its own."""
    ratios = ar(random, 0.6, pairs)
    signed: Reals = _scaled(ratios, 1.25, sd) * random.choice([-1, 1], pairs)
    return signed


PAIRED: Mapping[str, Noise] = {
    "normal": lambda random, sd, pairs: random.normal(0, sd, pairs),
    "Laplace": lambda random, sd, pairs: random.laplace(0, sd / np.sqrt(2), pairs),
    "Student's t, 3 degrees": lambda random, sd, pairs: _scaled(random.standard_t(3, pairs), 3**0.5, sd),
    "skewed maxima": lambda random, sd, pairs: _scaled(
        random.gumbel(0, 1, pairs) - random.gumbel(0, 1, pairs), np.pi / np.sqrt(3), sd
    ),
    "one run in ten is ten times as late": lambda random, sd, pairs: (
        random.normal(0, sd / 3, pairs)
        + np.log(10) * ((random.random(pairs) < 0.1) * 1.0 - (random.random(pairs) < 0.1))
    ),
    "a random order in turns that drift": _drifting,
}
"""The logarithm of the ratio of a pair whose sides are equal: symmetric about 0."""


def ar(
    random: np.random.Generator, r: float, count: int, drawn: Callable[[int], Reals] | None = None
) -> Reals:
    """Each value remembers the one before; of variance 1 / (1 - r^2) times that of what is drawn."""
    values = drawn(count + 50) if drawn else random.normal(0, 1, count + 50)
    for i in range(1, len(values)):
        values[i] += r * values[i - 1]
    return values[50:]


class Kind(Struct, frozen=True):
    """Runs without a change."""

    made: Callable[[np.random.Generator], Reals]
    """A row of values for each statistic, in ns; of more than two for each series."""
    boots: Callable[[np.random.Generator], Sequence[str]] = lambda _random: ()
    is_promised: bool = True


def _lognormal(rows: int) -> Callable[[np.random.Generator], Reals]:
    return lambda random: 1e5 * np.exp(random.normal(0, SPREAD, (rows, COUNT)))


def _five_alike(random: np.random.Generator) -> Reals:
    """Rows of a run that move together: most of what differs from run to run is the run's."""
    values: Reals = _lognormal(1)(random) ** 0.8 * _lognormal(5)(random) ** 0.2
    return values


def _of_boots(length: int, between: float) -> Kind:
    """Runs of one boot are more alike than runs of two."""

    def made(random: np.random.Generator) -> Reals:
        of_boot = np.repeat(random.normal(0, between, COUNT // length + 1), length)[:COUNT]
        values: Reals = 1e5 * np.exp(of_boot + random.normal(0, SPREAD, COUNT))
        return values[np.newaxis]

    return Kind(made, lambda _random: [f"boot-{place // length}" for place in range(COUNT)])


def _alike(r: float, noise: Noise = PAIRED["normal"], is_promised: bool = True) -> Kind:
    """Each run takes after the one before."""

    def made(random: np.random.Generator) -> Reals:
        values: Reals = 1e5 * np.exp(ar(random, r, COUNT, partial(noise, random, SPREAD)))
        return values[np.newaxis]

    return Kind(made, is_promised=is_promised)


def _slow_in_spells(random: np.random.Generator) -> Reals:
    """A third of the runs, three in a row on average, take a third longer."""
    slow, spells = random.random() < 1 / 3, []
    for chance in random.random(COUNT):
        spells.append(slow)
        slow = chance > 1 / 3 if slow else chance < 1 / 6
    values: Reals = _lognormal(1)(random) * np.where(spells, 1.35, 1.0)
    return values


def _three_outliers(random: np.random.Generator) -> Reals:
    values, first = _lognormal(1)(random), random.integers(0, COUNT - 2)
    values[:, first : first + 3] *= 10
    return values


def _with_zeros(random: np.random.Generator) -> Reals:
    values: Reals = 1000 * random.integers(0, 4, (1, COUNT)).astype(np.float64)
    return values


RUNS_WITHOUT_A_CHANGE: Mapping[str, Kind] = {
    "log-normal": Kind(_lognormal(1)),
    "two statistics": Kind(_lognormal(2)),
    "one statistic twice": Kind(lambda random: np.repeat(_lognormal(1)(random), 2, axis=0)),
    "Student's t, 3 degrees": Kind(lambda random: 1e5 * np.exp(SPREAD * random.standard_t(3, (1, COUNT)))),
    "Pareto 1.5": Kind(lambda random: 1e4 * (1 + random.pareto(1.5, (1, COUNT)))),
    "whole microseconds": Kind(lambda random: 1000 * np.round(4 * np.exp(random.normal(0, 0.2, (1, COUNT))))),
    "0 to 3 us, zeros too": Kind(_with_zeros),
    "one run in ten is ten times as late": Kind(
        lambda random: _lognormal(1)(random) * np.where(random.random(COUNT) < 0.1, 10, 1)
    ),
    "correlation of neighbours 0.3": _alike(0.3),
    "correlation of neighbours 0.6": _alike(0.6, is_promised=False),
    "boots of 5 runs": _of_boots(5, 2 * SPREAD),
    "boots of 15 runs": _of_boots(15, 2 * SPREAD),
    "weekdays and weekends": Kind(
        lambda random: _lognormal(1)(random) * np.where(np.arange(COUNT) % 7 < 5, 1.0, 1.15)
    ),
    "a wave of 20 runs, 10 % high": Kind(
        lambda random: _lognormal(1)(random) * np.exp(0.1 * np.sin(np.arange(COUNT) * 2 * np.pi / 20)),
        is_promised=False,
    ),
    "correlation of neighbours 0.5": _alike(0.5),
    "Student's t, 3 degrees, correlation 0.3": _alike(0.3, PAIRED["Student's t, 3 degrees"], False),
    "skewed maxima, correlation 0.3": _alike(0.3, _skewed, False),
    "slow in spells of 3 runs": Kind(_slow_in_spells, is_promised=False),
    "three outliers in a row": Kind(_three_outliers, is_promised=False),
    "a random walk, 2 % a run": Kind(
        lambda random: _lognormal(1)(random) * np.exp(np.cumsum(random.normal(0, 0.02, COUNT))),
        is_promised=False,
    ),
    "five series": Kind(_lognormal(5)),
    "five series that move together": Kind(_five_alike),
}


def known_run(number: int, rows: Sequence[Mapping[str, float]], facts: Mapping[str, Any]) -> KnownRun:
    """A run whose cells have these figures."""
    name = f"run-{number:03}"
    cells = tuple(
        KnownCell(
            id=f"cpu-{load}-0123456789-1", test="cyclic", labels={"load": f"cpu:{load}"}, repetition=1, valid=True,
            stop_reason="activations", releases=12_000, recorded=12_000, overruns=0, dropped=0,
            columns={"latency_ns": KnownColumn(12_000, dict(figures))},
        )
        for load, figures in enumerate(rows)
    )  # fmt: skip
    started = f"2026-{1 + number // 28:02}-{1 + number % 28:02}T00:00:00Z"
    return KnownRun(
        folder=f"runs/{name}", id=name, started=started, study="check", target="local", clock="real", scale=1.0,
        versions={"howlate": "0.1.0"}, machines={"": {"cpu.model": "A CPU", **facts}}, cells=cells,
    )  # fmt: skip


def found_in(
    rows: Reals, statistics: Sequence[str] = ("max", "0.999"), boots: Sequence[str] = (), **asked: Any
) -> History:
    """What `history` says of runs with these values, a row for each statistic; if there are more rows, for each
    series."""
    names = statistics[: len(rows)] if len(rows) <= len(statistics) else statistics[:1]
    of_series = np.array_split(rows, len(rows) // len(names))
    runs = [
        known_run(
            place,
            [
                {name: float(row[place]) for name, row in zip(names, series, strict=True)}
                for series in of_series
            ],
            {BOOT: boots[place]} if boots else {},
        )
        for place in range(rows.shape[1])
    ]
    return history(runs, names, **asked)


def history_of(rows: Reals, statistics: Sequence[str], boots: Sequence[str] = ()) -> tuple[Course, ...]:
    return found_in(rows, statistics, boots).courses


def is_called(rows: Reals, boots: Sequence[str] = (), looks: Sequence[int] = (16, 18, 32, 34, COUNT)) -> bool:
    """Whether somebody who looks again and again is ever told of a change. What was seen after some runs is seen
    after more of them (a test says so), and trends are looked for in the first 16 and 32: these looks see all that
    the looks after every second run see, but for changes that shrink below the margin."""
    return any(
        any(
            course.changes or course.has_trend
            for course in history_of(rows[:, :end], ("max", "0.999"), boots[:end])
        )
        for end in looks
    )
