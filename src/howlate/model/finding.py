"""What a check of the doctor says, and the measuring task that it judges."""

from __future__ import annotations

from typing import Any, Final, Literal

from msgspec import Struct

from howlate.errors import DamagedError
from howlate.words import say
from howlate.words.statement import Statement, message

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
            "check": self.check,
            "level": self.level,
            "title": self.title,
            "found": value.pop("text"),
            "why": self.why,
            "change": self.change,
            "weight": self.weight,
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
