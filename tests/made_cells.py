"""Cells made of numbers that look like a machine's, for tests of charts and report: real objects, small to
large."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from howlate.model.bins import CellBins, Histogram, LoadCourse, Scatter, Tail, TimeBlocks
from howlate.model.summary import Accounting, CellSummary, ColumnSummary, LoadSummary
from howlate.statistics.bins.scatter import Filled, grid, scatter
from howlate.statistics.describe import ValueCounts
from howlate.statistics.statistics import QUANTILES
from howlate.words.statement import Statement

Int64s = npt.NDArray[np.int64]

LOADS = {
    "none": (3_500, 0.25, 0.0005, 60_000),
    "cpu:50": (4_200, 0.35, 0.002, 120_000),
    "memory-access:50": (5_200, 0.45, 0.003, 180_000),
    "disk": (6_000, 0.5, 0.004, 400_000),
    "hackbench:10": (9_000, 0.7, 0.01, 900_000),
}


def latencies(
    rng: np.random.Generator,
    n: int,
    typical: float = 4_000,
    width: float = 0.3,
    rare: float = 0.001,
    late: float = 2e5,
) -> Int64s:
    """A log-normal body with a rare, heavy tail, as machines have it."""
    body = typical * rng.lognormal(0, width, n)
    hit = rng.random(n) < rare
    body[hit] += late * rng.pareto(2.2, int(hit.sum())) * 0.3
    return body.astype(np.int64)


def histogram_of(values: Int64s) -> Histogram:
    """7 mantissa bits, as docs/statistics.md has it."""
    bits = np.frexp(np.maximum(values, 1).astype(np.float64))[1].astype(np.int64)
    shift = np.maximum(0, bits - 8)
    low, counts = np.unique((values >> shift) << shift, return_counts=True)
    width = 1 << np.maximum(0, np.frexp(np.maximum(low, 1).astype(np.float64))[1].astype(np.int64) - 8)
    return Histogram(tuple(low.tolist()), tuple((low + width).tolist()), tuple(counts.tolist()))


def smallest_of(values: Int64s, percent: int) -> int:
    """The smallest value that so many percent do not exceed."""
    return int(np.sort(values)[-(-len(values) * percent // 100) - 1])


def blocks_of(values: Int64s, period_s: float, blocks: int, gap: range = range(0)) -> TimeBlocks:
    """So many blocks of equal length; those in `gap` are left out."""
    parts = np.array_split(values, blocks)
    width = len(values) * period_s / blocks
    kept = [(i, p) for i, p in enumerate(parts) if i not in gap and len(p)]
    return TimeBlocks(
        start_s=tuple(i * width for i, _ in kept),
        width_s=width,
        counts=tuple(len(p) for _, p in kept),
        median_ns=tuple(smallest_of(p, 50) for _, p in kept),
        p99_ns=tuple(smallest_of(p, 99) for _, p in kept),
        max_ns=tuple(int(p.max()) for _, p in kept),
    )


def tail_of(values: Int64s, most: int = 1500) -> Tail:
    """Distinct values with the share beyond; thinned to about `most`, never the last hundred."""
    distinct, counts = np.unique(values, return_counts=True)
    beyond = len(values) - np.cumsum(counts)
    keep = np.ones(len(distinct), bool)
    if len(distinct) > most:
        keep[:-100] = False
        keep[np.linspace(0, len(distinct) - 101, most - 100).astype(int)] = True
    return Tail(tuple(distinct[keep].tolist()), tuple((beyond[keep] / len(values)).tolist()))


def scatter_of(values: Int64s) -> Scatter | None:
    """Made from the samples one by one, as docs/statistics.md has it."""
    where = grid(ValueCounts.of(values), len(values))
    if where is None:
        return None
    groups: dict[tuple[int, int], list[int]] = {}
    for index, value in enumerate(values.tolist()):
        if value <= where.knee_ns:
            row = (value - where.low_ns) * where.linear // (where.knee_ns - where.low_ns + 1)
        else:
            beyond = where.rows - where.linear
            from_ns = max(where.knee_ns, 1)
            share = math.log(value / from_ns) / math.log(where.high_ns / from_ns)
            row = where.linear + max(0, min(beyond - 1, math.floor(share * beyond)))
        groups.setdefault((index // where.per_column, row), []).append(value)
    keys = sorted(groups)

    def column(pick: Callable[[tuple[int, int]], int]) -> Int64s:
        return np.array([pick(key) for key in keys], np.int64)

    return scatter(
        where,
        Filled(
            column(lambda key: key[0]),
            column(lambda key: key[1]),
            column(lambda key: len(groups[key])),
            column(lambda key: min(groups[key])),
            column(lambda key: max(groups[key])),
        ),
    )


def column_of(values: Int64s, period_ns: int, period_s: float) -> ColumnSummary:
    """Everything that a summary says of samples."""
    n = len(values)
    ordered = np.sort(values)
    quantiles = {
        q: int(ordered[int(np.ceil(float(q) * n)) - 1]) if n * (1 - float(q)) >= 10 else None
        for q in QUANTILES
    }
    return ColumnSummary(
        count=n,
        min=int(values.min()),
        mean=float(values.mean()),
        max=int(values.max()),
        stddev=float(values.std(ddof=1)) if n > 1 else None,
        period_exceeded=int((values > period_ns).sum()),
        quantiles=quantiles,
        max_at_s=float(values.argmax() * period_s),
    )


def courses(rng: np.random.Generator, seconds: int, load: str, cpus: int = 2) -> tuple[LoadCourse, ...]:
    """Busy shares, steal and the load's own share, once a second."""
    times = tuple(float(t) for t in range(1, seconds + 1))

    def around(level: float, noise: float) -> tuple[float, ...]:
        return tuple(np.clip(rng.normal(level, noise, seconds), 0, 1).tolist())

    level = 0.03 if load == "none" else 0.97 if "hackbench" in load else 0.52
    found = [LoadCourse(f"cpu {i} busy", times, around(level, 0.01)) for i in range(cpus)]
    found += [LoadCourse(f"cpu {i} steal", times, around(0.01, 0.01)) for i in range(cpus)]
    if load != "none":
        found.append(LoadCourse(load.split(":")[0], times, around(level - 0.02, 0.008)))
    return tuple(found)


