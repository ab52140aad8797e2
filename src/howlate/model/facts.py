"""Facts about a machine, captured by `howlate-probe facts --json`: values by dotted key, or the reason for a
missing one. And what a check of the doctor says of them (`Finding`), for a measuring task (`Aim`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Literal

from msgspec import Struct, field

from howlate.errors import DamagedError
from howlate.model.decode import members
from howlate.model.kernel_config import unpack_config
from howlate.words import say
from howlate.words.statement import Statement, message

CONFIG, PACKED_CONFIG = "kernel.config", "kernel.config_gz"


class Facts(Struct, frozen=True):
    """Captured facts. The getters return None for a missing value or one of another kind than requested: a
    check then says "unknown", so that one odd file does not affect the other checks."""

    values: Mapping[str, Any]
    missing: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    absent: frozenset[str] = frozenset()
    """The missing facts that the machine does not have, as opposed to those that could not be read."""

    @staticmethod
    def from_json(value: Any) -> Facts:
        """Decode the probe's object; DamagedError if it is something else."""
        if not isinstance(value, dict) or value.get("facts") != 1:
            raise _no_facts()
        value = unpacked(value)
        values, missing = value.get("values"), value.get("missing", {})
        if not isinstance(values, dict) or not isinstance(missing, dict):
            raise _no_facts()
        if not all(isinstance(reason, str) for reason in missing.values()):
            raise _no_facts()
        absent = value.get("absent")
        if absent is None:  # captured before the probe distinguished the two
            absent = [key for key, reason in missing.items() if any(word in reason for word in _ABSENT_WORDS)]
        if not isinstance(absent, list) or not all(isinstance(key, str) for key in absent):
            raise _no_facts()
        return Facts(MappingProxyType(dict(values)), MappingProxyType(dict(missing)), frozenset(absent))

    def to_json(self) -> dict[str, Any]:
        """The exact inverse of from_json."""
        return {
            "facts": 1,
            "values": dict(self.values),
            "missing": dict(self.missing),
            "absent": sorted(self.absent),
        }

    def reason(self, key: str) -> str:
        """Why there is no usable value under this key."""
        return self.missing.get(
            key, "was not captured" if key not in self.values else "is not of the expected kind"
        )

    def text(self, key: str) -> str | None:
        """A text, stripped."""
        value = self.values.get(key)
        return value.strip() if isinstance(value, str) else None

    def integer(self, key: str) -> int | None:
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def flag(self, key: str) -> bool | None:
        value = self.values.get(key)
        return value if isinstance(value, bool) else None

    def table(self, key: str) -> tuple[Mapping[str, Any], ...] | None:
        value = self.values.get(key)
        if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
            return None
        return tuple(value)

    def mapping(self, key: str) -> Mapping[str, Any] | None:
        value = self.values.get(key)
        return value if isinstance(value, dict) else None

    def cpus(self, key: str) -> frozenset[int] | None:
        """A list of CPUs in the kernel's spelling ("0-3,5"; "" and "(null)" are the empty set)."""
        text = self.text(key)
        return None if text is None else parse_cpus(text)

    def config(self, option: str) -> str | None:
        """A kernel option's value, named without CONFIG_: "y", "m", a number; "n" if not set; None if unknown."""
        options = self.mapping("kernel.config")
        if options is None:
            return None
        value = options.get(option)
        return value if isinstance(value, str) else "n"

    def parameter(self, name: str) -> str | None:
        """A kernel parameter's last value; "" for a bare word; None if absent or unknown."""
        found: str | None = None
        for word in (self.text("kernel.cmdline") or "").split():
            key, _, value = word.partition("=")
            if key.replace("-", "_") == name.replace("-", "_"):
                found = value
        return found


def _no_facts() -> DamagedError:
    return DamagedError(
        "these are not the facts of a machine",
        remedy="capture the facts again with `howlate probe facts --json`",
    )


def facts_of(value: Any) -> Facts:
    """The run's facts; none where they were not captured."""
    return Facts.from_json(value) if isinstance(value, dict) and value.get("facts") == 1 else Facts({}, {})


def is_guest(facts: Facts) -> bool:
    """Whether a hypervisor is below, as far as the facts say."""
    flags = facts.text("cpu.flags") or ""
    hypervisor = facts.text("machine.hypervisor") or ""
    return (
        "hypervisor" in flags.split()
        or hypervisor not in ("", "none")
        or facts.flag("cpu.hypervisor") is True
    )


def guest_if_known(facts: Facts) -> bool | None:
    """The same; None where the facts do not tell."""
    if is_guest(facts):
        return True
    told = (facts.text("machine.hypervisor"), facts.text("cpu.flags"), facts.flag("cpu.hypervisor"))
    return None if all(each is None for each in told) else False


