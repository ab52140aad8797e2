"""What a check's file has to hold, and short words to write one with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from howlate.errors import HowlateError
from howlate.model.facts import Facts, parse_cpus
from howlate.model.facts import bracketed as bracketed  # checks have it from here
from howlate.model.finding import Aim, Finding, Level
from howlate.words import say
from howlate.words.statement import Rule, Statement, rule

UNKNOWN = "not known: {fact}: {reason}"
NOT_KNOWN = rule("doctor.not-known", UNKNOWN)
INCOMPLETE = rule(
    "doctor.incomplete", "the check {check} has no {part}", remedy="see docs/how-to/add-a-check.md"
)


@dataclass(frozen=True)
class Judgement:
    """What a check's function returns: the level and the statement of its finding; the remedy of the rule
    says what to do."""

    level: Level
    statement: Statement
    weight: int = 0
    """Replaces the check's own weight where this answer matters more."""


@dataclass(frozen=True)
class Check:
    """One file of the folder."""

    name: str
    title: str
    why: str
    weight: int
    looks_at: str
    judge: Callable[[Facts, Aim], Judgement]
    in_guests: bool = False
    """The check is about the kernel, not about hardware, host or rights, so it also applies to a guest of the
    lab."""
    in_lab: str | None = None
    """The remedy in the lab, where a kernel is named with its parameters; it replaces the remedy for a
    machine."""

    @staticmethod
    def of(module: ModuleType) -> Check:
        """Read TITLE, WHY, WEIGHT, the docstring and `judge` of a check's file; a missing one is an error."""
        name = module.__name__.rpartition(".")[2]
        for attribute, kind in (("TITLE", str), ("WHY", str), ("WEIGHT", int), ("__doc__", str)):
            if not isinstance(getattr(module, attribute, None), kind):
                raise HowlateError(INCOMPLETE(check=name, part=attribute))
        if not callable(getattr(module, "judge", None)):
            raise HowlateError(INCOMPLETE(check=name, part="judge(facts, aim)"))
        looks_at = " ".join((module.__doc__ or "").split())
        in_guests = getattr(module, "IN_GUESTS", False) is True
        in_lab = getattr(module, "IN_LAB", None)
        return Check(name, module.TITLE, module.WHY, module.WEIGHT, looks_at, module.judge, in_guests, in_lab)

    def finding(self, facts: Facts, aim: Aim, in_lab: bool = False) -> Finding:
        """This check's answer about one machine, or about a guest of the lab."""
        judgement = self.judge(facts, aim)
        change = say.remedy(judgement.statement)
        if in_lab and change and self.in_lab is not None:
            change = self.in_lab
        weight = judgement.weight or self.weight
        return Finding(self.name, judgement.level, self.title, judgement.statement, self.why, change, weight)


def late(statement: Statement, weight: int = 0) -> Judgement:
    """It plausibly makes this machine late, and can be changed."""
    return Judgement("late", statement, weight)


def note(statement: Statement) -> Judgement:
    """It is worth knowing when the numbers are read."""
    return Judgement("note", statement)


def ok(statement: Statement) -> Judgement:
    """It was examined and is in order."""
    return Judgement("ok", statement)


def unknown(facts: Facts, key: str, not_known: Rule = NOT_KNOWN) -> Judgement:
    """A fact is missing, with the reason."""
    return Judgement("unknown", not_known(fact=key, reason=facts.reason(key)))


def granting(facts: Facts) -> str:
    """The command that grants the probe that captured the facts the rights of the measuring task; "" if the
    probe's file belongs to a session on a remote machine (docs/ssh.md) and vanishes when that ends."""
    program = facts.text("caller.program") or "build/probe/howlate-probe"
    return "" if "/howlate." in program else f"/sbin/setcap cap_sys_nice,cap_ipc_lock=ep {program}"


def measuring_cpus(facts: Facts, aim: Aim) -> frozenset[int]:
    """The CPUs that must be on time: the aim's, else all that the caller may use or, as the probe chooses,
    the highest of them."""
    if aim.cpus:
        return frozenset(aim.cpus)
    online = facts.cpus("cpu.online") or frozenset({0})
    allowed = online & (facts.cpus("caller.cpus_allowed") or online) or online
    return allowed if aim.every else frozenset({max(allowed)})


def other_cpus(facts: Facts, aim: Aim) -> frozenset[int]:
    """Online CPUs that do not measure, to which disturbances can be moved."""
    return (facts.cpus("cpu.online") or frozenset()) - measuring_cpus(facts, aim)


def absent(facts: Facts, key: str) -> bool:
    """True if the machine does not have the thing, as opposed to: it could not be read."""
    return facts.text("cpu.online") is not None and key in facts.absent


def row_cpus(row: Mapping[str, Any], *names: str) -> frozenset[int]:
    """The CPUs of a table's row, from the first of these members that names any."""
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
