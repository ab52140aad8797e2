"""The answers of a fork's probes, kept in a file of the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from howlate.lab.archive.packages import Say, silent
from howlate.lab.cache import read_sealed_json, say_changed, storing, write_sealed_json
from howlate.replay.premises import ComparedPair, Witness, witness_from_json, witness_to_json
from howlate.replay.release_path import PATH_FORMAT, ReleasePath

KEPT_FORMAT = f"{PATH_FORMAT}.3"
"""Changes with the code that reads a path out of a log, compares guests, measures what a tick moves, or asks a
witness: what it said before is not taken for what it says now. A latency is the guest's own, and is kept."""
AGAIN = "its releases are asked again"


@dataclass
class KeptProbes:
    """The probes of one fork, in a file by the fork's key. A search that is asked again, or for more, costs only what
    is new."""

    path: Path
    planned_ns: int = 0
    latencies_ns: dict[int, int] = field(default_factory=dict)
    paths: dict[int, ReleasePath] = field(default_factory=dict)
    witnesses: dict[int, Witness] = field(default_factory=dict)
    """By the instant of their release: windows of several lengths begin with one fork, and a witness does not cover
    what comes after its release."""
    pair: ComparedPair | None = None
    shifts_ns: dict[int, int] = field(default_factory=dict)
    """By the instant of a tick: what it moves (replay/tick_shift.py)."""
    eps_ns: int = 0
    """The largest that a search had with these probes: it may have been shown by two that have others between them
    now."""

    @classmethod
    def read(cls, path: Path, *, fresh: bool, say: Say = silent) -> KeptProbes:
        """Nothing where the file is missing or, which is said, damaged."""
        kept = None if fresh else read_sealed_json(path, say, AGAIN)
        try:
            value = kept or {}
            probes = {int(at): int(latency) for at, latency in value.get("probes", {}).items()}
            kept = cls(path, int(value.get("planned_ns", 0)), probes)
            if value.get("format") == KEPT_FORMAT:
                kept.paths = {int(at): ReleasePath.from_json(one) for at, one in value["paths"].items()}
                kept.witnesses = {int(at): witness_from_json(one) for at, one in value["witnesses"].items()}
                kept.pair = _pair_of(*value["pair"]) if value["pair"] else None
                kept.shifts_ns = {int(at): int(shift) for at, shift in value["shifts"].items()}
                kept.eps_ns = int(value["eps_ns"])
            return kept
        except (ValueError, TypeError, AttributeError, KeyError):
            say_changed(path, say, AGAIN)
            return cls(path)

    def write(self) -> None:
        """The whole file or nothing."""
        with storing(self.path):
            value = {
                "planned_ns": self.planned_ns,
                "witnesses": {at: witness_to_json(witness) for at, witness in self.witnesses.items()},
                "pair": tuple(vars(self.pair).values()) if self.pair else None,
                "shifts": self.shifts_ns,
                "eps_ns": self.eps_ns,
                "probes": self.latencies_ns,
                "format": KEPT_FORMAT,
                "paths": {at: path.to_json() for at, path in self.paths.items()},
            }
            write_sealed_json(self.path, value)


def _pair_of(first_ns: int, later_ns: int, before_ns: int, words: Sequence[str]) -> ComparedPair:
    return ComparedPair(int(first_ns), int(later_ns), int(before_ns), tuple(map(str, words)))
