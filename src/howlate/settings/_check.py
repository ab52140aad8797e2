"""What a check of the doctor has to hold, and short words to write one with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.errors import HowlateError
from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts, Finding, Level, format_cpus, parse_cpus
from howlate.model.facts import bracketed as bracketed  # checks have it from here
from howlate.words import say
from howlate.words.printable import shell_word
from howlate.words.say import statement_of
from howlate.words.statement import Statement, message

UNKNOWN = message("doctor.not-known", "not known: {fact}: {reason}")
VALUE = message("doctor.value", "{value}")
ABSENT = message("doctor.absent", "not available")
NOT_NEEDED = message("doctor.not-needed", "not needed")
EVERY = message("doctor.every", "every {interval_s} s")
ELSEWHERE = message("doctor.elsewhere", "not on the measuring CPUs")
ABOVE = message("doctor.above", "{tasks} may run before the measuring task ({policy}:{priority})")
LACKING = message("doctor.lacking", "no {capability}, and {resource} is {limit}")

HIGHEST = 99
"""Of the priorities; no task is given one above it, or before a deadline."""
MEASURE_ON_SOME = "measure on some CPUs only: `--cpus`"
MOUNT_DEBUGFS = "mount debugfs: `mount -t debugfs none /sys/kernel/debug`"
FIND_CONFIG = "look for /proc/config.gz or /boot/config-$(uname -r)"
GRANT = "{as_root}; or, as root and after each build of the probe, `{grant}` (package libcap2-bin); or "
CONTAINER_OPTIONS = "--cap-add SYS_NICE --cap-add IPC_LOCK --ulimit rtprio=99 --ulimit memlock=-1"
"""They give a container the rights of the measuring task."""


class Judgement(Struct, frozen=True):
    """What a check's function returns."""

    level: Level
    statement: Statement
    change: str = ""
    """The remedy; "" if there is nothing to do."""
    weight: int = 0
    """Replaces the check's own weight; 0: does not."""
    hold: str | None = None
    """The knob, with its value, that the remedy begins with; None: the first of the check; "": none."""


class Check(Struct, frozen=True):
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
    holds: tuple[str, ...] = ()
    """The knobs, with their values, that change what it found."""
    causes: tuple[Cause, ...] = ()
    """The causes of late samples that it looks at."""
    about: Mapping[Cause, str] = field(default_factory=dict)
    """As a setting's (MachineSetting)."""

    @staticmethod
    def of(
        module: ModuleType,
        name: str = "",
        causes: tuple[Cause, ...] = (),
        about: Mapping[Cause, str] | None = None,
    ) -> Check:
        """Read TITLE, WHY, WEIGHT, the docstring and `judge` of a check's file; a missing one is an error."""
        name = name or module.__name__.rpartition(".")[2]
        for attribute, kind in (("TITLE", str), ("WHY", str), ("WEIGHT", int), ("__doc__", str)):
            if not isinstance(getattr(module, attribute, None), kind):
                raise incomplete(name, attribute)
        if not callable(getattr(module, "judge", None)):
            raise incomplete(name, "judge(facts, aim)")
        looks_at = " ".join((module.__doc__ or "").split())
        in_guests = getattr(module, "IN_GUESTS", False) is True
        in_lab, holds = getattr(module, "IN_LAB", None), getattr(module, "HOLD", ())
        causes = causes or getattr(module, "CAUSES", ())
        head = (module.TITLE, module.WHY, module.WEIGHT, looks_at)
        about = getattr(module, "ABOUT", {}) if about is None else about
        return Check(name, *head, module.judge, in_guests, in_lab, holds, causes, about)

    def finding(self, facts: Facts, aim: Aim, *, in_lab: bool = False, here: bool = True) -> Finding:
        """This check's answer about one machine, or about a guest of the lab. `here`: it is the machine at
        hand, where the remedy's commands are typed."""
        judgement = self.judge(facts, aim)
        change, hold = judgement.change, judgement.hold
        if hold is None and self.holds:
            hold = self.holds[0]
        if in_lab and change and self.in_lab is not None:
            change = self.in_lab
        elif change and hold:
            change = _with_knob(hold, change, facts, aim, here=here and not in_lab)
        weight, statement = judgement.weight or self.weight, judgement.statement
        if not statement.rule:
            statement = replace(statement, rule=f"doctor.{self.name}")
        return Finding(self.name, judgement.level, self.title, statement, self.why, change, weight)


def incomplete(check: str, part: str) -> HowlateError:
    return HowlateError(
        "the check {check} lacks {part}", remedy="see docs/how-to/add-a-check.md", check=check, part=part
    )


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


def _judged(
    level: Level,
    found: Statement | str,
    change: str = "",
    *,
    weight: int = 0,
    hold: str | None = None,
    **values: Any,
) -> Judgement:
    """`found`, `change`: templates over the values."""
    statement = statement_of(found, **values)
    return Judgement(level, statement, say.filled(change, {**statement.values, **values}), weight, hold)


late = partial(_judged, "late")
"""It plausibly makes this machine late, and can be changed."""
note = partial(_judged, "note")
"""It is worth knowing when the numbers are read."""
ok = partial(_judged, "ok")
"""It was examined and is in order."""


def unknown(facts: Facts, key: str, change: str = "") -> Judgement:
    """A fact is missing, with the reason."""
    found = UNKNOWN(fact=key, reason=facts.reason(key))
    return _judged("unknown", found, change, hold="", as_root=as_root(facts))


def not_there(facts: Facts, key: str) -> Judgement:
    """A fact is missing because the machine does not have the thing, which is in order, or for another reason."""
    return ok(ABSENT()) if absent(facts, key) else unknown(facts, key)


def by_number(key: str, judged: Callable[[int], Judgement]) -> Callable[[Facts, Aim], Judgement]:
    """The judge of a setting that is a whole number, whatever else the machine is like."""

    def judge(facts: Facts, _aim: Aim) -> Judgement:
        value = facts.integer(key)
        return not_there(facts, key) if value is None else judged(value)

    return judge


def as_root(facts: Facts) -> str:
    """How the caller gets a right of root's; the probe says the same (sys/rights.cpp)."""
    if facts.flag("caller.user_namespace"):
        return "run as root outside of this user namespace (a rootless container, `unshare -U`)"
    if facts.flag("caller.grantable_sys_admin") is False:
        return "run as root outside of this container, or start the container with `--privileged`"
    return "run as root with all capabilities" if facts.flag("caller.root") else "run as root"


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
    value = row.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def real_time(aim: Aim) -> bool:
    return aim.policy in ("fifo", "rr", "deadline")
