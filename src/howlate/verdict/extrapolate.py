"""Extrapolation beyond what the samples show: peaks over a threshold, with the guards that refuse it. It is a model's
answer, kept apart from every bound, and decides nothing. docs/verdict.md has the guards with their reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from howlate.statistics.describe import Int64s
from howlate.statistics.diagnose import declustered, extremal_index, kendall_trend
from howlate.statistics.pareto import Floats, Pareto, fits, fitted, highest_level
from howlate.statistics.peaks import MOST_PEAKS, Peaks
from howlate.verdict.evidence import Evidence
from howlate.verdict.forbids import drifts
from howlate.words.statement import Statement, message

FEWEST = 1_000
"""With fewer the tenths of the back-test have less than a hundred each."""
SHARE = 20
"""The tail is at most one in this number of samples."""
FEWEST_PEAKS = 100
"""Clusters above a threshold that is fitted."""
FEWEST_THRESHOLDS = 3
FEWEST_IN_A_TENTH = 50
REACH = 10
"""How many times beyond the data at most."""
LEVEL = 0.05
"""A guard refuses where chance alone gives such a number less often than this. Higher than a diagnostic's: a refusal
costs less than a wrong level."""
HEAVIEST = 0.5
"""From this shape on the variance is infinite."""
SHARPEST = -0.5
"""Below this shape the likelihood's intervals do not hold (R. L. Smith, Biometrika 72, 1985)."""
APART = 1.5
"""The levels of two thresholds may differ by this factor."""
ABSURD = 10
"""A level that may be this many times the largest value says nothing."""
VISIBLE = 0.5
"""A gap that separates modes leaves this at least of the model's tail out, in the logarithm of its share."""
COARSE = 0.05
"""The steps between values, over the scale of the tail."""

VIRTUAL = message(
    "extrapolation.virtual",
    "virtual time comes out the same each time, so its samples are not drawn at random",
)
NO_VERDICT = message("extrapolation.no-verdict", "the measurement is not valid")
UNSERVED = message(
    "extrapolation.unserved",
    "{count:count} release was never served, so nobody knows how late it would have been",
    "{count:count} releases were never served, so nobody knows how late they would have been",
    by="count",
)
TOO_FAR = message(
    "extrapolation.too-far", "the question reaches more than {reach} times beyond what was measured"
)
TOO_FEW = message(
    "extrapolation.too-few",
    "the tail, or a tenth of the data, has too few independent peaks ({peaks:count} of at least {needed:count})",
)
TOO_COARSE = message(
    "extrapolation.too-coarse",
    "the values are too coarse (steps of {step_ns:time}, where the tail's scale is {scale_ns:time})",
)
SECOND_MODE = message(
    "extrapolation.second-mode",
    "the tail has a second mode: nothing lies between {below_ns:time} and {above_ns:time}, and such a gap comes by "
    "chance with p = {p:probability}",
)
NOT_PARETO = message(
    "extrapolation.not-pareto",
    "the tail above {threshold_ns:time} is not of the model's shape (Anderson-Darling test: p = {p:probability})",
)
UNSTABLE = message(
    "extrapolation.unstable",
    "the model's shape depends on the threshold ({first:significant} above {first_ns:time}, {second:significant} "
    "above {second_ns:time}; p = {p:probability})",
)
UNSTABLE_LEVEL = message(
    "extrapolation.unstable-level",
    "the model's answer depends on the threshold (between {low_ns:time} and {high_ns:time})",
)
SHAPE = message(
    "extrapolation.shape",
    "the tail's shape may be {shape:significant}, outside of {least:significant} to {most:significant}",
)
BEYOND_REASON = message(
    "extrapolation.absurd",
    "the model's limit of {upper_ns:time} is more than {times} times the largest value seen",
)
ALIKE = message(
    "extrapolation.alike",
    "each peak resembles the one before (Kendall's tau {tau:significant}, p = {p:probability})",
)
BACK_TEST = message(
    "extrapolation.back-test",
    "the model fails inside the data: fitted to one tenth of them, its limit for the whole was exceeded "
    "{count:count} times where once is expected",
)
STATED = message(
    "extrapolation.stated",
    "Extrapolation by a model, which decides nothing: if latencies above {threshold_ns:time} go on as the "
    "generalised Pareto distribution that was fitted to {peaks:count} peaks (shape {shape:significant}), 1 in "
    "{times:count} releases is later than {level_ns:time}. The upper end of the {confidence:level} profile interval "
    "is {upper_ns:time-at-most}.",
)
REFUSED = message("extrapolation.refused", "Extrapolation: refused, for {reasons:items}.")


