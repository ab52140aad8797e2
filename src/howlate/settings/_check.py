"""What a check of the doctor has to hold, and short words to write one with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from howlate.errors import HowlateError
from howlate.model.cause import Cause
from howlate.model.facts import Facts, format_cpus, parse_cpus
from howlate.model.facts import bracketed as bracketed  # checks have it from here
from howlate.model.finding import Aim, Finding, Level
from howlate.words import say
from howlate.words.printable import shell_word
from howlate.words.statement import Rule, Statement, rule

UNKNOWN = "not known: {fact}: {reason}"
NOT_KNOWN = rule("doctor.not-known", UNKNOWN)
INCOMPLETE = rule(
    "doctor.incomplete", "the check {check} has no {part}", remedy="see docs/how-to/add-a-check.md"
)

AS_ROOT = rule("doctor.as-root", "run as root")
WITH_ALL = rule("doctor.as-root-with-all", "run as root with all capabilities")
OUT_OF_NAMESPACE = rule(
    "doctor.out-of-namespace",
    "run as root outside of this user namespace (a rootless container, `unshare -U`)",
)
OUT_OF_CONTAINER = rule(
    "doctor.out-of-container",
    "run as root outside of this container, or start the container with `--privileged`",
)
CONTAINER_OPTIONS = "--cap-add SYS_NICE --cap-add IPC_LOCK --ulimit rtprio=99 --ulimit memlock=-1"
"""They give a container the rights of the measuring task."""


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
    holds: Mapping[str, str] = field(default_factory=dict)
    """By rule the knob that changes what it found, with its value: the way that the remedy begins with."""
    causes: tuple[Cause, ...] = ()
    """The causes of late samples that it looks at."""

    @staticmethod
    def of(module: ModuleType, name: str = "", causes: tuple[Cause, ...] = ()) -> Check:
        """Read TITLE, WHY, WEIGHT, the docstring and `judge` of a check's file; a missing one is an error."""
        name = name or module.__name__.rpartition(".")[2]
        for attribute, kind in (("TITLE", str), ("WHY", str), ("WEIGHT", int), ("__doc__", str)):
            if not isinstance(getattr(module, attribute, None), kind):
                raise HowlateError(INCOMPLETE(check=name, part=attribute))
        if not callable(getattr(module, "judge", None)):
            raise HowlateError(INCOMPLETE(check=name, part="judge(facts, aim)"))
        looks_at = " ".join((module.__doc__ or "").split())
        in_guests = getattr(module, "IN_GUESTS", False) is True
        in_lab, holds = getattr(module, "IN_LAB", None), getattr(module, "HOLD", {})
        causes = causes or getattr(module, "CAUSES", ())
        about = (module.TITLE, module.WHY, module.WEIGHT, looks_at)
        return Check(name, *about, module.judge, in_guests, in_lab, holds, causes)

    def finding(self, facts: Facts, aim: Aim, *, in_lab: bool = False, here: bool = True) -> Finding:
        """This check's answer about one machine, or about a guest of the lab. `here`: it is the machine at
        hand, where the remedy's commands are typed."""
        judgement = self.judge(facts, aim)
        change = say.remedy(judgement.statement)
        if in_lab and change and self.in_lab is not None:
            change = self.in_lab
        elif knob := self.holds.get(judgement.statement.rule):
            change = _with_knob(knob, change, facts, aim, here=here and not in_lab)
        weight = judgement.weight or self.weight
        return Finding(self.name, judgement.level, self.title, judgement.statement, self.why, change, weight)


def _with_knob(knob: str, change: str, facts: Facts, aim: Aim, *, here: bool) -> str:
    """The remedy with the command that sets the knob, if it can be set here; else with the reason why not."""
    name, _, value = knob.partition("=")
    if not here:
        return f"measure with `--set knob={knob}`, or {change}"
    row = next((row for row in facts.table("knobs") or () if row.get("name") == name), {})
    cpus = f"--cpus {format_cpus(measuring_cpus(facts, aim))} " if value == "away" else ""
    command = f"`howlate probe hold {cpus}--knob {knob}`"
    if row.get("settable") is not False:
        return f"{command}, or {change}"
    if facts.flag("caller.root") is False and facts.flag("caller.grantable_sys_admin") is not False:
        return f"as root {command}, or {change}"
    return f"{change} (from here the knob {name} cannot be set: {row.get('why')})"


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
    way = {"as_root": as_root(facts)} if "as_root" in not_known.fields else {}
    return Judgement("unknown", not_known(fact=key, reason=facts.reason(key), **way))


def not_there(facts: Facts, key: str, gone: Rule) -> Judgement:
    """A fact is missing because the machine does not have the thing, which is in order, or for another reason."""
    return ok(gone()) if absent(facts, key) else unknown(facts, key)


def by_number(key: str, gone: Rule, judged: Callable[[int], Judgement]) -> Callable[[Facts, Aim], Judgement]:
    """The judge of a setting that is a whole number, whatever else the machine is like."""

    def judge(facts: Facts, _aim: Aim) -> Judgement:
        value = facts.integer(key)
        return not_there(facts, key, gone) if value is None else judged(value)

    return judge


def as_root(facts: Facts) -> Statement:
    """How the caller gets a right of root's; the probe says the same (sys/rights.cpp)."""
    if facts.flag("caller.user_namespace"):
        return OUT_OF_NAMESPACE()
    if facts.flag("caller.grantable_sys_admin") is False:
        return OUT_OF_CONTAINER()
    return WITH_ALL() if facts.flag("caller.root") else AS_ROOT()


def granting(facts: Facts) -> str:
    """The command that grants the probe that captured the facts the rights of the measuring task; "" if the
    probe's file belongs to a session on a remote machine (docs/ssh.md) and vanishes when that ends."""
    program = facts.text("caller.program") or "build/probe/howlate-probe"
    return (
        "" if "/howlate." in program else f"/sbin/setcap cap_sys_nice,cap_ipc_lock=ep {shell_word(program)}"
    )


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
