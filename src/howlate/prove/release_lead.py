"""By how much a release can start later than one that is due after it and waits for the same (docs/lab/prove.md):
from the logs of what both executed. Pure.

    S(t) - S(t2) = own path of t - that of t2
                 + interruptions of t from t2 on - those of t2
                 + what held t for longer than t2
                 + what a tick between them moves

for t < t2, both waiting at t2. Each of them is bounded by the largest that the probes of a landscape show.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from msgspec import Struct

from howlate.prove.landscape import Probed, unlike, wait_together
from howlate.replay.release_path import ReleasePath


class Eps(Struct, frozen=True):
    """The parts, in ns."""

    own_ns: int = 0
    """Between the longest own path of a release and the shortest."""
    interruptions_ns: int = 0
    """Of the interruptions of any release, each as different as those of its name were: the release between two
    probes that waits with the later one may have had others."""
    held_ns: int = 0
    """What a release made the holder do more than a later one."""
    ticks_ns: int = 0
    """How much a tick between two releases moves what comes before them."""

    @property
    def total_ns(self) -> int:
        return self.own_ns + self.interruptions_ns + self.held_ns + self.ticks_ns


def eps_of(parts: Iterable[Sequence[Probed]], ticks_ns: int = 0) -> Eps:
    """Of the logged probes of a landscape: of each of its forks, ascending."""
    logged = [[(probe, probe.path) for probe in part if probe.path is not None] for part in parts]
    paths = [path for part in logged for _, path in part]
    if not paths:
        return Eps(ticks_ns=ticks_ns)
    own_ns = [path.own_ns for path in paths]
    differences = _differences(paths)
    pairs = [
        (one, later)
        for part in logged
        for one, later in pairwise(part)
        if wait_together(one[0], later[0]) and not unlike(one[0], later[0])
    ]
    return Eps(
        max(own_ns) - min(own_ns),
        max(sum(differences.get(name, 0) * count for name, count in path.after(0).items()) for path in paths),
        max((_held_longer_ns(*one, *later) for one, later in pairs), default=0),
        ticks_ns,
    )


def _differences(paths: Iterable[ReleasePath]) -> dict[str, int]:
    """How different interruptions of one name were; those during which the release came are not whole."""
    each: dict[str, list[int]] = {}
    for path in paths:
        for one in path.interruptions:
            if one.from_ns > 0:
                each.setdefault(one.name, []).append(one.ns)
    return {name: max(ns) - min(ns) for name, ns in each.items()}


def _held_longer_ns(one: Probed, path: ReleasePath, later: Probed, later_path: ReleasePath) -> int:
    """What the own paths and interruptions do not explain of the first one's later start; 0 if it is earlier."""
    own_ns = path.own_ns - later_path.own_ns
    interruptions_ns = path.interrupted_ns(later.at_ns - one.at_ns) - later_path.interrupted_ns(0)
    return max(0, one.start_ns - later.start_ns - own_ns - interruptions_ns)
