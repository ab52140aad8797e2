"""One guest a kernel for all tests that need programs or modules of their own: a boot takes 3 to 9 s of a core."""

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

from howlate.lab.archive.apt import AptArchive
from howlate.lab.bench import Bench
from howlate.lab.kernels.catalogue import get
from howlate.lab.kernels.label import Label
from howlate.lab.needed import KMOD, GuestModules, built, needed
from howlate.model.capabilities import Need
from lab.guests import KERNELS

HERE = Path(__file__).parent
PROGRAMS = (
    "both",
    "clocks",
    "crash",
    "few_files",
    "inject_user",
    "irq_reader",
    "killed",
    "killed_bpf",
    "long_smi",
    "meanwhile",
    "peek",
    "quantum",
    "shorter",
    "smi",
    "uio_reader",
)
"""Files of this folder, in C."""
MODULES = ("uio", "howlate_irq", "howlate_hpet", "howlate_uio", "howlate_inject", "msr")
HOLDING = HERE / "holding"
"""Modules that hold the CPU for a known time: `irqs_off` with interrupts off; `preempt_off` with preemption off, with
an interrupt in the midst of it if that is asked for; `reacts` where the next timer is near; `core_off`, of a kernel
with Dovetail alone, with the CPU's own interrupts off."""
DEVICES = ("edu",)
"""What one of the modules drives."""

Guest = Callable[[str], Bench]
"""Gives an equipped guest of the kernel with this name."""


def compiled(folder: Path, name: str) -> bytes:
    """A static C program for a guest."""
    argv = ["gcc", "-O1", "-Wall", "-Werror", "-static", "-I", str(KMOD)]
    subprocess.run([*argv, "-o", str(folder / name), str(HERE / f"{name}.c")], check=True)
    return (folder / name).read_bytes()


@cache
def modules_for(name: str) -> GuestModules:
    """All modules, none of them loaded; what is absent says why none can be built."""
    label = Label.parse(name)
    archive = AptArchive(KERNELS / "apt")
    kernel = get(label, archive, KERNELS)
    ours = needed([Need(name) for name in MODULES], label, kernel, archive, KERNELS, lambda _: None)
    if ours.absent:
        return ours
    holding = built([HOLDING], label, kernel, archive, KERNELS, lambda _: None)
    return GuestModules({**ours.files, **holding.files}, ours.lines)
