"""A probe that is stopped at any instant ends in order (docs/probe.md)."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from probe.stops import ASKED, INCONCLUSIVE, LOADS, ends, whole_s

QUICK, LONG = 8, 1000


@pytest.mark.parametrize("stops", [QUICK, pytest.param(LONG, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("load", LOADS)
def test_a_stop_at_any_instant_of_a_loads_start_is_in_order(probe: Path, load: str, stops: int) -> None:
    """As many as are asked for come while loads start: nothing was measured then, which the code says."""
    words = ["cyclic", "--load", load, "--activations=1", "--quiet", "--policy=other"]
    during = 0
    for end in islice(ends(words, ASKED, whole_s(words), stops), 20 * stops):
        end.check()
        during += end.code == INCONCLUSIVE
        if during == stops:
            return
    pytest.fail(f"{during} of {20 * stops} stops came while loads started")
