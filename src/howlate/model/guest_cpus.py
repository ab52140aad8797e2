"""The CPUs of a guest in virtual time: how many, how fast, and in which turns they execute."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from howlate.model.turns import Turns, turns_of
from howlate.model.units import format_duration, parse_duration_ns

GUEST = "guest"
"""The label of cells whose guest is not the usual one."""
MOST_MIPS = 1000
SHIFTS = {MOST_MIPS >> shift: shift for shift in range(4)}
"""Speeds in MIPS, 1000 to 125; an instruction takes 2**shift ns of virtual time."""
_TEXT = re.compile(
    r"(?P<cpus>\d+) CPUs? of (?P<cpu_mips>\d+) MIPS(?: on average)?(?: in turns of (?P<turn>\S+))?"
)
_UNEQUAL = 0.05
"""From which difference on, as a share of their mean, the CPUs' speeds are not called one speed."""


class GuestCpus(Struct, frozen=True):
    """What is the same for all cells of a guest. `str()` of it is the label, and `parse` reads that back."""

    cpus: int = 1
    mips: int = MOST_MIPS
    """Millions of instructions in a second of virtual time, of all CPUs together."""
    turn_ns: int = 0
    """The longest time that one CPU executes before another's turn; 0 with one CPU."""

    @property
    def mean_mips(self) -> int:
        """The mean speed of its CPUs: while a cell is measured, none is ever idle."""
        return round(self.mips / self.cpus)

    @property
    def cpu_mips(self) -> tuple[int, ...]:
        if self._turns is None:
            return (self.mean_mips,) * self.cpus
        return tuple(round(self.mips * share) for share in self._turns.shares)

    @property
    def interval_ns(self) -> int:
        """How often the CPUs' turns are dealt out anew; 0 with one CPU."""
        return self._turns.interval_ns if self._turns is not None else 0

    @property
    def round_ns(self) -> int:
        """The longest round of turns: what waits for the others' turns may take so much longer; 0 with one CPU."""
        return self.cpus * self.turn_ns

    @property
    def slower(self) -> float:
        """How many times longer than in the usual guest the same instructions take, on average."""
        return MOST_MIPS / self.mean_mips

    @property
    def _turns(self) -> Turns | None:
        return turns_of(self.cpus, self.turn_ns, SHIFTS[self.mips]) if self.turn_ns else None

    @classmethod
    def of_facts(cls, values: Mapping[str, Any]) -> GuestCpus:
        """From a guest's facts; an older howlate had the usual guest alone, and so has what is no number."""
        return cls(
            _whole(values.get("lab.cpus"), 1, 1),
            _whole(values.get("lab.mips"), 1, MOST_MIPS),
            _whole(values.get("lab.turn_ns"), 0, 0),
        )

    @classmethod
    def parse(cls, text: str) -> GuestCpus:
        """From the label; the usual guest from anything else."""
        match = _TEXT.fullmatch(text)
        if match is None:
            return USUAL
        cpus = int(match["cpus"])
        stated = int(match["cpu_mips"]) * cpus  # of a speed that was rounded
        mips = min(SHIFTS, key=lambda known: abs(known - stated))
        return cls(cpus, mips, parse_duration_ns(match["turn"]) if match["turn"] else 0)

    def facts(self) -> dict[str, int | str]:
        """The facts that a guest cannot know about itself."""
        return {
            "lab.cpus": self.cpus,
            "lab.mips": self.mips,
            "lab.cpu_mips": ",".join(map(str, self.cpu_mips)),
            **({"lab.turn_ns": self.turn_ns} if self.turn_ns else {}),
        }

    def labels(self) -> dict[str, str]:
        """The label of this guest's cells; none for the usual guest."""
        return {} if self == USUAL else {GUEST: str(self)}

    def __str__(self) -> str:
        turns = f" in turns of {format_duration(self.turn_ns)}" if self.turn_ns else ""
        unequal = self._turns is not None and self._turns.spread >= _UNEQUAL
        mips = f"{self.mean_mips} MIPS{' on average' if unequal else ''}"
        return f"{self.cpus} CPU{'' if self.cpus == 1 else 's'} of {mips}{turns}"


USUAL = GuestCpus()


def _whole(value: object, least: int, usual: int) -> int:
    return value if isinstance(value, int) and value >= least else usual
