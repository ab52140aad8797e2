"""Series of misses whose true rate is known: singly, in stalls, in bursts, self-exciting, drifting, switching,
periodic. Positions of releases that missed, out of `n`, at a rate of `rate` on average."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from howlate.model.bins import TimeBlocks
from howlate.model.summary import DeadlineSummary, OfCpu
from howlate.model.tail import BLOCKS, TailSummary
from howlate.statistics.deadline import together
from howlate.statistics.describe import Int64s
from howlate.statistics.tail import clusters_of_misses, summary_of_tail, theta_by_cpu, with_clusters
from howlate.verdict.evidence import Evidence

Random = np.random.Generator
Misses = Callable[[Random, int, float], Int64s]
Sizes = Callable[[Random, int], Int64s]
DEADLINE_NS = 1_000_000
PERIOD_S = 1e-3


class Process(Struct, frozen=True):
    """A kind of misses."""

    misses: Misses
    kind: str
    """single, stalls, bursts, exciting, or changing: its rate is another one in parts of the run."""


def singly(random: Random, n: int, rate: float) -> Int64s:
    return random.integers(0, n, random.poisson(n * rate))


def stalls(sizes: Sizes, mean: float) -> Misses:
    """Each by itself, of so many releases in a row."""

    def draw(random: Random, n: int, rate: float) -> Int64s:
        starts = random.integers(0, n, random.poisson(n * rate / mean))
        return _after(starts, [np.arange(size) for size in sizes(random, len(starts))])

    return draw


def fixed(size: int) -> Misses:
    return stalls(lambda _, count: np.full(count, size), size)


def geometric(mean: float) -> Misses:
    return stalls(lambda random, count: random.geometric(1 / mean, count), mean)


def pareto(shape: float, most: int) -> Misses:
    """P(size >= s) = s^-shape, at most `most`."""
    mean = float((np.arange(1.0, most + 1) ** -shape).sum())

    def sizes(random: Random, count: int) -> Int64s:
        return np.minimum(most, random.random(count) ** (-1 / shape)).astype(np.int64)

    return stalls(sizes, mean)


def either(one: int, other: int, share: float) -> Misses:
    """Stalls of two sizes, the second one in `share` of the cases."""

    def sizes(random: Random, count: int) -> Int64s:
        return np.where(random.random(count) < share, other, one)

    return stalls(sizes, one + share * (other - one))


def bursts(size: float, width: float) -> Misses:
    """About so many misses within `width` releases; below 1: within that part of the run."""

    def draw(random: Random, n: int, rate: float) -> Int64s:
        within = max(1, round(width if width >= 1 else width * n))
        starts = random.integers(0, n, random.poisson(n * rate / size))
        return _after(
            starts, [random.integers(0, within, count) for count in random.poisson(size, len(starts))]
        )

    return draw


def exciting(branching: float, width: float) -> Misses:
    """Each miss makes others, `branching` on average, about so many releases later (A. G. Hawkes 1971)."""

    def draw(random: Random, n: int, rate: float) -> Int64s:
        last = random.integers(0, n, random.poisson(n * rate * (1 - branching)))
        every = [last]
        while len(last):
            last = np.repeat(last, random.poisson(branching, len(last)))
            last = last + 1 + random.exponential(width, len(last)).astype(np.int64)
            last = last[last < n]
            every.append(last)
        return np.concatenate(every)

    return draw


def turns(length: float, ratio: float) -> Misses:
    """Two states that take turns of this mean length (a part of the run): in one of them misses are so many times as
    frequent as in the other."""

    def draw(random: Random, n: int, rate: float) -> Int64s:
        low, at, is_high, every = 2 * rate / (1 + ratio), 0, bool(random.random() < 0.5), []
        while at < n:
            end = min(n, at + 1 + int(random.exponential(length * n)))
            mean = low * (ratio if is_high else 1) * (end - at)
            every.append(random.integers(at, end, random.poisson(mean)))
            at, is_high = end, not is_high
        return np.concatenate(every)

    return draw


def calm_and_busy(calm_s: float, busy_s: float, times: float, size: int = 1) -> Process:
    """A neighbour that comes and goes: turns of so many seconds on average, in which so many times as many stalls of
    `size` come as while it is calm."""

    def draw(random: Random, n: int, rate: float) -> Int64s:
        mean_s, busy = (calm_s, busy_s), busy_s / (calm_s + busy_s)
        at, is_busy, starts = 0, bool(random.random() < busy), []
        low = rate / size / (1 - busy + busy * times)
        while at < n:
            end = min(n, at + 1 + int(random.exponential(mean_s[is_busy] / PERIOD_S)))
            count = random.poisson(low * (times if is_busy else 1) * (end - at))
            starts.append(random.integers(at, end, count))
            at, is_busy = end, not is_busy
        found: Int64s = (np.concatenate(starts)[:, np.newaxis] + np.arange(size)).ravel()
        return found

    return Process(draw, "changing")


def periodic(size: int) -> Misses:
    """So many in a row, at equal distances."""

    def draw(random: Random, n: int, rate: float) -> Int64s:
        step = size / rate
        starts = (random.random() + np.arange(math.ceil(n / step))) * step
        return _after(starts.astype(np.int64), [np.arange(size)] * len(starts))

    return draw


def locked(step: int, share: float) -> Misses:
    """At every `step`-th release, in `share` of the cases: a tick that hits now and then. The rate is theirs."""

    def draw(random: Random, n: int, rate: float) -> Int64s:
        every = np.arange(int(random.integers(step)), n, step)
        chosen: Int64s = every[random.random(len(every)) < min(1.0, rate * step / share) * share]
        return chosen

    return draw


def changing(course: Callable[[Random, np.ndarray], np.ndarray]) -> Misses:
    """Singly, at a rate that follows a course over the run."""

    def draw(random: Random, n: int, rate: float) -> Int64s:
        weights = course(random, (np.arange(1_000) + 0.5) / 1_000)
        counts = random.poisson(n * rate * weights / weights.sum())
        part = n // 1_000
        starts: Int64s = np.repeat(np.arange(1_000) * part, counts)
        return starts + random.integers(0, part, len(starts))

    return draw


def _after(starts: Int64s, offsets: list[Int64s]) -> Int64s:
    parts = [start + offset for start, offset in zip(starts, offsets, strict=True)]
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)


def _switch(times: float) -> Misses:
    return changing(lambda random, at: np.where(at < random.random(), 1.0, times))


PROCESSES: Mapping[str, Process] = {
    "single": Process(singly, "single"),
    "stalls of 4": Process(fixed(4), "stalls"),
    "stalls of 30": Process(fixed(30), "stalls"),
    "geometric stalls, mean 5": Process(geometric(5), "stalls"),
    "Pareto stalls, 1.2 up to 1,000": Process(pareto(1.2, 1_000), "stalls"),
    "bursts of 4 in 100 releases": Process(bursts(4, 100), "bursts"),
    "bursts of 10 in 1,000 releases": Process(bursts(10, 1_000), "bursts"),
    "bursts of 10 in 1 % of the run": Process(bursts(10, 0.01), "bursts"),
    "self-exciting, 0.8 after 50 releases": Process(exciting(0.8, 50), "exciting"),
    "self-exciting, 0.9 after 1,000 releases": Process(exciting(0.9, 1_000), "exciting"),
    "periodic": Process(periodic(1), "single"),
    "drift by 3": Process(changing(lambda _, at: 1 + 2 * at), "changing"),
    "switch by 3": Process(_switch(3), "changing"),
}
"""Those of the literature and of docs/benchmarks.md."""
OTHERS: Mapping[str, Process] = {
    "geometric stalls, mean 20": Process(geometric(20), "stalls"),
    "Pareto stalls, 1.6 up to 100": Process(pareto(1.6, 100), "stalls"),
    "stalls of 1, in 1 of 20 of 30": Process(either(1, 30, 0.05), "stalls"),
    "pairs within 1,000 releases": Process(bursts(2, 1_000), "bursts"),
    "threes within 2 % of the run": Process(bursts(3, 0.02), "bursts"),
    "self-exciting, 0.3 after 200 releases": Process(exciting(0.3, 200), "exciting"),
    "self-exciting, 0.5 after 200 releases": Process(exciting(0.5, 200), "exciting"),
    "fours at equal distances": Process(periodic(4), "stalls"),
    "locked to each 97th release": Process(locked(97, 1.0), "single"),
    "turns of a twentieth, ten times": Process(turns(0.05, 10), "changing"),
    "turns of a two-hundredth, thirty times": Process(turns(0.005, 30), "changing"),
    "turns of a third, ten times": Process(turns(1 / 3, 10), "changing"),
    "twice a day and night": Process(changing(lambda _, at: 1 + 0.6 * np.sin(4 * math.pi * at)), "changing"),
}
"""Of our own invention, against what was built."""


def misses_of(process: Process, random: Random, n: int, rate: float) -> Int64s:
    """Their positions, each once, within the run."""
    found = process.misses(random, n, rate)
    return np.unique(found[(found >= 0) & (found < n)])


def counted(misses: Int64s, n: int) -> DeadlineSummary:
    """The releases of one repetition, as store/summarise.py counts them."""
    counts = DeadlineSummary(DEADLINE_NS, n, len(misses))
    if not len(misses):
        return counts
    clusters = clusters_of_misses(misses, np.zeros_like(misses), n, None)
    return with_clusters(counts, [clusters], n)


class Round(Struct, frozen=True):
    """One repetition of `n` releases with these misses, among a body of independent samples."""

    counts: DeadlineSummary
    tail: TailSummary

    @classmethod
    def of(cls, random: Random, misses: Int64s, n: int, beyond: int | None = None) -> Round:
        """`beyond`: the samples of the body that lie above the threshold; one in a thousand without it."""
        maxima = np.exp(random.normal(0, 0.2, BLOCKS)) * 100_000
        late = DEADLINE_NS * (1.1 + random.exponential(0.3, len(misses)))
        np.maximum.at(maxima, misses * BLOCKS // n, late)
        body = random.integers(0, n, n // 1_000 if beyond is None else beyond)
        zeros, starts = (0,) * BLOCKS, tuple(map(float, range(BLOCKS)))
        blocks = TimeBlocks(starts, 1.0, zeros, zeros, zeros, tuple(maxima.astype(int).tolist()))
        return cls(counted(misses, n), summary_of_tail(50_000, np.union1d(body, misses), n, blocks))


def of_cpus(random: Random, misses: Sequence[Int64s], n: int) -> Round:
    """One repetition in which so many CPUs had `n` releases each, with these misses."""
    cpus = len(misses)
    together_ = np.sort(np.concatenate([own * cpus + cpu for cpu, own in enumerate(misses)]))
    whole = Round.of(random, together_, n * cpus)
    each = {str(cpu): counted(own, n) for cpu, own in enumerate(misses)}
    by_cpu = {
        cpu: OfCpu(n, own.late, 0, own.clusters, own.squares, own.largest, own.by_stretch)
        for cpu, own in each.items()
    }
    all_cpus = together(each.values())
    assert all_cpus is not None
    stretches = [own.by_stretch for own in each.values() if own.by_stretch]
    by_stretch = tuple(map(sum, zip(*stretches, strict=True))) if stretches else ()
    body = np.concatenate([random.integers(0, n, n // 1_000) * cpus + cpu for cpu in range(cpus)])
    thetas = theta_by_cpu(np.union1d(together_, body), cpus, {cpu: cpu for cpu in range(cpus)})
    return Round(
        replace(all_cpus, by_cpu=by_cpu, by_stretch=by_stretch),
        replace(whole.tail, theta_by_cpu=thetas),
    )


def evidence_of(rounds: Sequence[Round], **changes: Any) -> Evidence:
    """Of one row with these repetitions."""
    counts, tails = tuple(of.counts for of in rounds), tuple(of.tail for of in rounds)
    given: dict[str, Any] = {
        "deadline": together(counts),
        "seconds": sum(of.releases for of in counts) * PERIOD_S,
        "max_ns": max(max(tail.block_max_ns) for tail in tails),
        "max_by_cpu": {cpu: 2 * DEADLINE_NS for of in counts for cpu in of.by_cpu},
        "repetitions": len(rounds),
        "rounds": counts,
        "tails": tails,
        "samples": tuple(of.releases for of in counts),
    }
    return Evidence(**{**given, **changes})
