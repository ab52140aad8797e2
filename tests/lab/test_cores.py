"""The real-time cores beside Linux, on kernels that somebody built: nothing of them is in Debian's archive.

HOWLATE_COBALT_KERNEL=linux/arch/x86/boot/bzImage HOWLATE_COBALT_PROBE=build/probe-cobalt/howlate-probe ./dev test ...
HOWLATE_EVL_KERNEL=...                            HOWLATE_EVL_PROBE=build/probe-evl/howlate-probe
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from howlate.analysis.join import join
from howlate.store.loaded import load_run

TIMERS = {
    "cobalt": ("cobalt", "cobalt-timerfd", "cobalt-kernel-task", "cobalt-kernel-timer"),
    "evl": ("evl", "evl-sleep", "evl-kernel-thread", "evl-kernel-timer"),
}
STUDY = """
schema = 1
id = "core"
title = "A core"
question = "How late is a task of the core?"
test = "cyclic"

[settings]
period = "1ms"
activations = "100"
warm-up = "5"
dither = {dither}

[axes]
load = ["none"]
timer = [{timers}]
"""


def given(core: str) -> tuple[Path, Path]:
    """The kernel and the probe of a core; skipped, with the reason, where nobody names them."""
    names = [f"HOWLATE_{core.upper()}_{what}" for what in ("KERNEL", "PROBE")]
    for name in names:
        if not os.environ.get(name):
            pytest.skip(f"{name} names no {name.rpartition('_')[2].lower()} with {core} (docs/cores.md)")
    return Path(os.environ[names[0]]), Path(os.environ[names[1]])


def measured(folder: Path, core: str, timers: tuple[str, ...], dither: bool = True) -> list[dict[str, Any]]:
    kernel, probe = given(core)
    study, out = folder / "core.toml", folder / "run"
    study.write_text(
        STUDY.format(timers=", ".join(f'"{timer}"' for timer in timers), dither=str(dither).lower())
    )
    argv = [sys.executable, "-m", "howlate", "lab", "run", str(study), "--out", str(out), "--seeds", "1"]
    argv += ["--kernel", f"{core}={kernel}[tsc=reliable]", "--probe", str(probe)]
    subprocess.run(argv, check=True, stdin=subprocess.DEVNULL, timeout=1200)
    return [json.loads(path.read_text()) for path in sorted(out.glob("cells/*/cell.json"))]


def check(cells: list[dict[str, Any]]) -> None:
    for cell in cells:
        for account in cell["trailer"]["accounting"]:
            assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"]
            assert account["dropped"] == 0
            assert account["stage_switches"] == 0
            assert account["gravity_ns"] >= 0
            assert account["latency_ns_max"] < 100_000


@pytest.mark.parametrize("core", TIMERS)
def test_every_timer_of_a_core_is_measured_and_accounted_for(tmp_path: Path, core: str) -> None:
    cells = measured(tmp_path, core, TIMERS[core])
    assert len(cells) == len(TIMERS[core])
    check(cells)


def test_alchemy_whose_timer_the_core_repeats_is_accounted_for(tmp_path: Path) -> None:
    (cell,) = measured(tmp_path, "cobalt", ("alchemy",), dither=False)
    check([cell])
    assert all("core_overruns" in account for account in cell["trailer"]["accounting"])


def test_the_core_is_the_preemption_model(tmp_path: Path) -> None:
    measured(tmp_path, "cobalt", ("cobalt",))
    assert {side.preemption for side in join([load_run(tmp_path / "run")]).sides} == {"cobalt"}
