"""`howlate lab bisect` with real kernels: between boot parameters, and between builds of which one does not boot."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from howlate.lab.archive.apt import AptArchive
from howlate.lab.kernels.catalogue import get
from howlate.lab.kernels.label import Label
from lab.guests import KERNELS, warm_cache

SETUP_SECTORS, UNDEFINED = 0x1F1, b"\x0f\x0b"
"""In a bzImage: how many sectors come before its code. An instruction that is none."""
STUDY = """\
schema = 1
id = "fault"
title = "Page faults"
question = "How late beside page faults?"
test = "cyclic"
[settings]
timer = "clock_nanosleep"
policy = "fifo:80"
period = "1ms"
dither = true
activations = "200"
load = "memory-alloc:100"
"""


def bisected(folder: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    (folder / "fault.toml").write_text(STUDY)
    cache = folder / "cache"
    if not cache.exists():
        warm_cache(cache / "howlate")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "howlate",
            "lab",
            "bisect",
            "fault.toml",
            "--limit=330us",
            "--json",
            *arguments,
        ],
        cwd=folder,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
        stdout=subprocess.PIPE,
        check=False,
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.long
def test_the_parameter_that_matters_is_named_and_the_others_never(tmp_path: Path) -> None:
    code, found = bisected(tmp_path, "--good=6.1[preempt=full]", "--bad=6.1[threadirqs quiet preempt=none]")
    assert (code, found["found"], found["change"]) == (0, "named", "preempt=full -> preempt=none")
    assert found["steps"][0]["side"] == "good"
    assert all(len(step["again_largest_ns"]) == 8 for step in found["steps"] if "again_side" in step)


@pytest.mark.long
def test_a_build_that_does_not_boot_is_skipped_and_what_is_left_is_said(tmp_path: Path) -> None:
    """Four builds: RT, one whose code ends in a fault, one that says that it cannot be tested, and standard."""
    kernels = {
        name: get(Label.parse(text), AptArchive(KERNELS / "apt"), KERNELS).vmlinuz
        for name, text in (("rt", "6.1-rt"), ("standard", "6.1"))
    }
    whole = kernels["rt"].read_bytes()
    code_at = (whole[SETUP_SECTORS] + 1) * 512
    (tmp_path / "dead").write_bytes(whole[:code_at] + UNDEFINED * ((len(whole) - code_at) // len(UNDEFINED)))
    (tmp_path / "revisions").write_text("rt\ndead\nuntestable\nstandard\n")
    build = (
        f'case $HOWLATE_REVISION in rt) cp {kernels["rt"]} "$HOWLATE_KERNEL" ;; '
        f'dead) cp {tmp_path}/dead "$HOWLATE_KERNEL" ;; standard) cp {kernels["standard"]} "$HOWLATE_KERNEL" ;; '
        "*) exit 125 ;; esac"
    )
    code, found = bisected(tmp_path, "--revisions=revisions", f"--build={build}")
    assert (code, found["found"], found["culprit"]) == (5, "range", None)
    assert [step["side"] for step in found["steps"]] == ["good", "skip", "skip", "bad"]
    assert found["suspects"] == ["dead", "untestable", "standard"]
    assert "cannot be tested" in found["steps"][2]["why"]