class Extrapolation(Struct, frozen=True):
    """What the model says, or why it is refused."""

    refused: tuple[Statement, ...] = ()
    share: float = 0.0
    """Share of the releases that are later than `level_ns`, by the model."""
    level_ns: float = 0.0
    upper_ns: float = 0.0
    confidence: float = 0.0
    threshold_ns: int = 0
    peaks: int = 0
    shape: float = 0.0


class _Tail(Struct, frozen=True):
    """The peaks above one threshold, with their fit."""

    threshold_ns: int
    samples: int
    """Above it."""
    maxima_ns: Int64s
    """Of the clusters, in the order in which they came."""
    starts: Int64s | None
    fit: Pareto

    @property
    def beyond(self) -> Floats:
        # A sample of whole nanoseconds stands for up to one more.
        return self.maxima_ns.astype(np.float64) - self.threshold_ns - 0.5

    @property
    def error(self) -> float:
        """The standard deviation of the shape, asymptotically."""
        return (1 + self.fit.shape) / math.sqrt(len(self.maxima_ns))

    def odds(self, share: float, samples: int) -> float:
        """Of exceeding the level that a share of all samples exceeds, once the threshold is exceeded."""
        return self.samples / samples / share


def share_in_reach(miss_rate: float, samples: int) -> float:
    """The share whose level is extrapolated: the tolerated rate where the samples are too few for it, else the rarest
    that is in reach."""
    rarest = 1 / (REACH * max(1, samples))
    return miss_rate if 0 < miss_rate < 1 / max(1, samples) else rarest


def extrapolated(
    evidence: Evidence,
    forbids: Sequence[Statement],
    peaks: Peaks,
    share: float,
    confidence: float,
    horizon_s: float = 0.0,
) -> Extrapolation:
    """The level that this share of the releases exceeds. `forbids`: what keeps the bound of the rate from being
    stated; it keeps the model from it as well."""
    if evidence.virtual or evidence.failed_checks:
        return Extrapolation((VIRTUAL() if evidence.virtual else NO_VERDICT(),))
    refused = list(dict.fromkeys((*forbids, *drifts(evidence))))
    if unserved := evidence.deadline.unserved:
        refused.append(UNSERVED(count=unserved))
    too_rare = share * REACH * peaks.samples < 1 - 1e-9
    if too_rare or horizon_s > REACH * evidence.seconds > 0:
        refused.append(TOO_FAR(reach=REACH))
    tails = _tails(peaks)
    if len(tails) < FEWEST_THRESHOLDS:
        most = len(tails[0].maxima_ns) if tails else 0
        needed = FEWEST_PEAKS * 2 ** (FEWEST_THRESHOLDS - 1)
        return Extrapolation((*refused, TOO_FEW(peaks=most, needed=max(needed, FEWEST))))
    whole = tails[0]
    refused += _of_values(tails)
    if whole.starts is not None:
        refused += _of_order(whole, peaks)
    levels = [tail.threshold_ns + tail.fit.level(tail.odds(share, peaks.samples)) for tail in tails]
    uppers = [
        tail.threshold_ns + highest_level(tail.beyond, tail.fit, tail.odds(share, peaks.samples), confidence)
        for tail in tails
    ]
    refused += _of_levels(levels, max(uppers), int(whole.maxima_ns.max()))
    if refused:
        return Extrapolation(tuple(dict.fromkeys(refused)))
    return Extrapolation(
        (),
        share,
        levels[0],
        max(uppers),
        confidence,
        whole.threshold_ns,
        len(whole.maxima_ns),
        whole.fit.shape,
    )


