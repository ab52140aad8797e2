"""`howlate` as a process of its own, with the real probe."""

import subprocess
import sys
from pathlib import Path

import processes
from howlate.system import paths as places

PROBE = str(places.probe_path())
"""One that was not built is a failure, not a skip."""

STUDY = """
schema = 1
id = "tiny"
title = "Tiny"
question = "Does it work?"
test = "cyclic"
[settings]
policy = "other"
period = "1ms"
activations = 300
[axes]
load = ["none", "cpu:5"]
timer = ["clock_nanosleep", "timerfd"]
[order]
kind = "random"
seed = 3
"""


def environment() -> dict[str, str]:
    return processes.environment(HOWLATE_PROBE=PROBE)


def start(folder: Path, *argv: str) -> subprocess.Popen[str]:
    """In this folder, which gets the study tiny.toml if it is named."""
    if "tiny.toml" in argv:
        (folder / "tiny.toml").write_text(STUDY)
    return subprocess.Popen(
        [sys.executable, "-m", "howlate", *argv],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def howlate(folder: Path, *argv: str) -> tuple[int, str, str]:
    process = start(folder, *argv)
    out, err = process.communicate(timeout=600)
    assert "Traceback" not in out + err
    return process.returncode, out, err
