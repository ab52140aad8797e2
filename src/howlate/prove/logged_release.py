"""A single release in a fork, with the log of what the guest executed from shortly before it to its time stamp."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from howlate.errors import TargetError
from howlate.lab.bench import Bench
from howlate.lab.guests.fork import Fork
from howlate.lab.guests.single import SingleWords
from howlate.lab.replay import CLOCK_STEPS_NS, STAMP_NOT_FOUND, counts_of, execution_of, stamp_readings
from howlate.replay.execution import Execution
from howlate.replay.instructions import AMD64
from howlate.replay.log import LoggedSpan, LogPlan
from howlate.replay.symbols import Symbols

LEAST_LEAD_NS = 10_000
"""What is logged before the release, to know during which interrupt it came."""
_NEAR_NS = 2_000
"""How exactly a fork knows when its guest reads which time."""
_EVER = 1 << 62


class LoggedRelease(Struct, frozen=True):
    """What was executed; `release_ns` by the machine's clock, `stamp` the instruction that read the time stamp."""

    words: SingleWords
    execution: Execution
    release_ns: int
    stamp: int
    off_ns: int
    """How much later the machine's clock showed the time stamp than the fork's clock and the guest's latency do."""


def logged_release(
    bench: Bench,
    symbols: Symbols,
    fork: Fork,
    instant_ns: int,
    lead_ns: int = LEAST_LEAD_NS,
    off_ns: int = 0,
) -> LoggedRelease:
    """The release at an instant of the guest's CLOCK_MONOTONIC, logged from so long before it. `off_ns`: that of
    another release of the fork, if one is known."""
    plan = LogPlan(
        (LoggedSpan(fork.machine_ns(instant_ns) - lead_ns, _EVER),),
        switches=symbols.address("__switch_to"),
        counts=counts_of(symbols) if bench.kernel.arch == AMD64 else (0, 0),
    )
    words, log = fork.logged(instant_ns, plan)
    execution = execution_of(bench, symbols, log)
    places, times_ns = stamp_readings(execution)
    each_off_ns = times_ns - fork.machine_ns(instant_ns + words.latency_ns)
    if not len(places) or np.abs(each_off_ns).min() > _NEAR_NS:
        raise TargetError(STAMP_NOT_FOUND(cell=bench.label))
    nearest = int(np.abs(each_off_ns - off_ns).argmin())
    shown_ns = int(times_ns[nearest])
    shown_ns -= shown_ns % CLOCK_STEPS_NS[bench.kernel.arch]
    release_ns, off_ns = shown_ns - words.latency_ns, int(each_off_ns[nearest])
    return LoggedRelease(words, execution, release_ns, int(places[nearest]), off_ns)
