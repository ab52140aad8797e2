"""What a small matrix is expected to take, and the time left on the way, against what it took: in CPU time, within
one run, relative to how fast this host is."""

import sys
from pathlib import Path

import pytest

from howlate.lab.archive.apt import AptArchive
from howlate.lab.targets.lab import open_lab
from howlate.system.paths import ROOT
from howlate.targets import LabOptions
from lab.guests import KERNELS, STANDARD, warm_cache

sys.path.insert(0, str(ROOT / "bench"))

from lab_costs import Cost, measured, time_left, whole

FOUR = "none,cpu:100,memory-alloc:100,disk:max"


@pytest.mark.long
@pytest.mark.parametrize("loads", [FOUR, pytest.param(f"{FOUR},hackbench:4", marks=pytest.mark.sweep)])
def test_the_estimate_and_the_time_left_of_a_matrix_hold(tmp_path: Path, loads: str) -> None:
    cache = warm_cache(tmp_path / "cache", STANDARD)
    target = open_lab(STANDARD, LabOptions(cached=False), archive=AptArchive(KERNELS / "apt"), cache=cache)
    costs = measured(target, ["activations=400", f"load={loads}"])
    assert len(costs) == loads.count(",") + 1
    assert 1 / 1.5 <= whole(costs) <= 1.5, costs
    assert all(0.5 <= share <= 2.0 for share in time_left(costs)), costs


def test_a_load_that_the_model_mistakes_is_noticed() -> None:
    """As it was before the loads that run alone first were counted: hackbench at a quarter."""
    costs = [Cost(load, load, 1.0, 1.0) for load in ("none", "cpu:100", "memory-alloc:100")]
    costs += [Cost("hackbench:4", "hackbench:4", 4.0, 16.0)]
    assert whole(costs) > 1.5
    assert min(time_left(costs)) < 0.5
