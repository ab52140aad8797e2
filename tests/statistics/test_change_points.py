"""Change points: the level holds where nothing changes and behind true changes, and true changes are found."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from howlate.statistics.change_points import LEVEL, change_points, midranks

REPETITIONS = 200
MOST = stats.binom.ppf(0.999, REPETITIONS, LEVEL) / REPETITIONS
"""Of so many repetitions at the level."""

Made = Callable[[np.random.Generator], "np.ndarray[tuple[int], np.dtype[np.float64]]"]


def levels(*centers: float, runs: int = 20, spread: float = 0.3) -> Made:
    return lambda random: np.concatenate([random.lognormal(c, spread, runs) for c in centers])


def counts_of_changes(made: Made) -> list[int]:
    random = np.random.default_rng(20261122)
    return [len(change_points(made(random), seed=i)) for i in range(REPETITIONS)]


@pytest.mark.parametrize("runs", [6, 12, 40])
@pytest.mark.parametrize("spread", [0.1, 1.5])
def test_without_a_change_the_level_holds(runs: int, spread: float) -> None:
    found = counts_of_changes(levels(0.0, runs=runs, spread=spread))
    assert sum(map(bool, found)) / REPETITIONS <= MOST


def test_with_ties_the_level_holds() -> None:
    found = counts_of_changes(lambda random: random.lognormal(1.0, 0.4, 25).round())
    assert sum(map(bool, found)) / REPETITIONS <= MOST


@pytest.mark.parametrize("centers", [(0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 1.0, 2.0), (0.0, 1.0, 0.0, 1.0)])
def test_behind_true_changes_the_level_holds_and_they_are_found(centers: tuple[float, ...]) -> None:
    found = counts_of_changes(levels(*centers))
    true = len(centers) - 1
    assert sum(count > true for count in found) / REPETITIONS <= MOST
    assert sum(count >= true for count in found) / REPETITIONS >= 0.95


def test_a_change_is_found_at_its_place() -> None:
    values = levels(0.0, 1.0)(np.random.default_rng(3))
    assert [division.at for division in change_points(values)] == [20]
    early = np.concatenate([np.full(3, 9.0) + np.arange(3), np.arange(30) % 5])
    assert [division.at for division in change_points(early)] == [3]


def test_the_same_series_gives_the_same_answer() -> None:
    values = levels(0.0, 0.4)(np.random.default_rng(4))
    assert change_points(values) == change_points(values)


@pytest.mark.parametrize("values", [[], [1.0], [1, 9, 1, 9, 1], [7.0] * 50])
def test_of_few_or_equal_values_nothing_is_said(values: list[float]) -> None:
    assert change_points(values) == ()


def test_a_smaller_level_asks_for_more() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 11.0, 12.0, 13.0, 14.0]
    assert [division.at for division in change_points(values)] == [4]
    assert change_points(values, level=0.001) == ()


def test_equal_values_share_their_ranks() -> None:
    assert midranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]
