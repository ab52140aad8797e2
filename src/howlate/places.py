"""Where things stand: the probe, the studies, the runs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from howlate.errors import ExitCode, NotPossibleError, TargetError

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / "studies"
REFERENCE = ROOT / "reference"
RUNS = Path("runs")
"""Below the working folder."""


MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
"""Architectures as the kernel calls them -> as Debian does."""


def probe_path() -> Path:
    """The probe built for this machine: $HOWLATE_PROBE, else build/probe/howlate-probe of this repository."""
    return _probe(os.environ.get("HOWLATE_PROBE"), "probe", "./howlate builds it when it is called")


def guest_probe_path(arch: str) -> Path:
    """The probe for guests of an architecture (amd64, arm64): this machine's own, or build/probe-ARCH."""
    if MACHINES.get(os.uname().machine) == arch:
        return probe_path()
    return _probe(
        os.environ.get(_own_probe(arch)),
        f"probe-{arch}",
        f"tools/ready.sh {arch} builds it with a cross compiler",
    )


def make_ready(arch: str) -> None:
    """For guests of another kind than this machine's: has the launcher install QEMU and a cross compiler, and build
    the probe. What it says goes to standard error. Nothing where a probe is given by $HOWLATE_PROBE_ARCH."""
    script = ROOT / "tools" / "ready.sh"
    if MACHINES.get(os.uname().machine) == arch or os.environ.get(_own_probe(arch)) or not script.is_file():
        return
    code = subprocess.run([str(script), arch], check=False).returncode
    if code == ExitCode.NOT_POSSIBLE:
        raise NotPossibleError(f"guests of {arch} are not possible here; the reason stands above")
    if code != 0:
        raise TargetError(f"what guests of {arch} need could not be made ready; the reason stands above")


def _own_probe(arch: str) -> str:
    return f"HOWLATE_PROBE_{arch.upper()}"


def _probe(given: str | None, folder: str, remedy: str) -> Path:
    path = Path(given or ROOT / "build" / folder / "howlate-probe")
    try:
        there = path.is_file()
    except OSError as problem:
        raise TargetError(
            f"{path} cannot be looked at: {problem.strerror}", "make its folder readable for yourself"
        ) from None
    if not there:
        raise TargetError(f"the probe is not built ({path} is not there)", remedy)
    if not os.access(path, os.X_OK):
        raise TargetError(f"{path} cannot be executed", "make it executable, or let ./howlate build it again")
    return path
