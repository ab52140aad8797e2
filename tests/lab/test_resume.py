"""A run that is killed with -9 goes on, and what it has in the end is what an undisturbed one has, to the last
sample. bench/resume.py does it fifty times."""

from __future__ import annotations

from pathlib import Path

import pytest

from howlate.model.summary import CellSummary
from lab.guests import RT, STANDARD, bench, with_kernels
from lab.resuming import Kill, Place, differences, resumed, values, whole

SEEDS = (16, 2, 28, 24)


@pytest.mark.slow
def test_what_was_killed_and_went_on_equals_what_was_left_alone(tmp_path: Path, booted: Path) -> None:
    cache = with_kernels(tmp_path / "cache")
    for kernel in (STANDARD, RT):
        bench(cache, kernel)  # fetched before anything is killed
    (cache / "snapshots").symlink_to(booted)
    place = Place(tmp_path, cache)
    place.finish("warm")  # boots the guests, unless another test did
    seconds = place.finish("alone")
    alone = values(tmp_path / "alone")
    cells = len(whole(tmp_path / "alone"))
    assert cells == 10
    assert not differences(alone, values(tmp_path / "warm")), "two undisturbed runs differ"
    assert all(
        CellSummary.from_json(its).valid for name, its in alone.items() if name.endswith("summary.json")
    )
    met = 0
    for seed in SEEDS[:2]:  # once each
        found, hit = resumed(place, f"once-{seed}", [Kill.drawn(seed, cells)], seconds / cells)
        assert not differences(alone, found)
        met += hit
    kills = [Kill.drawn(seed, cells) for seed in SEEDS[2:]]  # and twice in one run
    found, hit = resumed(place, "twice", sorted(kills, key=lambda kill: kill.cells), seconds / cells)
    assert not differences(alone, found)
    assert met + hit >= 3, "kills came after the runs had ended"
