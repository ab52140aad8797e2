"""Whether the causes of late samples are named rightly: delays of known kind and size against what the explanations
of the same samples say. Pure (docs/calibrate.md)."""

from __future__ import annotations

import bisect
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import zip_longest
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from howlate.model.cause import ORDINARY, Cause, ExplainedCase
from howlate.model.trace import NOTHING_KEPT
from howlate.why.calibrate.injected import InjectedCell, MadeDelay, Window

EXPECTED: Mapping[str, frozenset[Cause]] = MappingProxyType(
    {
        "irqs-off": frozenset({Cause.IRQ_LATE}),
        "preempt-off": frozenset({Cause.NOT_PREEMPTIBLE}),
        "hard-irq": frozenset({Cause.IRQ}),
        "softirq": frozenset({Cause.SOFTIRQ}),
        "ipi-storm": frozenset({Cause.IPI}),
        "kernel-thread": frozenset({Cause.HIGHER_TASK}),
        "memory-pressure": frozenset({Cause.NOT_PREEMPTIBLE}),
        "fifo-task": frozenset({Cause.HIGHER_TASK}),
        "lock": frozenset({Cause.BLOCKED}),
        "page-faults": frozenset({Cause.PAGE_FAULT}),
        "stopped": frozenset({Cause.STOPPED}),
    }
)
"""By kind of delay, the causes that name it rightly."""
POSSIBLE: Mapping[str, frozenset[Cause]] = MappingProxyType({"irqs-off": frozenset({Cause.IRQ_LATE_OR_GAP})})
"""By kind of delay, the causes that are right as far as events can tell. They count where a hypervisor or firmware
may have had the CPU, and apart from those that are right."""

GAPS = frozenset({Cause.GAP, Cause.IRQ_LATE_OR_GAP})
"""Causes by which the hypervisor or firmware may have had the CPU."""
INTERRUPTING = frozenset({Cause.TIMER_IRQ, Cause.IRQ_END_OR_SWITCH, Cause.IRQ, Cause.IPI, Cause.NMI})
"""Causes of what may come first in a delay: interrupts in it."""
BY_ITSELF = frozenset({Cause.BLOCKED, Cause.STOPPED, Cause.PAGE_FAULT})
"""The task goes into these by itself, by a system call or by touching a page. While it is on its way it has the CPU,
and that belongs to the delay."""
SIZE_LIMIT_NS = 1_000
"""So much may a delay's size be wrong, and by the test's own spread, and on several CPUs by a round of turns."""
SWITCH_NS = {"fifo-task": 2_000}
"""Of a kind whose end is a process's last reading of the clock: so much more, as the task has the CPU a return to the
kernel and a switch later (2.4 us in a guest)."""
RIGHT_LIMIT = 0.99
"""The least share of delays whose cause is named rightly, as far as events can tell."""
UNCERTAINTY_LIMIT_NS = 5_000
"""A delay whose end is known worse is not measurable. Half of the call that ends `stopped` takes at most 3.7 us in a
guest with one CPU."""
ROUNDS_UNCERTAIN = 2
"""The same on several virtual CPUs, in rounds of their turns. There that half takes nearly a round, since each CPU
executes as much less, and another one where the call is interrupted: with four CPUs 16 us of 20 as a rule, and more
than 40 in 1 of 1,677 (docs/calibrate.md)."""
UNMEASURABLE_LIMIT = 0.01
"""The largest share of delays whose end may be known too badly to measure their size; of fewer than 100 it may be
one, which is not evidence of a larger share."""
INVENTED_LIMIT = 0.01
"""On a machine in real time, which may be disturbed: the largest share of the samples without a delay that may be
said to be late for a reason out of the ordinary. In virtual time nothing disturbs, and none may."""
UNEXPLAINED_LIMIT = 0.05
"""The same of the late ones that may be unexplained; one may always. In virtual time none may."""
HOLDS_LIMIT = 0.01
"""Below this share of delays that hold the task to their end, a kind does not delay here. As many exceptions as
`RIGHT_LIMIT` allows. Measured in guests of 6.1 and 6.1-rt with two CPUs, 1,000 delays a kind: of the kinds that
delay every delay held the task, of the two that PREEMPT_RT preempts not one of 1,521 (docs/calibrate.md)."""