def as_statements(extrapolation: Extrapolation | None) -> list[Statement]:
    """Statements for a report; none without a model."""
    if extrapolation is None:
        return []
    if extrapolation.refused:
        return [REFUSED(reasons=extrapolation.refused)]
    told = STATED(
        threshold_ns=extrapolation.threshold_ns,
        peaks=extrapolation.peaks,
        shape=extrapolation.shape,
        times=round(1 / extrapolation.share),
        level_ns=extrapolation.level_ns,
        confidence=extrapolation.confidence,
        upper_ns=extrapolation.upper_ns,
    )
    return [told]


def pooled(parts: Sequence[Peaks]) -> Peaks:
    """Of several repetitions, one after the other; without an order where one lacks it."""
    starts = np.cumsum([0, *(part.length for part in parts)])
    places = [
        part.positions + start
        for part, start in zip(parts, starts, strict=False)
        if part.positions is not None
    ]
    return Peaks(
        np.concatenate([part.values_ns for part in parts] or [np.empty(0, np.int64)]),
        np.concatenate(places) if len(places) == len(parts) > 0 else None,
        int(starts[-1]),
        sum(part.samples for part in parts),
    )


# The tails.


def _tails(peaks: Peaks) -> list[_Tail]:
    """Above thresholds that leave fewer and fewer samples, each half as many as the one before."""
    most = min(MOST_PEAKS, peaks.samples // SHARE, len(peaks.values_ns) - 1)
    if most < FEWEST:
        return []
    ordered = np.sort(peaks.values_ns)[::-1]
    tails = []
    while most >= FEWEST_PEAKS:
        tail = _tail(peaks, int(ordered[most]))
        if tail is not None:
            tails.append(tail)
        most //= 2
    return tails


def _tail(peaks: Peaks, threshold_ns: int) -> _Tail | None:
    """None where there are too few clusters above the threshold."""
    above = peaks.values_ns > threshold_ns
    values, starts = peaks.values_ns[above], None
    if len(values) < FEWEST_PEAKS:
        return None
    maxima = values
    if peaks.positions is not None:
        positions = peaks.positions[above]
        theta = extremal_index(positions) or 1.0
        starts = declustered(positions, theta)
        maxima = np.maximum.reduceat(values, np.searchsorted(positions, starts))
    if len(maxima) < FEWEST_PEAKS:
        return None
    return _Tail(threshold_ns, len(values), maxima, starts, fitted(maxima - threshold_ns - 0.5))


# The guards, each a function of what it looks at. They return why the model is refused.


def _of_values(tails: Sequence[_Tail]) -> list[Statement]:
    """The reasons that need no order."""
    whole = tails[0]
    refused = _too_coarse(whole) or _second_mode(tails)  # between steps nothing lies: that is no mode
    p, worst = min((fits(tail.beyond, tail.fit) * len(tails), tail.threshold_ns) for tail in tails)
    if p < LEVEL:
        refused.append(NOT_PARETO(threshold_ns=worst, p=p))
    refused += _unstable(tails)
    high, low = (whole.fit.shape + side * 1.645 * whole.error for side in (1, -1))
    outside = [shape for shape in (high, low) if not SHARPEST <= shape <= HEAVIEST]
    refused += [SHAPE(shape=shape, least=SHARPEST, most=HEAVIEST) for shape in outside]
    return refused


def _too_coarse(whole: _Tail) -> list[Statement]:
    """Where the values of the lower half of the tail lie farther apart than a continuous tail's would."""
    lower = np.unique(whole.maxima_ns[whole.maxima_ns <= np.median(whole.maxima_ns)])
    step_ns = float(np.median(np.diff(np.append(whole.threshold_ns, lower))))
    if step_ns <= COARSE * whole.fit.scale:
        return []
    return [TOO_COARSE(step_ns=step_ns, scale_ns=whole.fit.scale)]


def _second_mode(tails: Sequence[_Tail]) -> list[Statement]:
    """The normalised spacings of exponential order statistics, i (e_(i) - e_(i+1)) counted from the largest, are
    independent and exponential themselves (A. Renyi, Acta Mathematica Hungarica 4, 1953); the largest of them. A
    narrow gap between many samples is left to the test of the shape."""
    refused = []
    for tail in tails:
        ordered = np.sort(tail.beyond)[::-1]
        exponential = -np.log(np.maximum(tail.fit.survival(ordered), 1e-300))
        gaps = -np.diff(exponential)
        spacings = np.where(gaps >= VISIBLE, np.arange(1, len(ordered)) * gaps, 0.0)
        largest = int(spacings.argmax())
        p = len(ordered) * len(tails) * math.exp(-min(float(spacings[largest]), 700.0))
        if p < LEVEL:
            below_ns, above_ns = (tail.threshold_ns + ordered[i] + 0.5 for i in (largest + 1, largest))
            refused.append((p, SECOND_MODE(below_ns=float(below_ns), above_ns=float(above_ns), p=p)))
    return [min(refused, key=lambda pair: pair[0])[1]] if refused else []


def _unstable(tails: Sequence[_Tail]) -> list[Statement]:
    """The shapes of nested tails: their difference has the difference of the variances (J. A. Hausman, Econometrica
    46, 1978)."""
    whole = tails[0]
    pairs = []
    for tail in tails[1:]:
        variance = tail.error**2 - whole.error**2
        apart = abs(tail.fit.shape - whole.fit.shape)
        least = 1e-3 * whole.error**2
        pairs.append((math.erfc(apart / math.sqrt(2 * max(variance, least))) * (len(tails) - 1), tail))
    p, other = min(pairs, key=lambda pair: pair[0])
    if p >= LEVEL:
        return []
    return [
        UNSTABLE(
            first=whole.fit.shape,
            first_ns=whole.threshold_ns,
            second=other.fit.shape,
            second_ns=other.threshold_ns,
            p=p,
        )
    ]


def _of_levels(levels: Sequence[float], upper_ns: float, largest_ns: int) -> list[Statement]:
    low_ns, high_ns = min(levels), max(levels)
    refused = []
    if high_ns > APART * low_ns:
        refused.append(UNSTABLE_LEVEL(low_ns=low_ns, high_ns=high_ns))
    if upper_ns > ABSURD * largest_ns:
        refused.append(BEYOND_REASON(upper_ns=upper_ns, times=ABSURD))
    return refused


def _of_order(whole: _Tail, peaks: Peaks) -> list[Statement]:
    neighbours = kendall_trend(whole.maxima_ns[1:], whole.maxima_ns[:-1])
    refused = []
    if neighbours is not None and neighbours.p < LEVEL:
        refused.append(ALIKE(tau=neighbours.tau, p=neighbours.p))
    return refused + _back_test(whole, peaks)


def _back_test(whole: _Tail, peaks: Peaks) -> list[Statement]:
    """Fitted to each tenth of the data, the model reaches ten times beyond it, to the whole: its upper limit of the
    level that is exceeded once in the whole. More clusters above it than a Poisson count of mean 1 has refute the
    model. Half of the guard's level is for limits that are too low by chance, half for the counts; each is divided by
    the number of tenths."""
    assert whole.starts is not None
    tenth = np.minimum(whole.starts * REACH // max(1, peaks.length), REACH - 1)
    counts = np.bincount(tenth, minlength=REACH)
    if counts.min() < FEWEST_IN_A_TENTH:
        return [TOO_FEW(peaks=int(counts.min()), needed=FEWEST_IN_A_TENTH)]
    beyond, most = whole.beyond, 0
    for number in range(REACH):
        part = beyond[tenth == number]
        limit = highest_level(part, fitted(part), float(len(part) * REACH), 1 - LEVEL / 2 / REACH)
        most = max(most, int((beyond > limit).sum()))
    p = REACH * (1 - sum(math.exp(-1) / math.factorial(j) for j in range(min(most, 30))))
    return [BACK_TEST(count=most)] if p < LEVEL / 2 else []
