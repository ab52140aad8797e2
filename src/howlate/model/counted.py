"""What the kernel counted by itself while a cell was measured (docs/stream.md, "Counters"): interrupts, softirqs,
switches, faults, slowing by heat. That something happened, and how often; not what it delayed."""

from __future__ import annotations

from msgspec import Struct

from howlate.model.ranges import Int64, Real

INTERRUPT, SOFTIRQ, HEAT = "interrupt", "softirq", "heat"
"""Kinds counted by measuring CPU. Which one is in the label: "24" or "LOC"; "NET_RX"; "core" or "package"."""
ALL_INTERRUPTS, ALL_SWITCHES = "interrupts", "context_switches"
"""Kinds that are counted for the whole machine."""
SMI = "smi"
"""Of a CPU that did not measure: to read it interrupts the CPU."""
MINOR_FAULTS, MAJOR_FAULTS = "minor_faults", "major_faults"
VOLUNTARY, INVOLUNTARY = "voluntary_switches", "involuntary_switches"
"""Of a measuring thread, as the two before."""
OF_THREADS = frozenset({MINOR_FAULTS, MAJOR_FAULTS, VOLUNTARY, INVOLUNTARY})


class Counted(Struct, frozen=True):
    """One counter. Its figures are None where it was not read."""

    kind: str
    label: str
    name: str
    """As the kernel describes it: "Local timer interrupts"; may be empty."""
    cpu: Int64
    """-1: the whole machine, or a thread."""
    thread: Int64
    """-1: not a thread."""
    total: Int64 | None
    """Over the cell."""
    usual: Real | None
    """The median of the cell's whole seconds, without that of the largest sample."""
    most: Int64 | None
    """Of the seconds without the largest sample, in the one with the most."""
    at_max: Int64 | None
    """In the second in which the largest sample ended."""


class Counters(Struct, frozen=True):
    """What was counted in a cell."""

    second_s: Real | None = None
    """How long the second of the largest sample was: the last is shorter. None if nobody knows which it is."""
    each_second: tuple[str, ...] = ()
    """The kinds that were read each second."""
    counted: tuple[Counted, ...] = ()
    """All that rose or was looked at."""


NO_COUNTERS = Counters()
"""The counts of a cell of an older probe."""
