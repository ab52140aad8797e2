"""Files of other tools whose truth is known: samples are drawn, the file is written as the tool writes it, and numpy
says what min, mean, max, quantiles and count of these samples are. Nothing of howlate's own code is used for either.

A maker takes a generator of random numbers, and gives a file with its truth (`Made`). `other_unit`: the same samples
as the tool prints them in its other unit, with nothing said that the tool does not say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

FIXTURES = Path(__file__).parents[1] / "fixtures" / "imported"
LATENCY = "latency_ns"
SHARES = ("0.5", "0.9", "0.95", "0.99", "0.999", "0.9999", "0.99999")
BEYOND = 10
"""A quantile is stated where so many samples lie beyond it (docs/statistics.md)."""
Ints = npt.NDArray[np.int64]
Random = np.random.Generator


class Truth(Struct, frozen=True):
    """What is true of one column, in nanoseconds; None: the file does not let anybody know it."""

    count: int | None
    min: int | None
    max: int | None
    mean: float | None
    digit: float = 0.0
    """So far the mean may be off: one unit of the last digit that the tool prints."""
    quantiles: Mapping[str, frozenset[int | None]] = field(default_factory=dict)
    """By share what may be stated: the order statistic, or the edge of its bin; None alone: nothing."""


class Made(Struct, frozen=True):
    """A file, and what is true of it."""

    format: str
    name: str
    data: bytes
    truth: Mapping[str, Truth]
    mapping: Mapping[str, str] = field(default_factory=dict)
    asks: bool = False
    """Marked as unreadable without `--map unit`, which `mapping` gives."""
    rows: tuple[int, ...] = ()
    """Of a text the places of the lines that hold figures, from 0."""
    columns: Callable[[Made, Random], bytes] | None = None
    """The file with a column less."""

    @property
    def text(self) -> str:
        return self.data.decode()


class Samples(Struct, frozen=True):
    """Of one thread and column: how often each value occurs, in the tool's unit."""

    values: Ints
    counts: Ints

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        return float(np.average(self.values.astype(np.float64), weights=self.counts.astype(np.float64)))

    @property
    def min(self) -> int:
        return int(self.values[0])

    @property
    def max(self) -> int:
        return int(self.values[-1])

    def below(self, end: int) -> Samples:
        kept = self.values < end
        return Samples(self.values[kept], self.counts[kept])

    def in_bins(self, width: int) -> Samples:
        edges, places = np.unique(self.values // width * width, return_inverse=True)
        return Samples(edges, np.bincount(places, weights=self.counts).astype(np.int64))

    def each(self, chance: Random) -> Ints:
        """One by one, in any order."""
        return chance.permutation(np.repeat(self.values, self.counts))


def drawn(chance: Random, unit_ns: int = 1000, most: int = 400, many: bool = True) -> Samples:
    """Wake-ups as they are: a floor, a body, a tail; now and then millions of them. In whole units."""
    n = int(chance.integers(1, most))
    floor = chance.uniform(0.8, 60)
    values = floor + chance.exponential(chance.uniform(0.5, 20), n)
    late = chance.random(n) < 0.02
    values[late] *= chance.uniform(1, 30)
    whole = np.floor(np.minimum(values, 3000) * 1000 / unit_ns).astype(np.int64)
    distinct, counts = np.unique(whole, return_counts=True)
    if many and chance.random() < 0.2:
        counts = counts * int(chance.integers(1, 2_000_000))
    return Samples(distinct, counts.astype(np.int64))


def together(each: Sequence[Samples]) -> Samples:
    values = np.concatenate([its.values for its in each])
    counts = np.concatenate([its.counts for its in each])
    distinct, places = np.unique(values, return_inverse=True)
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, places, counts)
    return Samples(distinct, sums)


def order_statistic(samples: Samples, share: str, beyond: int = 0) -> int | None:
    """The smallest value that so large a share of all samples does not exceed; `beyond`: larger ones that nobody
    knows."""
    total = samples.n + beyond
    rank = ceil(Fraction(share) * total)
    if total - rank < BEYOND or rank > samples.n:
        return None
    return int(samples.values[np.searchsorted(np.cumsum(samples.counts), rank)])