class Undisturbed(Struct, frozen=True):
    """What the same samples look like without a delay."""

    samples: int
    """0: nothing can be compared with them."""
    median_ns: int
    threshold_ns: int
    """A sample above it is late."""
    spread_ns: int
    late: int = 0
    """The number of samples above twice the median; only the causes of these are examined."""
    unexplained: int = 0
    """Of these, those whose events were not kept, or whose largest part is unknown."""
    undecided: tuple[tuple[Cause, int], ...] = ()
    """Of these, those that may be a hypervisor's or firmware's doing, as far as events can tell, and how often."""
    invented: tuple[tuple[Cause, int], ...] = ()
    """The largest causes out of the ordinary of the others, and how often: nothing was done to cause them."""
    is_virtual: bool = True
    """Whether nothing but the guest's own instructions takes time; else a machine may be late for its own reasons."""

    @property
    def invented_count(self) -> int:
        return sum(count for _cause, count in self.invented)

    @property
    def invented_limit(self) -> float:
        """The largest share of all samples that may have an invented cause."""
        return 0 if self.is_virtual else INVENTED_LIMIT

    @property
    def keeps_limits(self) -> bool:
        unexplained_most = 0 if self.is_virtual else max(1, UNEXPLAINED_LIMIT * self.late)
        return (
            self.samples > 0
            and self.invented_count <= self.invented_limit * self.samples
            and self.unexplained <= unexplained_most
        )


class KindResult(Struct, frozen=True):
    """What became of the delays of one kind on one kernel."""

    kernel: str
    kind: str
    injected: int
    unwanted: int = 0
    """Could not be made as wanted; they are in none of the counts below."""
    away: int = 0
    """Were in no sample's window."""
    passed: int = 0
    """In a window, but the task had its time stamp before they ended."""
    short: int = 0
    """In a window, and yet the sample is not late."""
    unusual: int = 0
    """Hits that the explanation shows as something out of the ordinary."""
    lost: int = 0
    """Hits whose sample was not kept."""
    unseen: int = 0
    """Hits whose sample was kept, and shows nothing out of the ordinary there."""
    unmeasurable: int = 0
    """Hits with the right or an undecided cause whose end is known too badly to compare their size; they are not
    among the found ones."""
    right: int = 0
    """Of the found ones, those with the right cause."""
    undecided: int = 0
    """Of the found ones, those with a cause that events do not tell from the right one."""
    wrong: tuple[tuple[Cause, int], ...] = ()
    errors_ns: tuple[int, ...] = ()
    """By how much the found parts differ from the delays, of those with the right or an undecided cause that were
    going on at the release. (What carries a delay that begins later was woken in the same window, which does not
    belong to the delay.)"""
    size_limit_ns: int = SIZE_LIMIT_NS
    uncertainties_ns: tuple[int, ...] = ()
    """Of the same delays as `errors_ns`: by how much the delay's own end may be wrong."""
    uncertainty_limit_ns: int = UNCERTAINTY_LIMIT_NS
    """A delay whose end is known worse is not measurable."""
    passed_ns_max: int = 0
    """The largest latency of a sample in whose window a delay went on."""
    besides: tuple[tuple[Cause, int], ...] = ()
    """The largest causes of late samples that no delay met."""

    @property
    def hit(self) -> int:
        """Delays that made a sample late."""
        return self.unusual + self.lost + self.unseen + self.unmeasurable

    @property
    def delays_here(self) -> bool:
        """Whether the task has to wait for such a delay on this kernel."""
        met = self.hit + self.passed
        return met == 0 or self.hit >= HOLDS_LIMIT * met

    @property
    def error_ns_median(self) -> int | None:
        return round(statistics.median(self.errors_ns)) if self.errors_ns else None

    @property
    def error_ns_max(self) -> int | None:
        return max(self.errors_ns, default=None)

    @property
    def uncertainty_ns_max(self) -> int:
        return max(self.uncertainties_ns, default=0)

    @property
    def excessive_errors_ns(self) -> tuple[int, ...]:
        return tuple(error_ns for error_ns, own_ns in self._sizes() if error_ns > self.size_limit_ns + own_ns)

    @property
    def within_uncertainty(self) -> int:
        """Sizes that keep the limit only together with their own uncertainty."""
        return sum(0 < error_ns - self.size_limit_ns <= own_ns for error_ns, own_ns in self._sizes())

    def _sizes(self) -> Iterator[tuple[int, int]]:
        return zip(self.errors_ns, self.uncertainties_ns, strict=True)

    @property
    def rests_on_possible(self) -> bool:
        """Whether the causes keep the limit only with those that are right as far as events can tell."""
        least = RIGHT_LIMIT * self.unusual
        return self.right < least <= self.right + self.undecided

    @property
    def keeps_limits(self) -> bool:
        """Everything found, sizes within the limit, and the causes right."""
        if self.injected == self.unwanted:
            return False
        if not self.delays_here:
            return True
        return (
            self.unusual > 0
            and self.unusual + self.unmeasurable == self.hit
            and self.unmeasurable <= max(1, UNMEASURABLE_LIMIT * self.hit)
            and bool(self.errors_ns)
            and not self.excessive_errors_ns
            and self.right + self.undecided >= RIGHT_LIMIT * self.unusual
        )


