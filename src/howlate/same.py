"""Whether what goes on with a run measures on what the run was begun on: machine, kernel and guest."""

from __future__ import annotations

from pathlib import Path

from howlate.errors import UsageError
from howlate.model.facts import Facts
from howlate.model.run import Run

_SAME = {
    "kernel.release": "under the kernel",
    "kernel.version": "under the kernel's build",
    "kernel.cmdline": "with the kernel command line",
    "cpu.model": "on the CPU",
    "cpu.online": "with the CPUs",
}
"""Facts of a machine that its cells are compared under. Of a guest the first two: the rest the lab gives it."""


def check_same(path: Path, before: Run, now: Run) -> None:
    """A run goes on only on the machine, and under the kernel, that it was begun on."""
    for label in before.machines.keys() & now.machines.keys() or {""}:
        was, is_now = (
            Facts.from_json(dict(run.machines[label] if label else run.facts)) for run in (before, now)
        )
        for key in list(_SAME)[: 2 if label else None]:
            one, other = was.text(key), is_now.text(key)
            if one != other and (key == "kernel.release" or None not in (one, other)):
                which = f"under the kernel {label} as" if label else _SAME[key]
                raise UsageError(
                    f"{path} was measured {which} {one}, this is {other}",
                    "choose another --out",
                )
        _same_guest(path, label, was, is_now)


_GUEST = {
    "lab.kernel_sha256": "another file of the kernel",
    "lab.emulator": "another version of QEMU",
    "lab.arguments": "other arguments of QEMU",
}


def _same_guest(path: Path, label: str, was: Facts, is_now: Facts) -> None:
    """One run's cells come from one guest: its key says whether kernel, probe, modules and QEMU are the same."""
    if was.text("lab.guest") == is_now.text("lab.guest"):
        return
    found = [what for key, what in _GUEST.items() if was.text(key) != is_now.text(key)]
    raise UsageError(
        f"{path} was measured in another guest of {label} "
        f"({', '.join(found) or 'another build of the probe or of QEMU, or other modules'})",
        "choose another --out: kernels are compared in one kind of guest",
    )


def boots(before: Run, now: Run) -> list[str]:
    """A sentence where the machine was started anew in between: what came up may not be what was there."""
    if before.machines or now.machines or not before.facts or not now.facts:
        return []
    was, is_now = (Facts.from_json(dict(run.facts)).text("kernel.boot_id") for run in (before, now))
    if None in (was, is_now) or was == is_now:
        return []
    return [
        f"the machine was started anew before {now.started}: cells of before and after may differ by that"
    ]
