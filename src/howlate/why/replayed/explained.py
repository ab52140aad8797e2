"""A sample of a run with its explanation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from howlate.replay.lateness import Lateness


@dataclass(frozen=True)
class Explained:
    """One sample, and why it was late."""

    cell: str
    labels: Mapping[str, str]
    thread: int
    release: int
    activations: int
    """So many samples the cell has."""
    lateness: Lateness
    name: str
    """How people call its cell."""
