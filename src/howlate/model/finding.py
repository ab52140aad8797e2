"""What a check of the doctor says, and the measuring task that it is said about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from howlate.errors import DamagedError

Level = Literal["late", "note", "ok", "unknown"]
LEVELS: Final[tuple[Level, ...]] = ("late", "note", "unknown", "ok")
"""Most important first: makes it late; worth knowing; could not be found out; in order."""


@dataclass(frozen=True)
class Aim:
    """What shall be on time: the measuring CPUs, its policy and its priority."""

    cpus: tuple[int, ...] = ()
    """Empty: where the probe measures unless told otherwise, the highest CPU that the caller may use."""
    policy: str = "fifo"
    priority: int = 80
    every: bool = False
    """Where no CPUs are named: all that the caller may use."""


@dataclass(frozen=True)
class Finding:
    """One check's answer: what it found, why it matters for lateness, how to change it ("" = nothing to do)."""

    check: str
    level: Level
    title: str
    found: str
    why: str
    change: str
    weight: int = 0
    """Within a level, greater comes first: roughly how much lateness is at stake."""
    machines: tuple[str, ...] = ()
    """Which of several machines (the lab's kernels) it is about; empty where there is one."""

    def to_json(self) -> dict[str, Any]:
        """As stored in run.json."""
        return {
            "check": self.check,
            "level": self.level,
            "title": self.title,
            "found": self.found,
            "why": self.why,
            "change": self.change,
            "weight": self.weight,
            **({"machines": list(self.machines)} if self.machines else {}),
        }

    @staticmethod
    def from_json(value: Any) -> Finding:
        """The inverse of to_json; anything else is a DamagedError."""
        if not isinstance(value, dict):
            raise DamagedError("a finding is not an object", "run `howlate doctor` again")
        texts = {name: value.get(name) for name in ("check", "title", "found", "why", "change")}
        level, weight = value.get("level"), value.get("weight", 0)
        for name, text in texts.items():
            if not isinstance(text, str):
                raise DamagedError(f"a finding's {name!r} is not a text", "run `howlate doctor` again")
        if level not in LEVELS or not isinstance(weight, int):
            raise DamagedError(f"a finding has the unknown level {level!r}", "run `howlate doctor` again")
        machines = value.get("machines", [])
        if not isinstance(machines, list):
            raise DamagedError("a finding's machines are not a list", "run `howlate doctor` again")
        about = tuple(str(machine) for machine in machines)
        return Finding(
            level=level, weight=weight, machines=about, **{name: str(text) for name, text in texts.items()}
        )
