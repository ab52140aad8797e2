"""How much a tick between two releases moves what comes before them (docs/lab/prove.md): a guest that has one there
sorts its timers in another order than one without it, and is that much earlier or later from then on. Pure."""

from __future__ import annotations

import numpy as np

from howlate.replay.execution import Execution

COMPARED_NS, BEFORE_NS = 8_000, 500
"""What is compared: so much before the earlier release, but for the last of it, where its interrupt may begin."""


def shift_ns(one: Execution, release_ns: int, later: Execution) -> int:
    """How far apart, by the machine's clock, both guests executed the same instructions before the earlier release;
    COMPARED_NS where the later one did not execute them. In a loop of few instructions whole rounds are not seen."""
    times_ns, later_ns = one.times_ns[:-1], later.times_ns[:-1]
    first, end = np.searchsorted(times_ns, [release_ns - COMPARED_NS, release_ns - BEFORE_NS])
    wanted = one.addresses[first:end]
    if not len(wanted):
        return 0
    begins = np.nonzero(later.addresses == wanted[0])[0]
    apart_ns = np.abs(later_ns[begins] - times_ns[first])
    for place in np.argsort(apart_ns, kind="stable"):
        if apart_ns[place] > COMPARED_NS:
            break
        begin = int(begins[place])
        if np.array_equal(later.addresses[begin : begin + len(wanted)], wanted):
            return int(apart_ns[place])
    return COMPARED_NS
