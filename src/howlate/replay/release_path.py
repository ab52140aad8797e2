"""What a guest executed between a release and its first time stamp, as far as two neighbouring releases can differ in
it (docs/lab/prove.md): how long the CPU was kept, what came between, and the release's own path. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from howlate.model.cause import Cause
from howlate.replay.call_stacks import Call
from howlate.replay.execution import INTERRUPT, Execution
from howlate.replay.lateness import SOFTIRQS, Slice, slices

PATH_FORMAT = 4
"""Counted up when a log is divided in another way: what was kept of a log before cannot be compared with it."""
_TIMERS, _WAKES = "__hrtimer_run_queues", "hrtimer_wakeup"
_REAL_TIME = "_rt"
"""What the kernel calls to wake a real-time task ends so: `enqueue_task_rt`."""
_OF_TIMERS = (
    "__remove_hrtimer",
    "timerqueue_",
    "rb_",
    "enqueue_hrtimer",
    "_raw_spin_",
    "ktime_",
    "__rcu_",
    "rcu_",
)
"""What the kernel calls for each timer that expires, besides the timer's own function."""
_THUNK = "__x86_"
_AFTER = (Cause.SWITCH, Cause.RETURN)


class Interruption(Struct, frozen=True):
    """An interrupt, an expired timer, a softirq or another task between a release and its time stamp."""

    name: str
    from_ns: int
    """Since the release."""
    to_ns: int
    ns: int
    """Its own part of that time."""


class ReleasePath(Struct, frozen=True):
    """Where the time of one release went; the three add up to the latency."""

    held_ns: int
    """What had the CPU went on with it."""
    own_ns: int
    """The release's own interrupt, the scheduler, the switch, and the way back to the program."""
    interruptions: tuple[Interruption, ...]
    holder: str
    """The function that kept the CPU for longest; of the release's own path where nothing kept it for longer."""

    def after(self, ns: int) -> Counter[str]:
        """The interruptions that are not over so long after the release, by name."""
        return Counter(one.name for one in self.interruptions if one.to_ns > ns)

    def interrupted_ns(self, from_ns: int) -> int:
        """The time of interruptions from so long after the release on."""
        return sum(min(one.ns, one.to_ns - from_ns) for one in self.interruptions if one.to_ns > from_ns)


def release_path(execution: Execution, release_ns: int, latency_ns: int, stamp: int) -> ReleasePath:
    """As `replay.lateness.explain`: of a release at an instant of the machine's clock, whose time stamp is the
    instruction `stamp`."""
    return path_of(slices(execution, release_ns, latency_ns, stamp))


def path_of(pieces: Sequence[Slice]) -> ReleasePath:
    """The path of slices that add up to the latency."""
    held: Counter[str] = Counter()
    own: Counter[str] = Counter()
    interruptions: list[Interruption] = []
    own_wake_up = _own_wake_up(pieces)
    for is_interrupted, group in groupby(pieces, _is_interrupted):
        together = list(group)
        if not is_interrupted:
            for piece in together:
                (own if piece.cause in _AFTER else held)[piece.call.name] += piece.ns
            continue
        is_own = any(piece.from_ns in own_wake_up for piece in together)
        names = [_interruption(piece, is_own=piece.from_ns in own_wake_up) for piece in together]
        if is_own:
            for piece, name in zip(together, names, strict=True):
                if not name:
                    own[piece.call.name] += piece.ns
        else:  # all of it belongs to what came
            entry = next((name for name in names if name), _entry(together[0].call))
            names = [name or entry for name in names]
        interruptions += _joined(zip(together, names, strict=True))
    keeper = held if held.total() > own.total() else own
    holder = keeper.most_common(1)[0][0] if keeper else ""
    return ReleasePath(held.total(), own.total(), tuple(interruptions), holder)


def _own_wake_up(pieces: Sequence[Slice]) -> range:
    """The interval after the release in which its timer woke the measuring task. A release has one timer: what wakes
    another task came between. The measuring task is a real-time one, and if there are others of its kind, or the
    kernel's functions do not tell, it is the first: its timer is due when the release is."""
    wake_ups = [list(group) for wakes, group in groupby(pieces, lambda piece: _wakes(piece.call)) if wakes]
    own = next((each for each in wake_ups if any(map(_is_real_time, each))), next(iter(wake_ups), []))
    return range(own[0].from_ns, own[-1].from_ns + 1) if own else range(0)


def _wakes(call: Call) -> bool:
    return any(each.name == _WAKES for each in call.chain())


def _is_real_time(piece: Slice) -> bool:
    return any(each.name.endswith(_REAL_TIME) for each in piece.call.chain())


def _joined(named: Iterable[tuple[Slice, str]]) -> Iterator[Interruption]:
    by_name: dict[str, list[Slice]] = {}
    for piece, name in named:
        if name:
            by_name.setdefault(name, []).append(piece)
    for name, pieces in by_name.items():
        last = pieces[-1]
        yield Interruption(name, pieces[0].from_ns, last.from_ns + last.ns, sum(piece.ns for piece in pieces))


def _is_interrupted(piece: Slice) -> bool:
    """Whether it is neither what was interrupted nor what the release itself does after its interrupt."""
    if piece.cause is Cause.HIGHER_TASK:
        return True
    names = [call.name for call in piece.call.chain()]
    if piece.cause in _AFTER:
        return False
    if not SOFTIRQS.isdisjoint(names):
        return True
    # What is cleaned up after a switch may stand on an interrupt that a task was preempted in.
    return piece.cause is not Cause.NOT_PREEMPTIBLE and any(
        call.kind == INTERRUPT for call in piece.call.chain()
    )


def _interruption(piece: Slice, *, is_own: bool) -> str:
    """What came between, by the function that the kernel calls for it; "" for the rest of an interrupt, and for what
    wakes the measuring task."""
    if piece.cause is Cause.HIGHER_TASK:
        return _outermost(piece.call)
    above = ""
    for call in piece.call.chain():  # from the innermost on
        if call.name.startswith(_THUNK):
            continue
        if call.name in SOFTIRQS:
            return above or call.name
        if call.name == _TIMERS and above and not is_own and not above.startswith(_OF_TIMERS):
            return above
        above = call.name
    return ""


def _entry(call: Call) -> str:
    return next((each.name for each in call.chain() if each.kind == INTERRUPT), call.name)


def _outermost(call: Call) -> str:
    name = call.name
    for each in call.chain():
        name = each.name
    return name
