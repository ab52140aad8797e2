"""Loads beside a test on a guest of several CPUs: a starved one makes its cell invalid, and the tasks that keep each
CPU busy compete with nobody."""

import json
from pathlib import Path
from typing import Any

import pytest

from howlate.statistics.load_reached import NOT_LOADED
from lab.guests import STANDARD, run_study, warm_cache, with_cpus

STUDY = """schema = 1
id = "placed"
title = "Loads in their places"
question = "Which of them are there?"
[lab]
cpus = 2
[[part]]
id = "wake"
test = "cyclic"
[part.settings]
policy = "fifo:80"
period = "1ms"
activations = "100"
[part.axes]
load = @LOADS@
[[part]]
id = "spin"
test = "preemption"
[part.settings]
points = "20"
[part.axes]
load = ["cpu:100,cpus=other", "cpu:100,cpus=same"]
"""
STARVED = ("spin", "cpu:100,cpus=same")


@pytest.mark.long
@pytest.mark.parametrize(
    "loads",
    [
        ("cpu:100,nice=10,cpus=other",),
        pytest.param(("none", "cpu:100,cpus=other", "hackbench:1,cpus=other"), marks=pytest.mark.sweep),
    ],
)
def test_of_loads_on_several_cpus_only_the_starved_one_makes_its_cell_invalid(
    tmp_path: Path, loads: tuple[str, ...]
) -> None:
    with_cpus(2)  # a QEMU that can run it
    cache = warm_cache(tmp_path / "cache", STANDARD)
    (tmp_path / "placed.toml").write_text(STUDY.replace("@LOADS@", json.dumps(loads)))
    printed = run_study("placed.toml", [STANDARD], cache, tmp_path, "--turn=20us")
    cells = {(cell["labels"]["part"], cell["labels"]["load"]): cell for cell in printed["cells"]}
    assert len(cells) == 2 + len(loads)
    assert {key for key, cell in cells.items() if not cell["valid"]} == {STARVED}
    assert cells[STARVED]["statements"][0]["rule"] == NOT_LOADED.id
    for key, cell in cells.items():
        for load in cell["loads"]:
            least = 0.0 if key == STARVED else 0.7 if "hackbench" in key[1] else 0.95
            assert least <= load["share"] < 1.3, key
    trailers = [
        json.loads((cell / "cell.json").read_text())["trailer"]
        for cell in (tmp_path / "r" / "cells").iterdir()
    ]
    others: list[dict[str, Any]] = [trailer["others"] for trailer in trailers]
    assert all(other["alone"] for other in others)
    assert {word for trailer in trailers for word in trailer["clocksource"].values()} == {"tsc"}