def undisturbed(
    cell: InjectedCell,
    cases: Sequence[ExplainedCase],
    *,
    is_virtual: bool,
    excludes_gaps: bool = True,
) -> Undisturbed:
    """The samples of a cell without delays. In virtual time every sample counts for the threshold; a real machine
    has late ones of its own. `excludes_gaps`: neither hypervisor nor firmware can have had the CPU."""
    latencies = sorted(window.latency_ns for window in cell.windows)
    if not latencies:
        return Undisturbed(0, 0, 0, 0)
    last = len(latencies) - 1
    median_ns = latencies[last // 2]
    top_ns = latencies[last] if is_virtual else latencies[round(0.99 * last)]
    explained = {(case.case.thread, case.case.release): case for case in cases}
    late = [window for window in cell.windows if window.latency_ns > 2 * median_ns]
    told = Counter(_largest(explained.get((window.thread, window.release))) for window in late)
    open_causes = frozenset() if excludes_gaps else GAPS
    ranked = [(cause, count) for cause, count in told.most_common() if cause not in ORDINARY]
    return Undisturbed(
        len(latencies),
        median_ns,
        top_ns,
        top_ns - latencies[0],
        len(late),
        told[Cause.UNKNOWN],
        tuple((cause, count) for cause, count in ranked if cause in open_causes),
        tuple((cause, count) for cause, count in ranked if cause not in open_causes | {Cause.UNKNOWN}),
        is_virtual,
    )


def _largest(case: ExplainedCase | None) -> Cause:
    return Cause.UNKNOWN if case is None else case.largest.cause


class _Outcome(StrEnum):
    UNWANTED = "unwanted"
    AWAY = "away"
    PASSED = "passed"
    SHORT = "short"
    LOST = "lost"
    UNSEEN = "unseen"
    UNMEASURABLE = "unmeasurable"
    RIGHT = "right"
    UNDECIDED = "undecided"
    WRONG = "wrong"


class _Judgement(Struct, frozen=True):
    outcome: _Outcome
    cause: Cause | None = None
    """That was named."""
    error_ns: int | None = None
    """By how much the size is wrong; None if it was not compared."""
    uncertainty_ns: int = 0
    """By how much the delay's end may be wrong."""
    latency_ns: int = 0


def judged(
    cell: InjectedCell,
    cases: Sequence[ExplainedCase],
    calm: Undisturbed,
    above_ns: int = 0,
    round_ns: int = 0,
    *,
    excludes_gaps: bool = False,
) -> KindResult:
    """The delays of one cell. `above_ns`: what is later was kept. `round_ns`: on several virtual CPUs, a round of
    their turns. `excludes_gaps`: neither hypervisor nor firmware can have had the CPU."""
    late_ns = max(above_ns, calm.threshold_ns)
    met = _Met(cell)
    explained = {(case.case.thread, case.case.release): case for case in cases}
    limit_ns = ROUNDS_UNCERTAIN * round_ns or UNCERTAINTY_LIMIT_NS
    known = _Known.of(cell.kind, excludes_gaps=excludes_gaps, uncertainty_limit_ns=limit_ns)
    if not calm.is_virtual:  # an end that is known within the test's own spread can be compared
        most_ns = max(known.uncertainty_limit_ns, calm.spread_ns)
        known = replace(known, uncertainty_limit_ns=most_ns)
    every = [_judgement(known, delay, met, explained, late_ns) for delay in cell.delays]
    compared = [each for each in every if each.error_ns is not None]
    counts = Counter(each.outcome for each in every)
    wrong = Counter(each.cause for each in every if each.outcome is _Outcome.WRONG and each.cause is not None)
    passed = [each.latency_ns for each in every if each.outcome is _Outcome.PASSED]
    return KindResult(
        cell.kernel,
        cell.kind,
        len(cell.delays),
        unwanted=counts[_Outcome.UNWANTED],
        away=counts[_Outcome.AWAY],
        passed=counts[_Outcome.PASSED],
        short=counts[_Outcome.SHORT],
        unusual=counts[_Outcome.RIGHT] + counts[_Outcome.UNDECIDED] + counts[_Outcome.WRONG],
        lost=counts[_Outcome.LOST],
        unseen=counts[_Outcome.UNSEEN],
        unmeasurable=counts[_Outcome.UNMEASURABLE],
        right=counts[_Outcome.RIGHT],
        undecided=counts[_Outcome.UNDECIDED],
        wrong=tuple(wrong.most_common()),
        errors_ns=tuple(each.error_ns for each in compared if each.error_ns is not None),
        size_limit_ns=SIZE_LIMIT_NS + SWITCH_NS.get(cell.kind, 0) + calm.spread_ns + round_ns,
        uncertainties_ns=tuple(each.uncertainty_ns for each in compared),
        uncertainty_limit_ns=known.uncertainty_limit_ns,
        passed_ns_max=max(passed, default=0),
        besides=tuple(_besides(cases, met, late_ns).most_common()),
    )


class _Known(Struct, frozen=True):
    """What is known of a kind of delay: the causes that name it, and how well its ends have to be known."""

    right: frozenset[Cause]
    undecided: frozenset[Cause]
    uncertainty_limit_ns: int

    @classmethod
    def of(cls, kind: str, *, excludes_gaps: bool, uncertainty_limit_ns: int) -> _Known:
        undecided = frozenset() if excludes_gaps else POSSIBLE.get(kind, frozenset())
        return cls(EXPECTED.get(kind, frozenset()), undecided, uncertainty_limit_ns)


def _judgement(
    known: _Known,
    delay: MadeDelay,
    met: _Met,
    explained: Mapping[tuple[int, int], ExplainedCase],
    late_ns: int,
) -> _Judgement:
    if not delay.is_as_wanted:
        return _Judgement(_Outcome.UNWANTED)
    window = met.window_of(delay)
    if window is None:
        return _Judgement(_Outcome.AWAY)
    if delay.end_ns - delay.uncertainty_ns > window.stamp_ns:
        return _Judgement(_Outcome.PASSED, latency_ns=window.latency_ns)
    if window.latency_ns <= late_ns:
        return _Judgement(_Outcome.SHORT)
    return _compared(known, explained.get((window.thread, window.release)), window, delay)


class _Met:
    """Which delays and windows overlap."""

    def __init__(self, cell: InjectedCell) -> None:
        self._windows: dict[int, list[Window]] = {}
        for window in cell.windows:
            self._windows.setdefault(window.cpu, []).append(window)
        for windows in self._windows.values():
            windows.sort(key=lambda window: window.release_ns)
        self._releases = {
            cpu: [window.release_ns for window in windows] for cpu, windows in self._windows.items()
        }
        self._delays: dict[tuple[int, int], list[MadeDelay]] = {}
        for delay in cell.delays:
            for window in self._overlapping(delay):
                self._delays.setdefault((window.thread, window.release), []).append(delay)

    def _overlapping(self, delay: MadeDelay) -> Iterator[Window]:
        windows = self._windows.get(delay.cpu, [])
        at = bisect.bisect_left(self._releases.get(delay.cpu, []), delay.end_ns)
        while at > 0 and windows[at - 1].stamp_ns > delay.begin_ns:
            at -= 1
            yield windows[at]

    def window_of(self, delay: MadeDelay) -> Window | None:
        return max(self._overlapping(delay), key=lambda window: window.overlap_ns(delay), default=None)

    def delays_in(self, thread: int, release: int) -> Sequence[MadeDelay]:
        return self._delays.get((thread, release), ())


def _compared(known: _Known, case: ExplainedCase | None, window: Window, delay: MadeDelay) -> _Judgement:
    """What the explanation makes of a hit."""
    if case is None or case.case.state & NOTHING_KEPT:
        return _Judgement(_Outcome.LOST)
    overlap_ns = window.overlap_ns(delay)
    from_ns = max(delay.begin_ns, window.release_ns) - window.release_ns
    to_ns = from_ns + overlap_ns
    expected = known.right | known.undecided
    stretches = _with_ways_in(list(_stretches(case)), expected)
    named: Counter[Cause] = Counter()
    for each in stretches:
        if each.cause not in ORDINARY:
            named[each.cause] += max(0, min(each.to_ns, to_ns) - max(each.from_ns, from_ns))
    if 2 * named.total() < overlap_ns:
        return _Judgement(_Outcome.UNSEEN)
    cause = max(named, key=lambda each: named[each])
    if cause not in expected:
        return _Judgement(_Outcome.WRONG, cause)
    if delay.uncertainty_ns > known.uncertainty_limit_ns:
        return _Judgement(_Outcome.UNMEASURABLE, cause)
    outcome = _Outcome.RIGHT if cause in known.right else _Outcome.UNDECIDED
    if delay.begin_ns > window.release_ns:  # its size is not compared
        return _Judgement(outcome, cause)
    error_ns = abs(_shown_ns(stretches, expected, from_ns, to_ns) - overlap_ns)
    return _Judgement(outcome, cause, error_ns, delay.uncertainty_ns)


class _Stretch(Struct, frozen=True):
    """A part with the cost of recording that was taken out of it, which follows it."""

    cause: Cause
    from_ns: int
    to_ns: int


def _stretches(case: ExplainedCase) -> Iterator[_Stretch]:
    pending: _Stretch | None = None
    for part in case.parts:
        to_ns = part.from_ns + part.ns
        if part.cause is Cause.OWN_COST and pending is not None:
            pending = _Stretch(pending.cause, pending.from_ns, to_ns)
            continue
        if pending is not None:
            yield pending
        pending = _Stretch(part.cause, part.from_ns, to_ns)
    if pending is not None:
        yield pending


def _with_ways_in(stretches: Sequence[_Stretch], expected: frozenset[Cause]) -> list[_Stretch]:
    """The stretches, the task's own way into a delay being named as the delay."""
    return [
        replace(each, cause=following.cause)
        if each.cause is Cause.OWN_LATE and following is not None and following.cause in expected & BY_ITSELF
        else each
        for each, following in zip_longest(stretches, stretches[1:])
    ]


def _shown_ns(stretches: Sequence[_Stretch], expected: frozenset[Cause], from_ns: int, to_ns: int) -> int:
    """From the first part with an expected cause to the end of the last. What interrupted the delay meanwhile is
    part of it, the task's own timer among it."""
    met = [
        number
        for number, each in enumerate(stretches)
        if each.cause in expected and each.from_ns < to_ns and each.to_ns > from_ns
    ]
    first = met[0]
    begin_ns = stretches[first].from_ns
    while first > 0 and stretches[first - 1].cause in INTERRUPTING and begin_ns > from_ns:
        first -= 1
        begin_ns = max(stretches[first].from_ns, from_ns)
    return stretches[met[-1]].to_ns - begin_ns


def _besides(cases: Sequence[ExplainedCase], met: _Met, late_ns: int) -> Counter[Cause]:
    """The causes of late samples that no delay met."""
    return Counter(
        case.largest.cause
        for case in cases
        if case.case.latency_ns > late_ns
        and not met.delays_in(case.case.thread, case.case.release)
        and case.largest.cause not in ORDINARY
    )
