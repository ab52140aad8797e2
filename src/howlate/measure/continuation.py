"""Checks that a continued run measures on the machine, kernel and guest on which it began."""

from __future__ import annotations

from pathlib import Path

from howlate.errors import UsageError
from howlate.model.facts import Facts
from howlate.model.run import Run
from howlate.words.statement import Statement, message

STARTED_ANEW = message(
    "run.started-anew",
    "the machine was rebooted before {time}: cells measured before and after may differ by that",
)
OTHER_BUILD = "another build of the probe or of QEMU, or other modules"

_SAME = {
    "kernel.release": "kernel",
    "kernel.version": "build of the kernel",
    "kernel.cmdline": "kernel command line",
    "cpu.model": "CPU",
    "cpu.online": "set of CPUs",
}
"""The facts of a machine that must stay the same for its cells. Of a guest only the first two: the lab
determines the rest."""


def check_same(path: Path, before: Run, now: Run) -> None:
    """A run continues only on the machine and under the kernel on which it began."""
    for label in before.machines.keys() & now.machines.keys() or {""}:
        was, is_now = (
            Facts.from_json(dict(run.machines[label] if label else run.facts)) for run in (before, now)
        )
        for key in list(_SAME)[: 2 if label else None]:
            then, today = was.text(key), is_now.text(key)
            if then != today and (key == "kernel.release" or None not in (then, today)):
                what = f"version of the kernel {label}" if label else _SAME[key]
                raise _other(path, what, f"{then} then, {today} now")
        _same_guest(path, label, was, is_now)


_GUEST = {
    "lab.kernel_sha256": "another file of the kernel",
    "lab.emulator": "another version of QEMU",
    "lab.arguments": "other arguments of QEMU",
}


def _same_guest(path: Path, label: str, was: Facts, is_now: Facts) -> None:
    """All cells of a run come from one guest: its key covers kernel, probe, modules and QEMU."""
    if was.text("lab.guest") == is_now.text("lab.guest"):
        return
    differences = [what for key, what in _GUEST.items() if was.text(key) != is_now.text(key)] or [OTHER_BUILD]
    raise _other(path, f"guest of {label}", ", ".join(differences))


def _other(path: Path, what: str, difference: str) -> UsageError:
    return UsageError(
        "{path} was measured on another {what}: {difference}",
        remedy="choose another --out",
        path=path,
        what=what,
        difference=difference,
    )


def boots(before: Run, now: Run) -> list[Statement]:
    """A warning if the machine was rebooted during the run: its state may have changed."""
    if before.machines or now.machines or not before.facts or not now.facts:
        return []
    was, is_now = (Facts.from_json(dict(run.facts)).text("kernel.boot_id") for run in (before, now))
    if None in (was, is_now) or was == is_now:
        return []
    return [STARTED_ANEW(time=now.started)]
