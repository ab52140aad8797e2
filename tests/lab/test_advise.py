"""`howlate advise` in a guest of which it is known what matters: that is named, and nothing else; in the sweep
twice the same."""

from pathlib import Path
from typing import Any

import pytest

from lab.guests import printed_by, warm_cache

THROTTLED = "6.1[sysctl.kernel.sched_rt_runtime_us=3000]"
"""Real-time tasks of this guest may run 3 ms of each second."""
KNOBS = "rt_throttling,thp,timer_migration,cpu_dma_latency"
OPTIONS = ("--load=none", "--quantile=max", f"--knobs={KNOBS}", "--pairs=8")


def advised(cache: Path, folder: Path, kernel: str, length_ms: int) -> Any:
    """What the command prints; its run is the folder's "r"."""
    words = ["advise", f"--kernels={kernel}", f"--cell-duration={length_ms}ms", *OPTIONS, "--json", "--out=r"]
    return printed_by(words, folder, cache, 1800)


def standings(found: dict[str, Any]) -> dict[str, str]:
    return {name: knob["standing"] for knob in found["knobs"] for name in knob["knobs"]}


@pytest.mark.long
@pytest.mark.parametrize(
    "length_ms",
    [1200, *(pytest.param(1500 + 10 * number, marks=pytest.mark.sweep) for number in range(20))],
)
def test_the_knob_that_was_worsened_is_named_and_no_other(tmp_path: Path, length_ms: int) -> None:
    found = advised(warm_cache(tmp_path / "cache", THROTTLED), tmp_path, THROTTLED, length_ms)
    words = standings(found)
    assert words.pop("rt_throttling=off") == "helps"
    assert set(words.values()) == {"nothing shown"} and len(words) == 3
    assert found["clock"] == "virtual" and found["together"] is None
    assert found["for_good"] == [
        "rt_throttling=off: kernel.sched_rt_runtime_us = -1 in /etc/sysctl.d/90-howlate.conf."
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("length_ms", "times"),
    [
        (600, 1),
        *(pytest.param(1100 + 10 * number, 2, marks=pytest.mark.sweep) for number in range(20)),
    ],
)
def test_where_nothing_was_worsened_nothing_is_named(tmp_path: Path, length_ms: int, times: int) -> None:
    """In the sweep twice the same: each time with a cache of its own, so that every cell is measured again."""
    found = []
    for turn in range(times):
        folder = tmp_path / str(turn)
        folder.mkdir()
        found.append(advised(warm_cache(folder / "cache", "6.1"), folder, "6.1", length_ms))
    assert set(standings(found[0]).values()) == {"nothing shown"}
    assert all(each == found[0] for each in found)
