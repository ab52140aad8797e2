"""The tail of a series: where it begins, which releases it swallowed, how its clusters lie over time."""

import numpy as np
import pytest
import scipy.stats

from howlate.model.bins import TimeBlocks
from howlate.model.tail import BLOCKS
from howlate.statistics.describe import ValueCounts
from howlate.statistics.diagnose import declustered, dispersion, same_distribution
from howlate.statistics.tail import (
    clusters_by_thread,
    clusters_of_misses,
    summary_of_tail,
    theta_by_cpu,
    threshold,
    with_swallowed,
)


def int64s(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


@pytest.mark.parametrize(("n", "beyond"), [(100_000, 100), (10_000, 50), (1_000, 50), (99, None)])
def test_the_tail_begins_at_p999_and_has_fifty_samples(n: int, beyond: int | None) -> None:
    above = threshold(ValueCounts.of(np.arange(n)))
    assert above == (None if beyond is None else n - 1 - beyond)


def test_ties_do_not_hide_a_tail() -> None:
    """Of 100,000 samples 300 have the largest value: the next smaller one leaves these 300 beyond."""
    assert threshold(ValueCounts(int64s(5, 7), int64s(99_700, 300))) == 5
    assert threshold(ValueCounts(int64s(5, 7), int64s(50_000, 50_000))) is None
    assert threshold(ValueCounts(int64s(5, 7, 9), int64s(50_000, 49_970, 30))) == 7


def test_a_stall_has_the_releases_that_it_swallowed() -> None:
    """3.5 ms at a period of 1 ms: three releases passed while the first was served. Two threads take turns."""
    late = int64s(3_500_000, 900_000)
    assert list(with_swallowed(int64s(10, 50), late, 60, 1_000_000)) == [10, 11, 12, 13, 50]
    assert list(with_swallowed(int64s(10, 50), late, 60, 1_000_000, threads=2)) == [10, 12, 14, 16, 50]
    assert list(with_swallowed(int64s(10, 50), late, 60, None)) == [10, 50]


@pytest.mark.parametrize(
    ("threads", "places", "every"),
    [
        (1, (10, 50), [*range(10, 53)]),
        (2, (10, 50), [*range(10, 53, 2)]),
        (2, (10, 51), [*range(10, 53, 2), 51]),
        (3, (10, 11, 50), [10, 11, *range(13, 53, 3), *range(14, 53, 3)]),
    ],
)
def test_a_stall_swallows_nothing_beyond_the_threads_next_exceedance_or_the_end(
    threads: int, places: tuple[int, ...], every: list[int]
) -> None:
    """Hours late, as no machine is that goes on answering."""
    positions = int64s(*places)
    found = with_swallowed(positions, np.full_like(positions, 2**45), 53, 1_000_000, threads)
    assert list(found) == sorted(every) and len(set(found.tolist())) == len(found)


def test_each_cpu_has_clusters_of_its_own() -> None:
    """Thread 0 on CPU 4 was late 30 times in a row, thread 1 on CPU 7 by itself each time, thread 2 never."""
    burst, single = 3 * np.arange(500, 530), 3 * np.arange(100, 3_100, 100) + 1
    every, cpus = np.sort(np.concatenate((burst, single))), {0: 4, 1: 7, 2: 9}
    theta = theta_by_cpu(every, 3, cpus)
    assert theta.keys() == {"4", "7"} and theta["4"] == 1 / 30 and theta["7"] > 0.9
    assert theta_by_cpu(every, 3, dict.fromkeys(range(3), 4)) == {}
    assert theta_by_cpu(burst[:5], 3, cpus) == {"4": 1 / 5}
    by_thread = clusters_by_thread(every, np.ones_like(every), 3_200, None, 3)
    assert {thread: list(of.sizes) for thread, of in by_thread.items()} == {0: [30], 1: [1] * 30}


def test_clusters_of_misses_by_hand() -> None:
    """Ten kept releases end a cluster; a stall reaches as far as it swallowed, and what it swallowed missed too."""
    late, short = int64s(3, 13, 24, 99), int64s(0, 0, 0, 0)
    clusters = clusters_of_misses(late, short, 100, None)
    assert (list(clusters.starts), list(clusters.sizes)) == ([3, 24, 99], [2, 1, 1])
    stalled = clusters_of_misses(late, int64s(0, 1_000_000, 0, 2_000_000), 100, 1_000_000)
    assert (list(stalled.starts), list(stalled.sizes)) == ([3, 99], [4, 1])
    assert not len(clusters_of_misses(int64s(), int64s(), 9, None).starts)
    by_stretch = clusters.figures(4, 100)["by_stretch"]
    assert by_stretch[:13] == (0, 1, *[0] * 10, 1) and sum(by_stretch) == 3


def test_above_the_period_only_those_miss_that_are_later_than_the_deadline() -> None:
    """A stall of 60.5 ms at 1 ms and a deadline of 50 ms: eleven releases, those due in its first 10.5 ms."""
    stalled = clusters_of_misses(int64s(3), int64s(60_500_000), 1_000, 1_000_000, 1, 50_000_000)
    assert list(stalled.sizes) == [11]
    assert list(clusters_of_misses(int64s(3), int64s(60_500_000), 1_000, 1_000_000, 1, 500).sizes) == [61]


def test_misses_that_no_late_answer_explains_are_one_cluster() -> None:
    """Sizes 2, 1, 1: squares 6; five misses more: another cluster, and 25 more."""
    clusters = clusters_of_misses(int64s(3, 13, 24, 99), int64s(0, 0, 0, 0), 100, None)
    for misses, expected in ((4, (3, 6, 2)), (9, (4, 31, 5))):
        figures = clusters.figures(misses, 100)
        assert tuple(figures[name] for name in ("clusters", "squares", "largest")) == expected
        assert sum(figures["by_stretch"]) == 3


def test_declustering_by_hand() -> None:
    """Six exceedances and theta = 0.5: the two largest gaps separate three clusters."""
    assert list(declustered(int64s(1, 2, 50, 52, 200, 201), 0.5)) == [1, 50, 200]
    assert list(declustered(int64s(7), 1.0)) == [7]


def test_dispersion_by_hand() -> None:
    """1, 3, 2, 6: mean 3, squares 4 + 0 + 1 + 9 = 14, 14 / 3 on three degrees of freedom."""
    found = dispersion([1, 3, 2, 6])
    assert found is not None
    assert found.index == pytest.approx(14 / 9)
    assert found.p == pytest.approx(scipy.stats.chi2.sf(14 / 3, 3))
    assert dispersion([0, 0]) is None


def test_kruskal_wallis_is_scipys() -> None:
    random = np.random.default_rng(5)
    groups = [random.integers(0, 30, size) for size in (50, 40, 50)]
    assert same_distribution(groups) == pytest.approx(scipy.stats.kruskal(*groups).pvalue)
    assert same_distribution([[1, 1], [1, 1]]) is None


def test_a_summary_of_independent_exceedances() -> None:
    random = np.random.default_rng(1)
    positions = np.sort(random.choice(1_000_000, 1_000, replace=False))
    blocks = TimeBlocks(
        tuple(i / 10 for i in range(1_000)),
        0.1,
        (1,) * 1_000,
        (0,) * 1_000,
        (0,) * 1_000,
        tuple(range(1_000)),
    )
    tail = summary_of_tail(5, positions, 1_000_000, blocks)
    assert tail.theta is not None and tail.theta > 0.9
    assert len(tail.clusters) == BLOCKS and 900 < sum(tail.clusters) <= 1_000
    assert tail.block_max_ns == tuple(range(19, 1_000, 20))


def test_too_few_exceedances_have_no_clusters() -> None:
    tail = summary_of_tail(5, int64s(1, 2, 3), 1_000, TimeBlocks((), 1.0, (), (), (), ()))
    assert (tail.exceedances, tail.theta, tail.clusters, tail.block_max_ns) == (3, None, (), ())
