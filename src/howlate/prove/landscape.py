"""The largest lateness of one release in a window, found and bounded (docs/lab/prove.md). Pure.

In a guest whose course before a release does not depend on the release, lateness L(t) as a function of the release's
instant t falls by one nanosecond per nanosecond between its jumps: whoever keeps the CPU at t2 has kept it for longer
from an earlier t on. With the start S(t) = t + L(t), a release at t < t2 starts at S(t2) + eps at the latest, so

    L(t) <= L(t2) + (t2 - t) + eps        for t < t2

where eps is what the release's own interrupt and wake-up can change. A probe therefore bounds the instants before it,
up to the probe to its left, and none after it: one-sided Lipschitz optimisation with the constant 1 (Piyavskii 1972,
Shubert 1972). The last instant of the window is probed first.
"""

from __future__ import annotations

import dataclasses
import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from howlate.replay.release_path import ReleasePath

EXPLORED = 64
"""Parts into which the window is first divided, because a larger value found early makes all later steps wider."""
WHOLE_STEPS = 8
"""A stretch of so few steps is not divided early: part of a step is lost where two parts meet."""
RESERVED, RESERVED_STEP = 2, 32
"""A step leaves a half of eps, or a 32nd of itself if that is more, for an eps that grows: it would open again all
stretches that were just closed, and each would take another probe. It never leaves more than a half of itself."""
FINEST_NS = 20
"""A stretch of fewer instants is not divided further, except where its ends are unlike."""


@dataclass(frozen=True, order=True)
class Probed:
    """One probe: a single release at `at_ns`, counted from the window's origin, and how late it was."""

    at_ns: int
    latency_ns: int
    path: ReleasePath | None = dataclasses.field(default=None, compare=False, repr=False)
    """What was executed in between, if it was logged."""

    @property
    def start_ns(self) -> int:
        """S(t): when the task ran."""
        return self.at_ns + self.latency_ns


