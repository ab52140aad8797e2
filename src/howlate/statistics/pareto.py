"""The generalised Pareto distribution of what lies above a threshold: fit, goodness of fit, and the level that a rare
exceedance reaches. G(y) = 1 - (1 + xi y / sigma)^(-1 / xi); at xi = 0 the exponential distribution.

Sources: J. Pickands, Annals of Statistics 3 (1975), for the distribution. S. D. Grimshaw, Technometrics 35 (1993),
for the likelihood as a function of xi / sigma alone. S. Coles: An Introduction to Statistical Modeling of Extreme
Values (2001), section 4.3, for the profile of a level. V. Choulakian, M. A. Stephens, Technometrics 43 (2001), for
the Anderson-Darling test with both parameters estimated.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from howlate.statistics.special import chi2_quantile

Floats = npt.NDArray[np.float64]

SHARPEST = -1.0
"""Below it the likelihood has no maximum."""
SIMULATED = 1_000
SEED = 20010101


class Pareto(Struct, frozen=True):
    """A fitted tail."""

    shape: float
    """xi: above 0 the tail is heavier than exponential, below 0 it ends."""
    scale: float
    log_likelihood: float

    def survival(self, beyond: npt.ArrayLike) -> Floats:
        """1 - G."""
        return np.exp(_log_survival(np.asarray(beyond, np.float64), self.shape, self.scale))

    def level(self, odds: float) -> float:
        """What one in `odds` exceedances is beyond."""
        log_odds = math.log(odds)
        if abs(self.shape) < 1e-9:
            return self.scale * log_odds
        return self.scale * math.expm1(self.shape * log_odds) / self.shape


def fitted(beyond: npt.ArrayLike) -> Pareto:
    """The maximum of the likelihood, with xi of at least -1. `beyond`: the excesses over the threshold, above 0."""
    excesses = np.asarray(beyond, np.float64)
    ratios = _ratios(excesses, 60)
    for _ in range(6):
        values = _profile(ratios, excesses)
        best = int(np.argmax(values))
        low, high = ratios[max(best - 1, 0)], ratios[min(best + 1, len(ratios) - 1)]
        ratio, highest = float(ratios[best]), float(values[best])
        ratios = np.linspace(low, high, 21)
    n, mean = len(excesses), float(excesses.mean())
    if abs(ratio) * mean < 1e-9:
        return Pareto(0.0, mean, n * highest)
    shape = float(np.log1p(ratio * excesses).mean())
    return Pareto(shape, shape / ratio, n * highest)


def highest_level(beyond: npt.ArrayLike, fit: Pareto, odds: float, confidence: float) -> float:
    """The upper end of the profile interval of level(odds), one-sided: the largest level of all parameters whose log
    likelihood is within chi2(2 c - 1, 1) / 2 of the fit's. With r = xi / sigma and S(r) = mean ln(1 + r y) the
    likelihood of one excess is -ln(xi / r) - (1 + 1 / xi) S(r), which is largest at xi = S(r) and falls on both
    sides; the level (odds^xi - 1) / r grows with |xi|."""
    excesses = np.asarray(beyond, np.float64)
    within = (fit.log_likelihood - chi2_quantile(2 * confidence - 1, 1) / 2) / len(excesses)
    ratios = _ratios(excesses, 200)
    ratios = ratios[np.abs(ratios) * excesses.mean() > 1e-4]
    likeliest = np.log1p(np.multiply.outer(ratios, excesses)).mean(axis=1)

    def likelihood(shapes: Floats) -> Floats:
        values: Floats = -np.log(shapes / ratios) - (1 + 1 / shapes) * likeliest
        return values

    likely = (likelihood(likeliest) >= within) & (likeliest > SHARPEST)
    ratios, likeliest = ratios[likely], likeliest[likely]
    low, high = likeliest, 20 * likeliest
    for _ in range(50):
        middle = (low + high) / 2
        inside = likelihood(middle) >= within
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    levels = np.expm1(np.maximum(low, SHARPEST) * math.log(odds)) / ratios
    return float(max(levels.max(initial=0.0), fit.level(odds)))


def anderson_darling(beyond: npt.ArrayLike, fit: Pareto) -> float:
    """A^2 = -n - 1/n sum (2i - 1) (ln G(y_i) + ln(1 - G(y_(n + 1 - i)))) of the excesses in increasing order."""
    log_survival = _log_survival(np.sort(np.asarray(beyond, np.float64)), fit.shape, fit.scale)
    return float(_squares(log_survival[np.newaxis])[0])


def fits(beyond: npt.ArrayLike, fit: Pareto) -> float:
    """The p of the Anderson-Darling test that the excesses are of this family: a parametric bootstrap, with both
    parameters estimated anew in each of SIMULATED samples of a shape within 0.05 of the fit's (the distribution of
    A^2 depends on the shape alone, and hardly on the number of excesses)."""
    shape = min(max(round(fit.shape, 1), -0.5), 1.0)
    simulated = _simulated(shape)
    reached = int((simulated >= anderson_darling(beyond, fit)).sum())
    return (reached + 1) / (len(simulated) + 1)


@lru_cache
def _simulated(shape: float, size: int = 200) -> Floats:
    """A^2 of samples of this shape, each with its own fit."""
    random = np.random.default_rng([SEED, round(10 * shape) + 100])
    drawn = random.exponential(size=(SIMULATED, size))
    excesses = np.sort(drawn if abs(shape) < 1e-9 else np.expm1(shape * drawn) / shape, axis=1)
    shapes, scales = _fitted_rows(excesses)
    inside = np.maximum(1 + (shapes / scales)[:, np.newaxis] * excesses, 1e-300)
    return _squares(-np.log(inside) / shapes[:, np.newaxis])


def _fitted_rows(excesses: Floats) -> tuple[Floats, Floats]:
    """The shapes and scales of many samples: the highest of a grid of ratios, moved by a parabola through it and its
    neighbours."""
    means, ends = excesses.mean(axis=1), -1 / excesses.max(axis=1)
    steps = np.concatenate((-np.geomspace(1, 1e-3, 50), np.geomspace(1e-3, 30, 50)))[:, np.newaxis]
    ratios = np.where(steps < 0, -steps * ends * (1 - 1e-6), steps / means)

    def shapes_at(ratios: Floats) -> Floats:
        return np.array(np.log1p(ratios[:, np.newaxis] * excesses).mean(axis=1))

    shapes = np.array([shapes_at(row) for row in ratios])
    values = np.where(shapes < SHARPEST, -math.inf, -np.log(shapes / ratios) - shapes - 1)
    best = np.clip(values.argmax(axis=0), 1, len(ratios) - 2)
    rows = np.arange(excesses.shape[0])
    x = [ratios[best + side, rows] for side in (-1, 0, 1)]
    y = [values[best + side, rows] for side in (-1, 0, 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        left, right = (x[1] - x[0]) * (y[1] - y[2]), (x[1] - x[2]) * (y[1] - y[0])
        moved = x[1] - ((x[1] - x[0]) * left - (x[1] - x[2]) * right) / (2 * (left - right))
    ratio = np.where(np.isfinite(moved) & (moved > x[0]) & (moved < x[2]) & (moved != 0), moved, x[1])
    shape = shapes_at(ratio)
    return shape, shape / ratio


def _squares(log_survival: Floats) -> Floats:
    """A^2 of each row; the rows fall."""
    n = log_survival.shape[1]
    odd = 2 * np.arange(1, n + 1) - 1
    log_below = np.log(np.maximum(-np.expm1(log_survival), 1e-300))
    squares: Floats = -n - (odd * (log_below + log_survival[:, ::-1])).sum(axis=1) / n
    return squares


def _log_survival(beyond: Floats, shape: float, scale: float) -> Floats:
    if abs(shape) < 1e-9:
        return -beyond / scale
    inside = np.maximum(1 + shape * beyond / scale, 1e-300)
    return -np.log(inside) / shape


def _ratios(excesses: Floats, number: int) -> Floats:
    """Values of xi / sigma to look at, in increasing order: 0, down to where the largest excess is the end, up to
    shapes far above any that is meant."""
    end, mean = -1 / float(excesses.max()), float(excesses.mean())
    below = end * (1 - np.geomspace(1e-9, 1, number))
    return np.concatenate((below, np.geomspace(1e-3, 1e3, number) / mean))


def _profile(ratios: Floats, excesses: Floats) -> Floats:
    """The log likelihood of one excess, by xi / sigma: -ln(xi / ratio) - xi - 1 with xi = mean ln(1 + ratio y). Below
    SHARPEST it counts as impossible."""
    shapes = np.log1p(np.multiply.outer(ratios, excesses)).mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        values: Floats = -np.log(shapes / ratios) - shapes - 1
    values[np.abs(ratios * excesses.mean()) < 1e-12] = -math.log(float(excesses.mean())) - 1
    values[shapes < SHARPEST] = -math.inf
    return values
