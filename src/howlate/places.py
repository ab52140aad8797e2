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
"""Architectures as the kernel calls them -> as Debian does: those that the lab has guests of."""
ARCHITECTURES = {
    "x86_64": "x86_64",
    "aarch64": "aarch64",
    "armv7l": "armv7",
    "armv8l": "armv7",
    "riscv64": "riscv64",
}
"""What `uname -m` says -> the folder of its probe in build/cross."""


def probe_path() -> Path:
    """The probe built for this machine: $HOWLATE_PROBE, else build/probe/howlate-probe of this repository."""
    return _probe("HOWLATE_PROBE", "probe", "`howlate check` builds it")


def guest_probe_path(arch: str) -> Path:
    """The probe for guests of an architecture (amd64, arm64)."""
    machine = {debian: kernel for kernel, debian in MACHINES.items()}[arch]
    return _cross_path(machine, _own_probe(arch))


def machine_probe_path(machine: str) -> Path:
    """The probe for machines on which `uname -m` says this: this machine's own, or build/cross/ARCHITECTURE, which
    the launcher's script builds if need be. NotPossibleError where there is none for them."""
    if machine not in ARCHITECTURES:
        raise NotPossibleError(
            f'there is no probe for the architecture "{machine}" (there are {", ".join(ARCHITECTURES)})',
            "build it there from probe/ with CMake, and measure by hand (docs/probe.md)",
        )
    arch = ARCHITECTURES[machine]
    if machine != os.uname().machine and not os.environ.get(_own_probe(arch)):
        _ready(("probe", arch), f"the probe for {machine}")
    return _cross_path(machine, _own_probe(arch))


def built_probe(machine: str) -> Path | None:
    """The same, where it is built already; nothing is built."""
    try:
        return _cross_path(machine, _own_probe(ARCHITECTURES[machine]))
    except TargetError:
        return None


def _cross_path(machine: str, variable: str) -> Path:
    if machine == os.uname().machine and not os.environ.get(variable):
        return probe_path()
    arch = ARCHITECTURES[machine]
    return _probe(variable, f"cross/{arch}", f"./dev cross {arch} builds it with a cross compiler")


def make_ready(arch: str) -> None:
    """For guests of another kind than this machine's: has the launcher install QEMU and a cross compiler, and build
    the probe. What it says goes to standard error. Nothing where a probe is given by $HOWLATE_PROBE_ARCH."""
    if MACHINES.get(os.uname().machine) == arch or os.environ.get(_own_probe(arch)):
        return
    _ready(("guest", arch), f"what guests of {arch} need")


def _ready(what: tuple[str, ...], words: str) -> None:
    script = ROOT / "tools" / "ready.sh"
    if not script.is_file():
        return
    code = subprocess.run([str(script), *what], check=False).returncode
    if code == ExitCode.NOT_POSSIBLE:
        raise NotPossibleError(f"{words} cannot be had here; the reason stands above")
    if code != 0:
        raise TargetError(f"{words} could not be made ready; the reason stands above")


def _own_probe(arch: str) -> str:
    return f"HOWLATE_PROBE_{arch.upper()}"


def _probe(variable: str, folder: str, remedy: str) -> Path:
    """The probe that the environment's variable names, else the one built in a folder; the remedy says how."""
    given = os.environ.get(variable)
    path = Path(given or ROOT / "build" / folder / "howlate-probe")
    try:
        there = path.is_file()
    except OSError as problem:
        raise TargetError(
            f"{path} cannot be looked at: {problem.strerror}", "make its folder readable for yourself"
        ) from None
    if not there:
        if given:
            raise TargetError(
                f"{path}, which the environment names as the probe, is not there",
                f"unset {variable}, or have it name a probe",
            )
        raise TargetError(f"the probe is not built ({path} is not there)", remedy)
    if not os.access(path, os.X_OK):
        raise TargetError(
            f"{path} cannot be executed", "make it executable, or let `howlate check` build it again"
        )
    return path
