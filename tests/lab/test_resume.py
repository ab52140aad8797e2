"""A run that is killed with -9 goes on, and what it has in the end is what an undisturbed one has, to the last
sample. bench/resume.py does it fifty times."""

from pathlib import Path

import pytest

from howlate.model.summary import CellSummary
from lab.guests import RT, STANDARD, warm_cache
from lab.resuming import Kill, Place, differences, resumed, values, whole


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernels", "cells", "once", "twice"),
    [
        pytest.param((RT,), 5, (), (1, 12), id="one kernel"),
        pytest.param((STANDARD, RT), 10, (16, 2), (28, 24), id="two kernels", marks=pytest.mark.sweep),
    ],
)
def test_what_was_killed_and_went_on_equals_what_was_left_alone(
    tmp_path: Path,
    kernels: tuple[str, ...],
    cells: int,
    once: tuple[int, ...],
    twice: tuple[int, ...],
) -> None:
    """The seeds draw the moments of the kills: those of runs that are killed once each, and of one that is twice."""
    cache = warm_cache(tmp_path / "cache", *kernels)  # fetched before anything is killed
    place = Place(tmp_path, cache, kernels)
    place.finish("warm")  # boots the guests, unless another test did
    seconds = place.finish("alone")
    alone = values(tmp_path / "alone")
    assert len(whole(tmp_path / "alone")) == cells
    assert not differences(alone, values(tmp_path / "warm")), "two undisturbed runs differ"
    assert all(
        CellSummary.from_json(its).valid for name, its in alone.items() if name.endswith("summary.json")
    )
    met = 0
    for seed in once:
        found, hit = resumed(place, f"once-{seed}", [Kill.drawn(seed, cells)], seconds / cells)
        assert not differences(alone, found)
        met += hit
    kills = [Kill.drawn(seed, cells) for seed in twice]
    found, hit = resumed(place, "twice", sorted(kills, key=lambda kill: kill.cells), seconds / cells)
    assert not differences(alone, found)
    assert met + hit >= len(once) + len(twice) - 1, "kills came after the runs had ended"
