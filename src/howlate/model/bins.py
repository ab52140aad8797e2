"""Binned data of one cell: everything that a chart draws (`bins.json`). The analysis makes it from samples;
charts draw it.

All values are in nanoseconds and seconds; arrays are tuples so that a chart cannot change what the next one
draws. `CellBins.from_json(value)` and `to_json()` are exact inverses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, to_builtins

from howlate.model.counted import NO_COUNTERS, Counters
from howlate.model.decode import decoded, is_rising, known_schema, same_length
from howlate.model.ranges import Count, Int64, Real, Share, must_be_countable

SCHEMA = 1
_GRID_MOST = 100_000
"""More columns or rows than any picture has."""


class Histogram(Struct, frozen=True):
    """Log-linear bins (7 mantissa bits: within 0.8 %), lowest first, without empty bins. Nothing is lost:
    counts sum to n."""

    lower_ns: tuple[Int64, ...]
    upper_ns: tuple[Int64, ...]  # exclusive
    counts: tuple[Count, ...]

    def __post_init__(self) -> None:
        same_length(self.lower_ns, self.upper_ns, self.counts)
        must_be_countable(self.counts)


COARSE_BINS = 456
"""Eight an octave, of 16 bins of a histogram's each: what a probe tells while it measures."""


def coarse_edges(place: int) -> tuple[int, int]:
    """The first value of such a bin, and of the next."""
    octave = max(0, (place - 8) // 8)
    low = (place - 8 * octave) * 16
    return low << octave, (low + 16) << octave


class TimeBlocks(Struct, frozen=True):
    """Latency against time: one block for each pixel column, so that no picture hides the worst value.

    Blocks without a sample (a stall, a spinning task's gap) are left out: `start_s` is the start of each
    block.
    """

    start_s: tuple[Real, ...]
    width_s: Real
    counts: tuple[Count, ...]
    median_ns: tuple[Int64, ...]
    p99_ns: tuple[Int64, ...]
    """The order statistic of rank ceil(0.99 n), even in a block with few samples (where it is the maximum).
    """
    max_ns: tuple[Int64, ...]

    def __post_init__(self) -> None:
        same_length(self.start_s, self.counts, self.median_ns, self.p99_ns, self.max_ns)
        must_be_countable(self.counts)
        if self.start_s and self.width_s <= 0:
            raise ValueError("a block has no length")


NO_BLOCKS = TimeBlocks((), 0.0, (), (), (), ())
"""For samples without time stamps, and for further columns in runs of an older howlate."""


class Tail(Struct, frozen=True):
    """The empirical tail: the share of samples greater than latency_ns, at distinct values (thinned if there
    are many samples, but never the last hundred)."""

    latency_ns: tuple[Int64, ...]
    share_beyond: tuple[Share, ...]

    def __post_init__(self) -> None:
        same_length(self.latency_ns, self.share_beyond)


class LoadCourse(Struct, frozen=True):
    """One line in the picture of the load, once a second: the busy share of a CPU, its steal, or a load's
    achieved share."""

    name: str  # "cpu 0 busy", "cpu 0 steal", "memory-alloc"
    time_s: tuple[Real, ...]
    share: tuple[Share, ...]

    def __post_init__(self) -> None:
        same_length(self.time_s, self.share)


class Grid(Struct, frozen=True):
    """The positions of rows and columns."""

    per_column: Count
    """The number of indices in a column of the grid, which begins at index 0."""
    columns: Count
    rows: Count
    linear: Count
    low_ns: Int64
    knee_ns: Int64
    high_ns: Int64


class Scatter(Grid, frozen=True):
    """Values against their index, counted on a grid, so that a million points take as little space as a
    thousand.

    The rows of a grid begin at `low_ns`: the first `linear` rows have equal height up to `knee_ns`
    (inclusive), where nearly all values are, so that bands can be told apart; the others have equal ratios
    from there to `high_ns`. Nothing lies outside: the counts sum to n. Threads overlap.
    """

    cells: tuple[Int64, ...]
    """column * rows + row of the cells that contain a value, increasing."""
    counts: tuple[Count, ...]
    at: tuple[Int64, ...]
    """Columns that contain a value, increasing; their exact extremes:"""
    smallest_ns: tuple[Int64, ...]
    largest_ns: tuple[Int64, ...]

    def __post_init__(self) -> None:
        same_length(self.cells, self.counts)
        must_be_countable(self.counts)
        same_length(self.at, self.smallest_ns, self.largest_ns)
        self._check_grid()
        self._check_values()

    def _check_grid(self) -> None:
        if not (
            1 <= self.columns <= _GRID_MOST
            and 1 <= self.linear <= self.rows <= _GRID_MOST
            and self.per_column
        ):
            raise ValueError("the grid has no such size")
        if not is_rising(self.at) or not is_rising(self.cells):
            raise ValueError("the places on the grid do not increase")
        outside = ValueError("a value is outside of the grid")
        if self.cells and not 0 <= self.cells[0] <= self.cells[-1] < self.columns * self.rows:
            raise outside
        if {cell // self.rows for cell in self.cells} != set(self.at):
            raise outside

    def _check_values(self) -> None:
        if not self.low_ns <= self.knee_ns <= self.high_ns:
            raise ValueError("low, knee and high are not in this order")
        ends = zip(self.smallest_ns, self.largest_ns, strict=True)
        if not all(self.low_ns <= smallest <= largest <= self.high_ns for smallest, largest in ends):
            raise ValueError("a value is outside of low to high")


def _must_hold(histogram: Histogram, scatter: Scatter | None) -> None:
    """The histogram has the samples of the scatter, and those that another tool's file left out of it."""
    if scatter is not None and sum(scatter.counts) > sum(histogram.counts):
        raise ValueError("the scatter has more samples than the histogram")


class ColumnBins(Struct, frozen=True):
    """The pictures of a further column of the samples."""

    column: str
    histogram: Histogram
    scatter: Scatter | None = None
    blocks: TimeBlocks = NO_BLOCKS

    def __post_init__(self) -> None:
        _must_hold(self.histogram, self.scatter)


class CellBins(Struct, frozen=True):
    """All pictures of one cell: all pictures of its first column, some of the others (`others`)."""

    column: str  # "latency_ns"
    histogram: Histogram
    blocks: TimeBlocks
    tail: Tail
    loads: tuple[LoadCourse, ...]
    scatter: Scatter | None = None
    others: tuple[ColumnBins, ...] = ()
    counters: Counters = NO_COUNTERS
    """What the kernel counted, against the largest value of the first column; nothing in runs of an older howlate."""

    def __post_init__(self) -> None:
        _must_hold(self.histogram, self.scatter)

    def of(self, column: str) -> CellBins | None:
        """The bins as those of this column; None if they do not have it."""
        if column == self.column:
            return self
        other = next((other for other in self.others if other.column == column), None)
        if other is None:
            return None
        return CellBins(column, other.histogram, other.blocks, Tail((), ()), (), other.scatter)

    def load_at(self, name: str, at_s: float) -> float | None:
        """A line of the load at a time: the share of the second that ends there or after it."""
        course = next((each for each in self.loads if each.name == name), None)
        if course is None:
            return None
        ended = zip(course.time_s, course.share, strict=True)
        return next((share for end_s, share in ended if end_s >= at_s), None)

    def to_json(self) -> dict[str, Any]:
        """The content of bins.json, as a value."""
        return {"schema": SCHEMA, **to_builtins(self)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any], file: str = "bins.json") -> CellBins:
        """The bins of such a value; DamagedError names file, place and fault."""
        known_schema(value, SCHEMA, file)
        return decoded(cls, value, file)