def truth(
    each: Sequence[Samples],
    unit_ns: int = 1000,
    *,
    end: int | None = None,
    width: int = 1,
    digit: float = 0.0,
    seen: bool = True,
    counted: bool = True,
) -> Truth:
    """Of threads together. `end`: where the histogram ends; `width`: of its bins; `digit`: of the tool's own mean;
    `seen`: there is a histogram or every sample; `counted`: the tool says how many samples there were."""
    whole = together(each)
    inside = whole if end is None else whole.below(end)
    beyond = whole.n - inside.n
    low, high = whole.min * unit_ns, whole.max * unit_ns
    found: dict[str, frozenset[int | None]] = {}
    for share in SHARES:
        value = order_statistic(inside.in_bins(width), share, beyond) if seen and inside.n else None
        edge = None if value is None else value * unit_ns
        found[share] = frozenset([edge] if edge is None else [edge, min(max(edge, low), high)])
    exact = seen and not beyond and width == 1
    return Truth(
        whole.n if counted else None,
        low,
        high,
        whole.mean * unit_ns if counted or len(each) == 1 else None,
        max(whole.mean * unit_ns * 1e-9, 1e-3) if exact and not digit else digit * unit_ns,
        found,
    )


def threads(chance: Random, most: int = 6, **options: Any) -> list[Samples]:
    return [drawn(chance, **options) for _ in range(int(chance.integers(1, most + 1)))]


def in_a_log(made: Made, chance: Random) -> Made:
    """The same file as it may lie in a log; the places of its rows stay those of their lines."""
    lines = made.text.split("\n")
    prefix = str(
        chance.choice(["", "", "", "    ", "> ", "2024-05-01T10:00:00.12Z ", "May 01 10:00:00 board sh[8]: "])
    )
    end = "\r\n" if chance.random() < 0.2 else "\n"
    text = end.join([*(prefix + line for line in lines[:-1]), ""])
    return _with(made, text)


def _with(made: Made, text: str) -> Made:
    return Made(
        made.format, made.name, text.encode(), made.truth, made.mapping, made.asks, made.rows, made.columns
    )


def token_dropped(made: Made, chance: Random) -> bytes:
    """One column of all rows gone: the same word of each."""
    lines = made.text.split("\n")
    words = min(len(lines[row].split()) for row in made.rows)
    place = int(chance.integers(words))
    for row in made.rows:
        lines[row] = " ".join(word for at, word in enumerate(lines[row].split()) if at != place)
    return "\n".join(lines).encode()


class File(Struct, frozen=True):
    """A file as the tool wrote it, and the tool's own figures over all its threads, in microseconds."""

    name: str
    count: int | None
    min: float | None
    mean: float | None
    max: float
    column: str = LATENCY
    digit: float = 1.0
    """One unit of the last digit of the tool's mean."""
    mapping: Mapping[str, str] = field(default_factory=dict)
    format: str = ""
    """Set where all are listed (foreign.py)."""

    @property
    def path(self) -> Path:
        return FIXTURES / self.name


Maker = Callable[..., Made]


class Format(Struct, frozen=True):
    """What is known of the files of one format."""

    name: str
    maker: Maker
    shown: str
    """What each of truths.ALTERATIONS becomes (shown.py): refused, equal, not shown, by the first letter."""
    files: tuple[File, ...]
    """Files of the tool, with what it says of its own samples, copied from the file."""
    answers: tuple[str, ...] = (LATENCY,)
    """The columns that answer "how late"; () where that depends on the file."""
    wakes: bool = True
    """False of a tool that wakes nobody: it spins, and looks for gaps."""


def stated_other(made: Made, other_unit: bool) -> Made:
    """Where the file says its unit: the same figures, and the other word."""
    if not other_unit:
        return made
    text = made.text
    words = {"microseconds (us)": "nanoseconds (ns)", "nanoseconds (ns)": "microseconds (us)", "(us)": "(ns)",
             "(ns)": "(us)", ' unit="us"': ' unit="ns"', " uS ": " nS ", "10us": "10ns",
             '"resolution_in_ns": 1000': '"resolution_in_ns": 1',
             '"resolution_in_ns": 1\n': '"resolution_in_ns": 1000\n'}  # fmt: skip
    word = next(word for word in words if word in text)
    return Made(made.format, made.name, text.replace(word, words[word]).encode(), made.truth, made.mapping)
