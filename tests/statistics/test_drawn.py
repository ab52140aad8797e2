"""Tail and blocks: what the charts draw hides nothing."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from howlate.statistics.bins.drawn import (
    BLOCKS,
    TAIL_KEPT,
    TAIL_POINTS,
    BlockBins,
    block_width_ns,
    tail,
    time_blocks,
)
from howlate.statistics.describe import ValueCounts


def test_tail_by_hand() -> None:
    """1, 2, 2, 5: greater than 1 are three of four, than 2 one, than 5 none."""
    found = tail(ValueCounts.of([5, 2, 1, 2]))
    assert found.latency_ns == (1, 2, 5)
    assert found.share_beyond == (0.75, 0.25, 0.0)
    assert tail(ValueCounts.of([])).latency_ns == ()


@given(st.lists(st.integers(0, 500), min_size=1, max_size=400))
def test_the_tail_of_few_values_is_whole(values: list[int]) -> None:
    found = tail(ValueCounts.of(values))
    assert list(found.latency_ns) == sorted(set(values))
    for value, share in zip(found.latency_ns, found.share_beyond, strict=True):
        assert share == sum(other > value for other in values) / len(values)


def test_thinning_keeps_the_ends_and_every_share() -> None:
    random = np.random.default_rng(2)
    values = random.lognormal(10, 1, 300_000).astype(np.int64)
    data = ValueCounts.of(values)
    found = tail(data)
    assert TAIL_KEPT < len(found.latency_ns) <= TAIL_POINTS + TAIL_KEPT + 1
    assert found.latency_ns[-TAIL_KEPT:] == tuple(data.values[-TAIL_KEPT:])
    assert found.latency_ns[0] == values.min()
    for value, share in list(zip(found.latency_ns, found.share_beyond, strict=True))[
        :: len(found.latency_ns) // 20
    ]:
        assert share == np.count_nonzero(values > value) / len(values)
    ratios = [a / b for a, b in zip(found.share_beyond[:-2], found.share_beyond[1:-1], strict=True)]
    assert max(ratios[:-TAIL_KEPT]) < 1.2


@given(st.integers(1, 10**15))
def test_blocks_cover_the_span(span: int) -> None:
    width = block_width_ns(span)
    assert width * BLOCKS >= span
    assert (span - 1) // width < BLOCKS


samples = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 255)), min_size=1, max_size=300)


@given(samples)
def test_blocks_of_narrow_bins_are_exact(rows: list[tuple[int, int]]) -> None:
    """With a bin a value (as below 256 ns) each quantile is the order statistic itself."""
    keys, counts = np.unique(np.array(rows), axis=0, return_counts=True)
    found = time_blocks(BlockBins(keys[:, 0], keys[:, 1], counts), 500_000_000)
    blocks = sorted({block for block, _ in rows})
    assert found.start_s == tuple(block * 0.5 for block in blocks)
    assert found.width_s == 0.5
    for n, block in enumerate(blocks):
        own = sorted(value for other, value in rows if other == block)
        assert found.counts[n] == len(own)
        assert found.median_ns[n] == own[math.ceil(len(own) / 2) - 1]
        assert found.p99_ns[n] == own[math.ceil(0.99 * len(own)) - 1]
        assert found.max_ns[n] == own[-1]


def test_no_samples_have_no_blocks() -> None:
    none = np.array([], np.int64)
    assert time_blocks(BlockBins(none, none, none), 1_000).counts == ()