def made_cell(
    load: str,
    seed: int = 1,
    n: int = 12_000,
    blocks: int = 1000,
    labels: dict[str, str] | None = None,
    gap: range = range(0),
) -> tuple[CellSummary, CellBins, Int64s]:
    """One cell of the built-in study's kind: summary, bins, and the samples that they were made of."""
    summary, bins, values = _made(load, seed, n, blocks, gap)
    return replace(summary, labels=summary.labels | (labels or {})), bins, values


@cache
def _made(load: str, seed: int, n: int, blocks: int, gap: range) -> tuple[CellSummary, CellBins, Int64s]:
    rng = np.random.default_rng(seed)
    values = latencies(rng, n, *LOADS.get(load, LOADS["cpu:50"]))
    period_s = 0.001
    name = load.split(":")[0]
    loads = (
        ()
        if load == "none"
        else (LoadSummary(name, 0.5, 0.493, {"time_s": 3.21} if name == "hackbench" else {}),)
    )
    summary = CellSummary(
        id=f"{name}-{seed:04x}",
        test="cyclic",
        labels={"load": load, "period": "1ms", "policy": "fifo:80", "timer": "clock_nanosleep", "cpu": "1"},
        accounting=Accounting(n, n, 0, 0, 0, 0, 0, "skip"),
        stop_reason="activations",
        clocksource={"before": "tsc", "after": "tsc"},
        valid=True,
        columns={"latency_ns": column_of(values, 1_000_000, period_s)},
        loads=loads,
    )
    bins = CellBins(
        "latency_ns",
        histogram_of(values),
        blocks_of(values, period_s, min(blocks, n), gap),
        tail_of(values),
        courses(rng, max(2, n // 1000), load),
        scatter_of(values),
    )
    values.flags.writeable = False
    return summary, bins, values


def invalid(summary: CellSummary, *why: str) -> CellSummary:
    """The same cell with failed checks."""
    return replace(summary, valid=False, warnings=tuple(map(Statement.verbatim, why)))
