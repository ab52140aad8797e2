"""Evidence for verdicts, made of numbers: the quiet cell, and what may be wrong with it."""

from typing import Any

import numpy as np

from howlate.model.summary import DeadlineSummary
from howlate.model.tail import TailSummary
from howlate.statistics.bins.drawn import BlockBins, block_width_ns, time_blocks
from howlate.statistics.deadline import together
from howlate.statistics.describe import Int64s, ValueCounts
from howlate.statistics.peaks import MOST_PEAKS, Peaks
from howlate.statistics.tail import MANY_MISSES, clusters_of_misses, summary_of_tail, threshold, with_clusters
from howlate.verdict.evidence import Evidence
from howlate.verdict.extrapolate import pooled

PERIOD_NS = 1_000_000


def tail_of(values: Int64s) -> TailSummary:
    """As store/summarise.py makes it of a cell whose samples these are, one a period."""
    above = threshold(ValueCounts.of(values))
    width = block_width_ns(len(values))
    block = np.arange(len(values), dtype=np.int64) // width
    order = np.lexsort((values, block))
    blocks = time_blocks(BlockBins(block[order], values[order], np.ones(len(values), np.int64)), width)
    if above is None:
        return summary_of_tail(int(values.max()), np.empty(0, np.int64), 0, blocks)
    return summary_of_tail(above, np.flatnonzero(values > above), len(values), blocks)


def counts_of(deadline_ns: int, values: Int64s) -> DeadlineSummary:
    """The releases of one repetition against a deadline, as store/summarise.py counts them."""
    late = np.flatnonzero(values > deadline_ns)
    counted = DeadlineSummary(deadline_ns, len(values), len(late))
    if not 0 < len(late) <= MANY_MISSES:
        return counted
    clusters = clusters_of_misses(late, late, len(values), None)
    return with_clusters(counted, [clusters], len(values))


def made_evidence(deadline_ns: int, *runs: Int64s, **changes: Any) -> Evidence:
    """Of one row whose repetitions have these samples."""
    rounds = [counts_of(deadline_ns, values) for values in runs]
    samples = [len(values) for values in runs]
    given: dict[str, Any] = {
        "deadline": together(rounds),
        "seconds": sum(samples) * PERIOD_NS / 1e9,
        "max_ns": max(int(values.max()) for values in runs),
        "repetitions": len(runs),
        "rounds": tuple(rounds),
        "tails": tuple(map(tail_of, runs)),
        "samples": tuple(samples),
    }
    return Evidence(**{**given, **changes})


def quiet(n: int = 100_000, seed: int = 1, typical: float = 4_000, width: float = 0.3) -> Int64s:
    """Independent log-normal samples."""
    samples: Int64s = (typical * np.random.default_rng(seed).lognormal(0, width, n)).astype(np.int64)
    return samples


def made_peaks(*runs: Int64s, ordered: bool = True) -> Peaks:
    """As store/summarise.py takes them from cells whose samples these are."""
    parts = []
    for values in runs:
        limit = int(np.sort(values)[-min(MOST_PEAKS, len(values))])
        positions = np.flatnonzero(values >= limit)
        parts.append(Peaks(values[positions], positions if ordered else None, len(values), len(values)))
    return pooled(parts)
