"""Binned data of one cell: everything that a chart draws (`bins.json`), made by stats from samples, drawn by charts.

All in nanoseconds and seconds; arrays are tuples so that a chart cannot change what the next one draws.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Histogram:
    """Log-linear bins (7 mantissa bits: within 0.8 %), lowest first, empty bins left out. Nothing is lost: counts sum to n."""

    lower_ns: tuple[int, ...]
    upper_ns: tuple[int, ...]  # exclusive
    counts: tuple[int, ...]


@dataclass(frozen=True)
class TimeBlocks:
    """Latency against time: a block a pixel column, so that no picture hides the worst."""

    start_s: tuple[float, ...]
    width_s: float
    counts: tuple[int, ...]
    median_ns: tuple[int, ...]
    p99_ns: tuple[int, ...]
    max_ns: tuple[int, ...]


@dataclass(frozen=True)
class Tail:
    """The empirical tail: share of samples greater than latency_ns, at distinct values (thinned where samples are many,
    never the last hundred)."""

    latency_ns: tuple[int, ...]
    share_beyond: tuple[float, ...]


@dataclass(frozen=True)
class LoadCourse:
    """One line of the picture of the load, once a second: busy share of a CPU, its steal, or a load's achieved share."""

    name: str  # "cpu 0 busy", "cpu 0 steal", "memory-alloc"
    time_s: tuple[float, ...]
    share: tuple[float, ...]  # 0..1


@dataclass(frozen=True)
class CellBins:
    """All pictures of one cell and column."""

    column: str  # "latency_ns"
    histogram: Histogram
    blocks: TimeBlocks
    tail: Tail
    loads: tuple[LoadCourse, ...]