_ABSENT_WORDS = ("there is no ", "neither ", "no CPU has ", "No such file or directory")


def unpacked(captured: Mapping[str, Any]) -> dict[str, Any]:
    """The probe's object with the kernel's configuration unpacked if the probe found it compressed: only the
    options that the probe names are kept."""
    values, missing = captured.get("values"), captured.get("missing", {})
    if not isinstance(values, dict) or not isinstance(missing, dict) or PACKED_CONFIG not in values:
        return dict(captured)
    values, missing = dict(values), dict(missing)
    try:
        values[CONFIG] = unpack_config(values.pop(PACKED_CONFIG))
        missing.pop(CONFIG, None)
    except ValueError as error:
        missing[CONFIG] = f"/proc/config.gz: {error}"
    return {**captured, "values": values, "missing": missing}


def bracketed(text: str | None) -> str | None:
    """The chosen word of "always [madvise] never"."""
    chosen = re.search(r"\[([\w+]+)\]", text or "")
    return chosen[1] if chosen else text


def parse_cpus(text: str) -> frozenset[int] | None:
    """Parse "0-3,5", with the kernel's strides ("0-7:1/2"); None if it is something else."""
    cpus: set[int] = set()
    text = text.strip()
    if text in ("", "(null)"):
        return frozenset()
    for part in text.split(","):
        span, _, stride = part.partition(":")
        first, dash, last = span.partition("-")
        used, _, group = stride.partition("/")
        try:
            low, high = int(first), int(last if dash else first)
            take, step = (int(used), int(group)) if stride else (1, 1)
        except ValueError:
            return None
        if low < 0 or high < low or high > 1 << 16 or step < 1:
            return None
        cpus.update(cpu for cpu in range(low, high + 1) if (cpu - low) % step < take)
    return frozenset(cpus)


def format_cpus(cpus: frozenset[int] | set[int]) -> str:
    """The kernel's spelling of a set of CPUs: "0-3,5"."""
    spans: list[tuple[int, int]] = []
    for cpu in sorted(cpus):
        if spans and spans[-1][1] == cpu - 1:
            spans[-1] = (spans[-1][0], cpu)
        else:
            spans.append((cpu, cpu))
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)


DAMAGED = message("finding.damaged", "a finding is damaged: {damage}", remedy="run `howlate doctor` again")

Level = Literal["late", "note", "ok", "unknown"]
LEVELS: Final[tuple[Level, ...]] = ("late", "note", "unknown", "ok")
"""Most important first: makes the machine late; worth knowing; could not be found out; in order."""


class Aim(Struct, frozen=True):
    """What must be on time: the measuring CPUs, the policy and the priority."""

    cpus: tuple[int, ...] = ()
    """Empty: the default of the probe, the highest CPU that the caller may use."""
    policy: str = "fifo"
    priority: int = 80
    every: bool = False
    """If no CPUs are named: all that the caller may use."""


class Finding(Struct, frozen=True):
    """One check's answer: what it found, why it matters for lateness, how to change it ("" = nothing to do)."""

    check: str
    level: Level
    title: str
    statement: Statement
    why: str
    change: str
    weight: int = 0
    """Within a level, greater comes first: roughly how much lateness is at stake."""
    machines: tuple[str, ...] = ()
    """The machines (the lab's kernels) that the finding is about; empty if there is only one."""

    @property
    def text(self) -> str:
        return say.english(self.statement)

    def to_json(self) -> dict[str, Any]:
        """The form stored in run.json."""
        value = say.to_json(self.statement)
        return {
            **members(self, "check", "level", "title"),
            "found": value.pop("text"),
            **members(self, "why", "change", "weight"),
            **value,
            **({"machines": list(self.machines)} if self.machines else {}),
        }

    @staticmethod
    def from_json(value: Any) -> Finding:
        """The inverse of to_json; anything else is a DamagedError."""
        if not isinstance(value, dict):
            raise DamagedError(DAMAGED(damage="it is not an object"))
        names = ("check", "title", "found", "why", "change")
        check, title, found, why, change = (str(value.get(name)) for name in names)
        for name in names:
            if not isinstance(value.get(name), str):
                raise DamagedError(DAMAGED(damage=f'its "{name}" is not a text'))
        level, weight, machines = value.get("level"), value.get("weight", 0), value.get("machines", [])
        if level not in LEVELS or not isinstance(weight, int):
            raise DamagedError(DAMAGED(damage=f"its level {level!r} is unknown"))
        if not isinstance(machines, list):
            raise DamagedError(DAMAGED(damage="its machines are not a list"))
        statement = say.from_json({**value, "text": found})
        return Finding(check, level, title, statement, why, change, weight, tuple(map(str, machines)))
