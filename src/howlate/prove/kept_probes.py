"""The answers of a fork's probes, kept in a file of the cache."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct, field

from howlate.lab.archive.packages import Say, silent
from howlate.lab.cache import read_sealed_json, say_changed, storing, write_sealed_json
from howlate.replay.premises import ComparedPair, Witness
from howlate.replay.release_path import PATH_FORMAT, ReleasePath

KEPT_FORMAT = f"{PATH_FORMAT}.4"
"""Changes with the code that reads a path out of a log, compares guests, measures what a tick moves, or asks a
witness: what it said before is not taken for what it says now. A latency is the guest's own, and is kept."""
AGAIN = "its releases are asked again"


class KeptProbes(Struct):
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
        import msgspec

        value = None if fresh else read_sealed_json(path, say, AGAIN)
        try:
            value = value or {}
            if value.get("format") != KEPT_FORMAT:
                latencies_ns = value.get("latencies_ns", value.get("probes", {}))  # an older howlate's name
                value = {"planned_ns": value.get("planned_ns", 0), "latencies_ns": latencies_ns}
            return msgspec.convert(
                {**value, "path": str(path)}, cls, str_keys=True, dec_hook=lambda kind, text: kind(text)
            )
        except (AttributeError, msgspec.ValidationError):
            say_changed(path, say, AGAIN)
            return cls(path)

    def write(self) -> None:
        """The whole file or nothing."""
        import msgspec

        with storing(self.path):
            value = msgspec.to_builtins(self, str_keys=True, enc_hook=str)
            write_sealed_json(self.path, {**value, "format": KEPT_FORMAT})
