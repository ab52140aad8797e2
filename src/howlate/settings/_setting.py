"""What the file of a setting declares besides the check that judges it, and short words to write it with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts, format_cpus
from howlate.settings._check import Check, incomplete, measuring_cpus, other_cpus
from howlate.words.statement import Statement, message

NO_OTHER_CPU = message("flip.no-other-cpu", "no CPU besides the measuring ones")
SYSCTL, TMPFILES = "/etc/sysctl.d/90-howlate.conf", "/etc/tmpfiles.d/90-howlate.conf"

Candidates = Callable[[Facts, Aim], "tuple[str, ...] | Statement"]
InForce = Callable[[Facts, Aim], "str | None"]


class MachineSetting(Struct, frozen=True):
    """A setting of a machine. The probe's knob of the same name reads and writes it (probe/src/knobs)."""

    tries: Candidates
    """The values worth trying, the one that usually helps first; a statement where there is none."""
    facts: tuple[str, ...] = ()
    """The facts that show it."""
    in_force: InForce | None = None
    """The value that the facts show, as the knob spells it; "" or None if they do not."""
    check: str = ""
    """The check of the doctor that judges it, if its name is another one."""
    for_good: Mapping[str, str] = field(default_factory=dict)
    """By value, "" for every other one, what to write where so that it stays: a template over `value`, `number`
    (1 and 0 for on and off), `cpus` (the value as a list of CPUs), `mask` (the same as the kernel's mask),
    `measuring`, `sysctl` and `tmpfiles`."""
    causes: tuple[Cause, ...] = ()
    """What makes a task late and is changed by it."""
    about: Mapping[Cause, str] = field(default_factory=dict)
    """By cause, a pattern of the names (a task's, an interrupt's, a softirq's) that it is about, if not of all."""
    only_named: str = ""
    """Why it is tried only if the user names it; "" if it is always tried."""
    refused: Callable[[Facts], Statement | None] = lambda _facts: None
    """Why it cannot be tried on this machine, whatever the value."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """By part ("facts", "in_force", "check", "hold", "for_good", "causes") why it has none."""
    name: str = ""
    own_check: Check | None = None
    """The check, if it stands in the same file."""

    @staticmethod
    def of(module: ModuleType) -> MachineSetting:
        """What a setting's file declares; a file without it is an error."""
        name, setting = module.__name__.rpartition(".")[2], getattr(module, "SETTING", None)
        if not isinstance(setting, MachineSetting):
            raise incomplete(name, "SETTING")
        check = setting.check or name
        own_check = (
            Check.of(module, check, setting.causes, setting.about) if hasattr(module, "TITLE") else None
        )
        return replace(setting, name=name, check=check, own_check=own_check)

    def permanent_form(self, value: str, facts: Facts, aim: Aim) -> str:
        """What to write where so that the value stays; "" if nothing keeps it."""
        number = {"on": "1", "off": "0"}.get(value, value)
        template = next((self.for_good[key] for key in (value, number, "") if key in self.for_good), "")
        cpus = other_cpus(facts, aim) if value == "away" else None
        return template.format(
            value=value,
            number=number,
            cpus=value if cpus is None else format_cpus(cpus),
            mask=value if cpus is None else _mask(cpus),
            measuring=format_cpus(measuring_cpus(facts, aim)),
            sysctl=SYSCTL,
            tmpfiles=TMPFILES,
        )


def _mask(cpus: frozenset[int]) -> str:
    """The kernel's hexadecimal mask of these CPUs, in groups of 32."""
    digits = f"{sum(1 << cpu for cpu in cpus):x}"
    groups = [digits[max(0, end - 8) : end] for end in range(len(digits), 0, -8)]
    return ",".join(reversed(groups))


def always(*values: str) -> Candidates:
    """The same values on every machine."""
    return lambda _facts, _aim: values


def away(facts: Facts, aim: Aim) -> tuple[str, ...] | Statement:
    """Off the measuring CPUs, if there are others."""
    return ("away",) if other_cpus(facts, aim) else NO_OTHER_CPU()


def as_switch(key: str) -> InForce:
    """A fact that is 0 or not."""
    return lambda facts, _aim: {None: "", 0: "off"}.get(facts.integer(key), "on")


def as_number(key: str) -> InForce:
    """A fact that is a whole number."""
    return lambda facts, _aim: "" if facts.integer(key) is None else str(facts.integer(key))


def as_text(key: str) -> InForce:
    """A fact that is spelt as the knob's value."""
    return lambda facts, _aim: facts.text(key)
