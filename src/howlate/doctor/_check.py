"""What a check's file has to hold, and short words to write one with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from howlate.errors import HowlateError
from howlate.model.facts import Facts
from howlate.model.finding import Aim, Finding, Level


@dataclass(frozen=True)
class Verdict:
    """What a check's function returns: the level, what it found, and what to do ("" = nothing)."""

    level: Level
    found: str
    change: str = ""


@dataclass(frozen=True)
class Check:
    """One file of the folder."""

    name: str
    title: str
    why: str
    weight: int
    looks_at: str
    judge: Callable[[Facts, Aim], Verdict]

    @staticmethod
    def of(module: ModuleType) -> Check:
        """Reads TITLE, WHY, WEIGHT, the docstring and `judge` of a check's file; what is missing is an error."""
        name = module.__name__.rpartition(".")[2]
        for attribute, kind in (("TITLE", str), ("WHY", str), ("WEIGHT", int), ("__doc__", str)):
            if not isinstance(getattr(module, attribute, None), kind):
                raise HowlateError(f"the check {name} has no {attribute}", "see docs/how-to/add-a-check.md")
        if not callable(getattr(module, "judge", None)):
            raise HowlateError(f"the check {name} has no judge(facts, aim)", "see docs/how-to/add-a-check.md")
        looks_at = " ".join((module.__doc__ or "").split())
        return Check(name, module.TITLE, module.WHY, module.WEIGHT, looks_at, module.judge)

    def finding(self, facts: Facts, aim: Aim) -> Finding:
        """This check's answer about one machine."""
        verdict = self.judge(facts, aim)
        return Finding(self.name, verdict.level, self.title, verdict.found, self.why, verdict.change, self.weight)


def late(found: str, change: str) -> Verdict:
    """Plausibly makes this machine late, and can be changed."""
    return Verdict("late", found, change)


def note(found: str, change: str = "") -> Verdict:
    """Worth knowing when the numbers are read."""
    return Verdict("note", found, change)


def ok(found: str) -> Verdict:
    """Looked at, and in order."""
    return Verdict("ok", found)


def unknown(facts: Facts, key: str, change: str = "") -> Verdict:
    """Could not be found out: says which fact is missing and why."""
    return Verdict("unknown", f"not known: {key}: {facts.reason(key)}", change)


def measuring_cpus(facts: Facts, aim: Aim) -> frozenset[int]:
    """The CPUs that shall be on time: the aim's, else the isolated ones, else all that are online."""
    if aim.cpus:
        return frozenset(aim.cpus)
    isolated = facts.cpus("cpu.isolated")
    if isolated:
        return isolated
    return facts.cpus("cpu.online") or frozenset({0})
