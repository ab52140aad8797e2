"""Since when series of values, one a run, have another level, where they are tested after each run
(docs/history.md, "Where the level changes").

After each run the newest 4, 8 and 16 values are compared with those before: the mean of robust scores, whose
permutation distribution is exact where it can be enumerated. The level is spent over the looks, so that of histories
of `RUNS` runs without a change at most `LEVEL` show one, however often somebody looked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from howlate.statistics.special import student_quantile

Reals = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

LEVEL = 0.05
RUNS = 60
"""The level is spent over this number of runs, and again over as many more."""
NEWEST = (4, 8, 16)
"""Numbers of newest values that are compared with those before."""
BEFORE = (6, 60)
"""Fewest values before them, and the largest number of these."""
FEWEST = NEWEST[0] + BEFORE[0]
"""With fewer values nothing is compared."""
UP, DOWN = 1, -1
_SHARES = {UP: {4: 2.5, 8: 0.2, 16: 0.1}, DOWN: {4: 0.05, 8: 0.08, 16: 0.04}}
"""Of the level, for a rise and for a fall of the newest values: most for what somebody wants to know soonest. They
may sum to more than 1, because looks that follow one another see mostly the same values, and because `_is_clear` asks
for more; bench/differences.py measures what is left of the level."""
_SHARES_OF_FEW = {UP: 0.65, DOWN: 0.1}
"""The same for the first looks, which have hardly a value in common."""
OF_TRENDS = 0.05
"""Of the level, for trends (history/courses.py)."""
_CLIPPED = 4.0
"""Largest distance from the median, in robust standard deviations, that counts: one value is not a level."""
_ENUMERATED = 25_000
_DRAWS = 10
_MOST_DRAWN = 100_000
"""If there are more choices than are enumerated, this multiple of the inverse level is drawn, at most this number."""
_LEAST_Z = 2.0
"""Below it no p is small enough."""
_MOST_DEPENDENT = 0.8
_LIKELY = 0.3
"""The correlation of neighbours for which a step is estimated best."""
_ERRORS, _OF_FEW = 2.0, 3.0
"""Standard errors that are added to its estimate, and what is added over the number of values."""


class Shift(Struct, frozen=True):
    """From one value on a series has another level."""

    series: int
    at: int
    """The first value of the new level."""
    seen_at: int
    """The number of values after which it was seen."""
    p: float
    """One-sided, of the newest values among all: the chance of as large a difference in an order by chance."""


def shifts(series: Reals, level: float = LEVEL, margin: float = 0.0) -> list[Shift]:
    """The shifts of several series of equally many values (a row each), as somebody finds them who looks after each
    value. `margin`: the least difference of the levels that counts. Rows are searched together, those that shifted
    from there on by themselves, with their share of the level."""
    found: list[Shift] = []
    rows, count = series.shape
    starts = np.zeros(rows, np.intp)
    for end in range(FEWEST, count + 1):
        for start in np.unique(starts):
            alike = np.flatnonzero(starts == start)
            seen = _seen(series[alike, start:end], level * len(alike) / rows, margin)
            found += [Shift(int(alike[row]), int(start) + at, end, p) for row, at, p in seen]
            if seen:
                starts[alike[[row for row, _, _ in seen]]] += min(seen, key=lambda each: each[2])[1]
    return found


@lru_cache(maxsize=256)
def fewest_of(level: float) -> int:
    """The fewest values that can show a shift at this level."""
    count = FEWEST
    while not any(
        limit_of(count, newest, direction, level)
        for newest in NEWEST
        for direction in (UP, DOWN)
        if count - newest >= BEFORE[0]
    ):
        count += 1
    return count


def _seen(series: Reals, level: float, margin: float) -> list[tuple[int, int, float]]:
    """Row, place and p of the shifts that the newest value brings to light."""
    count = series.shape[1]
    for newest in NEWEST:
        before = min(BEFORE[1], count - newest)
        if before < BEFORE[0]:
            break
        scores = _scores(series[:, count - newest - before :])
        if not _beyond(scores, newest).any():
            continue
        for direction in (UP, DOWN):
            limit = limit_of(before + newest, newest, direction, level)
            places = {}
            for row in _told(direction * scores, newest, limit) if limit else ():
                at = count - newest - before + place_of(scores[row], direction)
                if direction * difference(series[row], at) >= max(margin, 1e-12):
                    places[row] = at
            p_values = _p_values(direction * scores, newest, list(places), limit) if places else {}
            seen = [(row, places[row], p) for row, p in p_values.items() if p <= limit]
            if seen:
                return seen
    return []


def limit_of(count: int, newest: int, direction: int, level: float) -> float:
    """The level of one comparison of the newest among `count` of them. Spent evenly over RUNS runs; of fewer values,
    of which no p is that small, the smallest p that there is, as long as the level has room for all of them."""
    share = level * _SHARES[direction][newest]
    evenly = share / RUNS
    smallest = 1 / math.comb(count, newest)
    if smallest <= evenly:
        return evenly
    rest = newest / (newest - 1) / math.comb(count - 1, newest - 1)  # of this count and all larger ones
    return smallest if rest <= level * _SHARES_OF_FEW[direction] else 0.0


def scores_of(values: Reals) -> Reals:
    """Robust standard deviations from the median, at most `_CLIPPED`."""
    scores: Reals = _scores(values[np.newaxis])[0]
    return scores


def _scores(rows: Reals) -> Reals:
    away = rows - _middle(rows)
    scale = 1.4826 * _middle(np.abs(away))
    if not scale.all():
        spread = np.sqrt(np.mean(away**2, axis=1, keepdims=True))
        scale = np.where(scale > 0, scale, np.where(spread > 0, spread, 1.0))
    scores: Reals = np.clip(away / scale, -_CLIPPED, _CLIPPED)
    return scores


def _middle(rows: Reals) -> Reals:
    ordered, count = np.sort(rows, axis=1), rows.shape[1]
    middle: Reals = (ordered[:, (count - 1) // 2] + ordered[:, count // 2]) / 2
    return middle[:, np.newaxis]


def _beyond(scores: Reals, newest: int) -> npt.NDArray[np.bool_]:
    """Rows whose newest scores are so much larger or smaller that their p is worth computing."""
    count = scores.shape[1]
    away = scores - scores.mean(axis=1, keepdims=True)
    squares = (away**2).sum(axis=1) * newest * (count - newest) / (count * (count - 1))
    beyond: npt.NDArray[np.bool_] = (squares > 0) & (
        away[:, -newest:].sum(axis=1) ** 2 >= _LEAST_Z**2 * squares
    )
    return beyond


def _told(scores: Reals, newest: int, limit: float) -> list[int]:
    larger = scores[:, -newest:].mean(axis=1) > scores.mean(axis=1)
    rows = np.flatnonzero(_beyond(scores, newest) & larger)
    return [int(row) for row in rows if _is_clear(scores[row], newest, limit / len(scores))]


def _p_values(scores: Reals, newest: int, rows: list[int], limit: float) -> dict[int, float]:
    """By row the p of the newest scores being larger than those before, corrected for the number of rows: of the
    largest difference of any row, with the same order of all (Westfall and Young 1993)."""
    count = scores.shape[1]
    means = scores.mean(axis=1, keepdims=True)
    sums = (scores - means)[:, -newest:].sum(axis=1)
    away = scores - means
    exact = math.comb(count, newest) <= _ENUMERATED
    total = 0 if exact else 1
    counts = dict.fromkeys(rows, total)
    wanted = math.comb(count, newest) if exact else min(_MOST_DRAWN, math.ceil(_DRAWS / limit))
    for chosen in _choices(count, newest, wanted, exact=exact):
        largest = away[:, chosen].sum(axis=2).max(axis=0)
        total += len(chosen)
        for row in rows:
            counts[row] += int((largest >= sums[row] - 1e-9).sum())
        if min(counts.values()) > limit * (wanted + 1):  # it stays above the level (Besag and Clifford 1991)
            break
    return {row: counts[row] / total for row in rows}


def _choices(count: int, newest: int, wanted: int, *, exact: bool) -> Iterator[Places]:
    """Which of the values could have been the newest: all choices, or many, drawn with a fixed seed."""
    if exact:
        yield _all_choices(count, newest)
        return
    random = np.random.default_rng(1)
    drawn = 1_000
    while wanted > 0:
        yield np.argpartition(random.random((drawn, count)), newest, axis=1)[:, :newest]
        wanted, drawn = wanted - drawn, min(max(1, wanted - drawn), 20_000)


@lru_cache(maxsize=64)
def _all_choices(count: int, newest: int) -> Places:
    return np.array(list(combinations(range(count), newest)), np.intp)


def _is_clear(scores: Reals, newest: int, limit: float) -> bool:
    """Whether the newest values, and not a few of them, lie beyond Student's quantile of their standard error, for
    neighbours that are as much alike as they may be."""
    middle = (scores[:-newest].mean() + scores[-newest:].mean()) / 2
    if 2 * np.count_nonzero(scores[-newest:] > middle) <= newest:
        return False
    parts = [part - part.mean() for part in (scores[:-newest], scores[-newest:])]
    count, squares = len(scores), sum(float((part**2).sum()) for part in parts)
    r = correlation_of(parts, _ERRORS / math.sqrt(count) + _OF_FEW / count)
    alike, weights = r ** _lags(count), _weights(count, newest)
    blocks = (alike[:-newest, :-newest], alike[-newest:, -newest:])
    free = sum(len(block) * (1 - float(block.mean())) for block in blocks)
    error = math.sqrt(squares / free * float(weights @ alike @ weights))
    return float(scores @ weights) > error * _student(limit, count - 2)


_student = lru_cache(maxsize=1024)(student_quantile)


@lru_cache(maxsize=256)
def _weights(count: int, newest: int) -> Reals:
    """What estimates the step best (generalised least squares) where neighbours correlate by `_LIKELY`."""
    sides = np.array([np.ones(count), np.arange(count) >= count - newest])
    inverse = sides @ np.linalg.inv(_LIKELY ** _lags(count))
    weights: Reals = np.linalg.solve(inverse @ sides.T, inverse)[1]
    return weights


@lru_cache(maxsize=256)
def _lags(count: int) -> Reals:
    places = np.arange(float(count))
    lags: Reals = np.abs(np.subtract.outer(places, places))
    return lags


def correlation_of(parts: Sequence[Reals], more: float) -> float:
    """Of neighbours: estimated from residuals, corrected for the bias of short series (Kendall 1954), and `more`,
    because it is not known; none below 0."""
    squares = sum(float((part**2).sum()) for part in parts)
    if not squares:
        return 0.0
    r = sum(float((part[1:] * part[:-1]).sum()) for part in parts) / squares
    return min(_MOST_DEPENDENT, max(0.0, r + (1 + 3 * r) / sum(map(len, parts)) + more))


def place_of(scores: Reals, direction: int = 0) -> int:
    """The division at which the means before and after differ most for their lengths; of 2 values or more each."""
    count = len(scores)
    first = np.arange(2, count - 1)
    apart = (np.cumsum(scores)[first - 1] - first * scores.mean()) / np.sqrt(first * (count - first))
    return int(first[np.argmax(-direction * apart if direction else np.abs(apart))])


def difference(values: Reals, at: int) -> float:
    """Of the levels after and before (Hodges and Lehmann): the median of all differences."""
    return float(np.median(np.subtract.outer(values[at:], values[:at])))


def interval_of(values: Reals, at: int) -> tuple[float, float]:
    """The interval of 95 % of that difference by the rank sum of the two parts (normal approximation)."""
    differences = np.sort(np.subtract.outer(values[at:], values[:at]), axis=None)
    before, after = at, len(values) - at
    width = 1.96 * math.sqrt(before * after * (before + after + 1) / 12)
    k = max(0, math.floor(before * after / 2 - width))
    return float(differences[k]), float(differences[-1 - k])


def places_of(values: Reals, at: int) -> tuple[int, int]:
    """The first and the last division that fits nearly as well: twice the log likelihood is less by at most 3.84."""
    scores = scores_of(values)
    first = range(2, len(values) - 1)
    rests = {place: _rest(scores, place) for place in first}
    if at not in rests:
        return at, at
    limit = (rests[at] + 1e-12) * math.exp(3.84 / len(values))
    near = [place for place in first if rests[place] <= limit]
    return min(near), max(near)


def _rest(scores: Reals, at: int) -> float:
    return float(sum(((part - part.mean()) ** 2).sum() for part in (scores[:at], scores[at:])))


def refined(values: Reals, places: Sequence[int]) -> list[int]:
    """Each place moved to the best one between its neighbours, until none moves (Bai 1997)."""
    places = list(places)
    for _ in range(10):
        before = list(places)
        for i in range(len(places)):
            start = places[i - 1] if i else 0
            end = places[i + 1] if i + 1 < len(places) else len(values)
            if end - start >= 4:
                places[i] = start + place_of(scores_of(values[start:end]))
        if places == before:
            break
    return sorted(set(places))