class ReleaseWindow(Struct, frozen=True):
    """The instants from `first_ns` to `end_ns - 1`."""

    first_ns: int
    end_ns: int

    @property
    def length_ns(self) -> int:
        return self.end_ns - self.first_ns

    def holds(self, at_ns: int) -> bool:
        return self.first_ns <= at_ns < self.end_ns

    def tiled(self, most_ns: int) -> tuple[ReleaseWindow, ...]:
        """Parts of at most `most_ns`, as equal as they can be."""
        parts = math.ceil(self.length_ns / most_ns)
        edges = [self.first_ns + self.length_ns * part // parts for part in range(parts + 1)]
        return tuple(ReleaseWindow(*pair) for pair in pairwise(edges))


class Unprobed(Struct, frozen=True):
    """Instants that were not probed, from `first_ns` to `end_ns - 1`, and what none of them exceeds."""

    first_ns: int
    end_ns: int
    bound_ns: float
    """Infinite where no probe follows."""
    is_unlike: bool = False
    """The probes at its two ends waited at the same time, and something interrupted one of them alone: what came in
    between is not known, so no bound holds."""

    @property
    def length_ns(self) -> int:
        return self.end_ns - self.first_ns

    @property
    def is_divisible(self) -> bool:
        """Whether one more probe can help."""
        return self.length_ns >= FINEST_NS or self.is_unlike or self.bound_ns == math.inf


def wait_together(one: Probed, later: Probed) -> bool:
    """Whether the first had not run when the later one was released."""
    return one.start_ns > later.at_ns


def unlike(one: Probed, later: Probed) -> bool:
    """Whether an interrupt, a timer, a softirq or another task came while both waited, in one of them alone."""
    if one.path is None or later.path is None or not wait_together(one, later):
        return False
    return one.path.after(later.at_ns - one.at_ns) != later.path.after(0)


def stretches(
    window: ReleaseWindow,
    probes: Sequence[Probed],
    eps_ns: int,
    is_unlike: Callable[[Probed, Probed], bool] = unlike,
) -> list[Unprobed]:
    """Between neighbouring probes, in order. `probes`: ascending, each instant once."""
    between, first_ns = [], window.first_ns
    before: Probed | None = None
    for probe in probes:
        end_ns = min(probe.at_ns, window.end_ns)
        if end_ns > first_ns:
            bound_ns = bound_at(first_ns, probe, eps_ns)
            between.append(
                Unprobed(first_ns, end_ns, bound_ns, before is not None and is_unlike(before, probe))
            )
        first_ns = max(first_ns, probe.at_ns + 1)
        before = probe
    if first_ns < window.end_ns:
        between.append(Unprobed(first_ns, window.end_ns, math.inf))
    return between


def divided(
    tiles: Sequence[ReleaseWindow], probes: Sequence[Probed]
) -> Iterator[tuple[ReleaseWindow, Sequence[Probed]]]:
    """Each part of a window with its probes; the last has those beyond it too. `probes`: ascending."""
    at = 0
    for tile in tiles:
        end = bisect_left(probes, tile.end_ns, key=lambda one: one.at_ns)
        last = len(probes) if tile is tiles[-1] else end
        yield tile, probes[at:last]
        at = last


def bound_at(at_ns: int, next_probe: Probed, eps_ns: int) -> int:
    """What a release at `at_ns` does not exceed, by a probe that is later than it."""
    return next_probe.start_ns - at_ns + eps_ns


def excess_ns(probes: Iterable[Probed]) -> int:
    """By how much a start came later than that of a later release, at most; 0 if starts are in order. An eps below
    this is refuted by the probes. `probes`: of one fork, ascending."""
    latest, largest = -math.inf, 0.0
    for probe in probes:
        largest = max(largest, latest - probe.start_ns)
        latest = max(latest, probe.start_ns)
    return int(largest)


class Goal(Struct, frozen=True):
    """When a search is over: the bound is within a share of the worst case, or within a time and eps of it, or a
    deadline is decided."""

    within: float = 0.0
    within_ns: int = 0
    deadline_ns: int = 0

    def bound_ns(self, found_ns: int, eps_ns: int) -> int:
        """The bound that is aimed at. Nothing tighter than eps is claimed: a bound within a share is at least two
        eps above the worst case."""
        if self.deadline_ns:
            return self.deadline_ns
        if self.within_ns:
            return found_ns + max(self.within_ns, eps_ns) + eps_ns
        return max(math.floor(found_ns * (1 + self.within)), found_ns + 2 * eps_ns)


class Search(Struct):
    """Where to probe next. Probes may be answered in any order."""

    window: ReleaseWindow
    goal: Goal
    eps_ns: int
    """What the search assumes; `excess_ns` of its probes may refute it, then it grows (`assume`)."""
    tiles: tuple[ReleaseWindow, ...] = ()
    """The parts of the window, each with a fork of its own: a probe bounds releases of its own part alone. One part
    where none are given."""
    probes: list[Probed] = field(default_factory=list)
    ticks_ns: int = 0
    """A part of eps that is measured apart from the probes (`Eps.ticks_ns`)."""
    ticks_met: int = 0
    """How many ticks it was measured at, and releases met on purpose."""
    beside: dict[int, Probed] = field(default_factory=dict)
    """Answers by instant that the search does not use, because what was executed is not known of them: they may be
    later than what it finds, and above what it bounds them by."""
    _asked: set[int] = field(default_factory=set)
    _unlike: dict[tuple[int, int], bool] = field(default_factory=dict)

    @property
    def least(self) -> int:
        """No search gets along with fewer probes: each covers what lies between the aim and the smallest latency."""
        smallest_ns = min(probe.latency_ns for probe in self.probes)
        return math.ceil(self.window.length_ns / max(self.aim_ns - smallest_ns, 1))

    def add(self, probe: Probed) -> None:
        """The answer of a probe; one instant counts once."""
        self._asked.discard(probe.at_ns)
        at = bisect_left(self.probes, (probe.at_ns,), key=lambda one: (one.at_ns,))
        if at == len(self.probes) or self.probes[at].at_ns != probe.at_ns:
            insort(self.probes, probe)

    def know(self, probe: Probed) -> None:
        """An answer that was kept."""
        if probe.path is not None:
            self.add(probe)
        else:
            self.beside[probe.at_ns] = probe

    def assume(self, eps_ns: int) -> None:
        self.eps_ns = max(self.eps_ns, eps_ns)

    def parts(self) -> Iterator[tuple[ReleaseWindow, Sequence[Probed]]]:
        return divided(self.tiles or (self.window,), self.probes)

    def stretches(self) -> list[Unprobed]:
        return [
            stretch
            for tile, probes in self.parts()
            for stretch in stretches(tile, probes, self.eps_ns, self._is_unlike)
        ]

    def _is_unlike(self, one: Probed, later: Probed) -> bool:
        pair = one.at_ns, later.at_ns
        if pair not in self._unlike:
            self._unlike[pair] = unlike(one, later)
        return self._unlike[pair]

    def excess_ns(self) -> int:
        """The disorder of the part whose starts are furthest out of order."""
        return max(excess_ns(probes) for _, probes in self.parts())

    def limit_ns(self, at_ns: int) -> float:
        """What a release at this instant does not exceed."""
        for tile, probes in self.parts():
            later = next((probe for probe in probes if probe.at_ns >= at_ns), None)
            if tile.holds(at_ns) and later is not None:
                return bound_at(at_ns, later, self.eps_ns)
        return math.inf

    @property
    def worst(self) -> Probed | None:
        """The worst release in the window, the first of several."""
        inside = (probe for probe in self.probes if self.window.holds(probe.at_ns))
        return max(inside, key=lambda probe: (probe.latency_ns, -probe.at_ns), default=None)

    @property
    def found_ns(self) -> int:
        return self.worst.latency_ns if self.worst is not None else 0

    @property
    def bound_ns(self) -> float:
        """What no release in the window exceeds."""
        return max([self.found_ns, *(stretch.bound_ns for stretch in self.stretches())])

    @property
    def aim_ns(self) -> int:
        return self.goal.bound_ns(self.found_ns, self.eps_ns)

    @property
    def refuted(self) -> bool:
        """Whether a release missed the deadline: nothing more is needed."""
        latest_ns = max([self.found_ns, *(probe.latency_ns for probe in self.beside.values())])
        return bool(self.goal.deadline_ns) and latest_ns > self.goal.deadline_ns

    def open_stretches(self) -> list[Unprobed]:
        """Those above the aim, the highest bound first, and those without a bound."""
        aim_ns = self.aim_ns
        above = [s for s in self.stretches() if s.bound_ns > aim_ns or s.is_unlike]
        return sorted(above, key=lambda stretch: (-stretch.bound_ns, stretch.first_ns))

    def propose(self, most: int = 1) -> list[int]:
        """Up to `most` instants for the next probes; none where the search is over or waits for answers."""
        if self.refuted:
            return []
        proposed: list[int] = []
        for stretch in self.open_stretches():
            if len(proposed) == most:
                break
            if any(stretch.first_ns <= asked < stretch.end_ns for asked in self._asked):
                continue
            if stretch.is_divisible:
                proposed.append(self._divide(stretch))
        self._asked.update(proposed)
        return proposed

    @property
    def is_over(self) -> bool:
        """Nothing is left to probe, and no answer is awaited."""
        divisible = any(stretch.is_divisible for stretch in self.open_stretches())
        return not self._asked and (self.refuted or not divisible)

    def _divide(self, stretch: Unprobed) -> int:
        if stretch.bound_ns == math.inf:
            return stretch.end_ns - 1
        middle_ns = stretch.first_ns + stretch.length_ns // 2
        if stretch.is_unlike:
            return middle_ns
        latency_ns = int(stretch.bound_ns) - self.eps_ns - stretch.length_ns  # of the probe at its end
        step_ns = self.aim_ns - self.eps_ns - latency_ns
        step_ns -= min(max(self.eps_ns // RESERVED, step_ns // RESERVED_STEP), step_ns // RESERVED)
        climbs = not self.goal.deadline_ns and latency_ns > self.found_ns / 2
        explores = stretch.length_ns > max(self.window.length_ns // EXPLORED, WHOLE_STEPS * step_ns)
        if step_ns < 1 or ((explores or climbs) and stretch.length_ns > 2 * step_ns):
            return (
                middle_ns
                if climbs or step_ns < 1
                else stretch.end_ns - _rounded(stretch.length_ns // 2, step_ns)
            )
        # The probe that just leaves nothing open between itself and the end.
        return max(stretch.first_ns, stretch.end_ns - step_ns)


def _rounded(length_ns: int, step_ns: int) -> int:
    """To whole steps, so that none is left over between two probes."""
    return length_ns // step_ns * step_ns
