"""What a check's file has to hold, and short words to write one with."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from howlate.errors import HowlateError
from howlate.model.facts import Facts, parse_cpus
from howlate.model.finding import Aim, Finding, Level


@dataclass(frozen=True)
class Verdict:
    """What a check's function returns: the level, what it found, and what to do ("" = nothing)."""

    level: Level
    found: str
    change: str = ""
    weight: int = 0
    """In place of the check's own, where this answer matters more."""


@dataclass(frozen=True)
class Check:
    """One file of the folder."""

    name: str
    title: str
    why: str
    weight: int
    looks_at: str
    judge: Callable[[Facts, Aim], Verdict]
    in_guests: bool = False
    """It is about the kernel, not about hardware, host or rights: it makes sense in a guest of the lab too."""
    in_lab: str | None = None
    """What to do in the lab, where a kernel is named with its parameters, in place of what is done on a machine."""

    @staticmethod
    def of(module: ModuleType) -> Check:
        """Reads TITLE, WHY, WEIGHT, the docstring and `judge` of a check's file; what is missing is
        an error."""
        name = module.__name__.rpartition(".")[2]
        for attribute, kind in (("TITLE", str), ("WHY", str), ("WEIGHT", int), ("__doc__", str)):
            if not isinstance(getattr(module, attribute, None), kind):
                raise HowlateError(f"the check {name} has no {attribute}", "see docs/how-to/add-a-check.md")
        if not callable(getattr(module, "judge", None)):
            raise HowlateError(f"the check {name} has no judge(facts, aim)", "see docs/how-to/add-a-check.md")
        looks_at = " ".join((module.__doc__ or "").split())
        in_guests = getattr(module, "IN_GUESTS", False) is True
        in_lab = getattr(module, "IN_LAB", None)
        return Check(name, module.TITLE, module.WHY, module.WEIGHT, looks_at, module.judge, in_guests, in_lab)

    def finding(self, facts: Facts, aim: Aim, in_lab: bool = False) -> Finding:
        """This check's answer about one machine, or about a guest of the lab."""
        verdict = self.judge(facts, aim)
        change = self.in_lab if in_lab and verdict.change and self.in_lab is not None else verdict.change
        weight = verdict.weight or self.weight
        return Finding(self.name, verdict.level, self.title, verdict.found, self.why, change, weight)


def late(found: str, change: str, weight: int = 0) -> Verdict:
    """Plausibly makes this machine late, and can be changed."""
    return Verdict("late", found, change, weight)


def note(found: str, change: str = "") -> Verdict:
    """Worth knowing when the numbers are read."""
    return Verdict("note", found, change)


def ok(found: str) -> Verdict:
    """Looked at, and in order."""
    return Verdict("ok", found)


def unknown(facts: Facts, key: str, change: str = "") -> Verdict:
    """Could not be found out: says which fact is missing and why."""
    return Verdict("unknown", f"not known: {key}: {facts.reason(key)}", change)


def granting(facts: Facts) -> str:
    """The command that gives the probe that captured the facts the rights of the measuring task; "" where its file is
    a session's on a far machine (docs/ssh.md) and gone when that ends."""
    program = facts.text("caller.program") or "build/probe/howlate-probe"
    return "" if "/howlate." in program else f"/sbin/setcap cap_sys_nice,cap_ipc_lock=ep {program}"


def measuring_cpus(facts: Facts, aim: Aim) -> frozenset[int]:
    """The CPUs that shall be on time: the aim's, else all that the caller may use or, as the probe chooses, the
    highest of them."""
    if aim.cpus:
        return frozenset(aim.cpus)
    online = facts.cpus("cpu.online") or frozenset({0})
    allowed = online & (facts.cpus("caller.cpus_allowed") or online) or online
    return allowed if aim.every else frozenset({max(allowed)})


def other_cpus(facts: Facts, aim: Aim) -> frozenset[int]:
    """Online CPUs that do not measure: where disturbers can go."""
    return (facts.cpus("cpu.online") or frozenset()) - measuring_cpus(facts, aim)


def absent(facts: Facts, key: str) -> bool:
    """True where the machine does not have the thing (as opposed to: it could not be read)."""
    reason = facts.missing.get(key, "")
    words = ("there is no ", "neither ", "no CPU has ", "No such file or directory")
    return facts.text("cpu.online") is not None and any(word in reason for word in words)


def is_rt_kernel(facts: Facts) -> bool | None:
    """PREEMPT_RT, from whatever tells."""
    version = facts.text("kernel.version")
    if facts.integer("kernel.realtime") == 1 or "y" in (
        facts.config("PREEMPT_RT"),
        facts.config("PREEMPT_RT_FULL"),
    ):
        return True
    if version is not None:
        return "PREEMPT_RT" in version or "PREEMPT RT" in version
    return False if facts.config("PREEMPT_RT") == "n" else None


def kernel_version(facts: Facts) -> tuple[int, int] | None:
    """Major and minor number of the release."""
    release = re.match(r"(\d+)\.(\d+)", facts.text("kernel.release") or "")
    return (int(release[1]), int(release[2])) if release else None


def preempt_mode(facts: Facts) -> tuple[str, str] | None:
    """none, voluntary, full or lazy, and what tells it."""
    marked = re.search(r"\((\w+)\)", facts.text("kernel.preempt_mode") or "")
    if marked:
        return marked[1], "debugfs"
    asked = facts.parameter("preempt")
    if asked in ("none", "voluntary", "full", "lazy") and facts.config("PREEMPT_DYNAMIC") != "n":
        return asked, "the kernel's command line"
    for option, mode in (("NONE", "none"), ("VOLUNTARY", "voluntary"), ("LAZY", "lazy")):
        if facts.config(f"PREEMPT_{option}") == "y":
            return mode, "the kernel's configuration"
    if facts.config("PREEMPT") == "y":
        return "full", "the kernel's configuration"
    return None


def is_dynamic(facts: Facts) -> bool | None:
    """PREEMPT_DYNAMIC: the mode is chosen when the kernel starts, or while it runs."""
    if facts.config("PREEMPT_DYNAMIC") is not None:
        return facts.config("PREEMPT_DYNAMIC") == "y"
    version = facts.text("kernel.version")
    return None if version is None else "PREEMPT_DYNAMIC" in version


def row_cpus(row: Mapping[str, Any], *names: str) -> frozenset[int]:
    """The CPUs of a table's row, from the first of these members that says any."""
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and value:
            return parse_cpus(value) or frozenset()
    return frozenset()


def number(row: Mapping[str, Any], name: str) -> int | None:
    """A whole number of a table's row."""
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def real_time(aim: Aim) -> bool:
    """Does the measuring task run under a real-time policy?"""
    return aim.policy in ("fifo", "rr", "deadline")


def bracketed(text: str | None) -> str | None:
    """The chosen word of "always [madvise] never"."""
    chosen = re.search(r"\[([\w+]+)\]", text or "")
    return chosen[1] if chosen else text


def some(names: Sequence[str], most: int = 4) -> str:
    """The first few names, and how many more there are."""
    listed = ", ".join(names[:most])
    return listed if len(names) <= most else f"{listed} and {len(names) - most} more"
