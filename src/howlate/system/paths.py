"""Paths of the probe, the runs, and other files that come with howlate. A checkout has them outside the
package, an installed wheel inside it (tools/wheel_contents.py)."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from howlate.errors import ExitCode, NotPossibleError, TargetError
from howlate.words.say import statement_of
from howlate.words.statement import message

ABSENT = message("place.absent", "{path} does not exist", remedy="{remedy}")
NO_RUN = message("place.no-run", "there is no {what} below {runs}/", remedy="{hint}")
NOT_STARTED = message(
    "place.not-started",
    "{path} could not be started: {reason}",
    remedy="make it executable for yourself; in a checkout, `howlate check` builds it again",
)

ROOT = Path(__file__).resolve().parents[3]
"""The root of a checkout."""
_PROBES = Path(__file__).resolve().parents[1] / "probes"
INSTALLED = _PROBES.is_dir()
"""True in an installed wheel: nothing is built here."""
SHARE = _PROBES.parent if INSTALLED else ROOT
"""The folder of settings.toml and kmod/."""
RUNS = Path("runs")
"""Relative to the working folder."""


MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
"""The kernel's names of architectures -> Debian's names, for the architectures of the lab's guests."""
ARCHITECTURES = {
    "x86_64": "x86_64",
    "aarch64": "aarch64",
    "armv7l": "armv7",
    "armv8l": "armv7",
    "riscv64": "riscv64",
}
"""The output of `uname -m` -> the folder of its probe in build/cross."""


def probe_path() -> Path:
    """The probe for this machine: $HOWLATE_PROBE, else the wheel's or the checkout's, which the launcher's script
    builds if necessary."""
    if not INSTALLED and not os.environ.get("HOWLATE_PROBE"):
        _own_ready(ROOT)
    return _built_own()


def _built_own() -> Path:
    if INSTALLED:
        return _probe("HOWLATE_PROBE", _packaged(os.uname().machine), _NOT_IN_WHEEL)
    return _probe("HOWLATE_PROBE", ROOT / "build" / "probe", "`howlate check` builds it")


_NOT_IN_WHEEL = "install one that `./dev wheel` built, or call ./howlate in a checkout"


def _packaged(machine: str) -> Path:
    return _PROBES / ARCHITECTURES.get(machine, machine)


def guest_probe_path(arch: str) -> Path:
    """The probe for guests of an architecture (amd64, arm64)."""
    machine = {debian: kernel for kernel, debian in MACHINES.items()}[arch]
    return _cross_path(machine, _own_probe(arch))


def machine_probe_path(machine: str) -> Path:
    """The probe for machines on which `uname -m` prints this name: this machine's own, or
    build/cross/ARCHITECTURE, which the launcher's script builds if necessary. NotPossibleError if there is
    none for them."""
    if machine not in ARCHITECTURES:
        raise NotPossibleError(
            'there is no probe for the architecture "{architecture}" (there are {known:all})',
            remedy="build it there from probe/ with CMake, and measure by hand (docs/probe.md)",
            architecture=machine,
            known=tuple(ARCHITECTURES),
        )
    arch = ARCHITECTURES[machine]
    if machine != os.uname().machine and not os.environ.get(_own_probe(arch)):
        _ready(("probe", arch), f"the probe for {machine}")
    return _cross_path(machine, _own_probe(arch))


def built_probe(machine: str) -> Path | None:
    """The same probe if it is already built; nothing is built."""
    try:
        return _cross_path(machine, _own_probe(ARCHITECTURES[machine]), _built_own)
    except TargetError:
        return None


def _cross_path(machine: str, variable: str, own: Callable[[], Path] = probe_path) -> Path:
    if machine == os.uname().machine and not os.environ.get(variable):
        return own()
    if INSTALLED:
        return _probe(variable, _packaged(machine), _NOT_IN_WHEEL)
    arch = ARCHITECTURES[machine]
    remedy = f"./dev cross {arch} builds it with a cross compiler"
    return _probe(variable, ROOT / "build" / "cross" / arch, remedy)


def make_ready(arch: str) -> None:
    """Let the launcher install what guests of an architecture need, and build their probe if it is another's. Its
    output goes to standard error. Does nothing if $HOWLATE_PROBE_ARCH gives a probe."""
    if not os.environ.get(_own_probe(arch)):
        _ready(("guest", arch), f"what guests of {arch} need")


def archive_ready() -> None:
    """Let the launcher install the keys of the Debian archive and the program that checks signatures."""
    _ready(("archive",), "what verifies the archive")


@cache
def _own_ready(root: Path) -> None:
    """Once, because commands ask for the probe in several places."""
    _ready(("own",), "the probe")


def _ready(what: tuple[str, ...], words: str) -> None:
    script = ROOT / "tools" / "ready.sh"
    if INSTALLED or not script.is_file():
        return
    import subprocess

    code = subprocess.run([str(script), *what], check=False).returncode
    if code != 0:
        kind = NotPossibleError if code == ExitCode.NOT_POSSIBLE else TargetError
        raise kind(statement_of("{what} could not be prepared, for the reason above", what=words))


def emulator_clock_path() -> Path:
    """The library that the QEMU of a guest in virtual time is given (probe/emulator/clock.cpp), built with this
    machine's probe."""
    return _beside_probe("howlate-clock.so")


def emulator_trace_path() -> Path:
    """The plugin for the QEMU of a guest whose instructions are logged (probe/emulator/trace.cpp)."""
    return _beside_probe("howlate-trace.so")


def _beside_probe(name: str) -> Path:
    given = os.environ.get("HOWLATE_PROBE")
    own = _packaged(os.uname().machine) if INSTALLED else ROOT / "build" / "probe"
    folders = [*([Path(given).parent] if given else []), own]
    found = next((folder / name for folder in folders if (folder / name).is_file()), None)
    if found is None:
        remedy = _NOT_IN_WHEEL if INSTALLED else "`howlate check` builds it with the probe"
        raise TargetError(ABSENT(path=own / name, remedy=remedy))
    return found


def _own_probe(arch: str) -> str:
    return f"HOWLATE_PROBE_{arch.upper()}"


def _probe(variable: str, folder: Path, remedy: str) -> Path:
    """The probe that the environment variable names, else the one in a folder; the remedy says how to get it."""
    given = os.environ.get(variable)
    path = Path(given or folder / "howlate-probe")
    try:
        there = path.is_file()
    except OSError as problem:
        raise TargetError(NOT_STARTED(path=path, reason=problem.strerror)) from None
    if not there:
        if given:
            remedy = f"unset {variable}, or have it name a probe"
        raise TargetError(ABSENT(path=path, remedy=remedy))
    if not os.access(path, os.X_OK):
        raise TargetError(NOT_STARTED(path=path, reason=os.strerror(errno.EACCES)))
    return path
