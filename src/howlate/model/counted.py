"""What the kernel counted by itself while a cell was measured (docs/stream.md, "Counters"): interrupts, softirqs,
switches, faults, slowing by heat. That something happened, and how often; not what it delayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

INTERRUPT, SOFTIRQ, HEAT = "interrupt", "softirq", "heat"
"""Of a measuring CPU. Which one is in the label: "24" or "LOC"; "NET_RX"; "core" or "package"."""
ALL_INTERRUPTS, ALL_SWITCHES = "interrupts", "context_switches"
"""Of the whole machine."""
MINOR_FAULTS, MAJOR_FAULTS = "minor_faults", "major_faults"
VOLUNTARY, INVOLUNTARY = "voluntary_switches", "involuntary_switches"
"""Of a measuring thread, as the two before."""
OF_THREADS = frozenset({MINOR_FAULTS, MAJOR_FAULTS, VOLUNTARY, INVOLUNTARY})


def read_each_second(trailer: Mapping[str, Any]) -> frozenset[str]:
    """The kinds that a cell's probe read each second; none for an older one."""
    counters = trailer.get("counters")
    kinds = counters.get("each_second") if isinstance(counters, dict) else None
    return (
        frozenset(kind for kind in kinds if isinstance(kind, str)) if isinstance(kinds, list) else frozenset()
    )


@dataclass(frozen=True)
class Counted:
    """One counter. Its figures are None where it was not read."""

    kind: str
    label: str
    name: str
    """As the kernel describes it: "Local timer interrupts"; may be empty."""
    cpu: int
    """-1: the whole machine, or a thread."""
    thread: int
    """-1: not a thread."""
    total: int | None
    """Over the cell."""
    usual: float | None
    """The median of the cell's seconds."""
    most: int | None
    """In the second with the most, without that of the largest sample."""
    at_max: int | None
    """In the second of the largest sample."""
