"""The parts of a late sample in words and as a table, whether the kernel's events or a replay show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from howlate.document import sheet as sheets
from howlate.document.sheet import Column, Sheet, Unit
from howlate.model.cause import Cause, CausePart, Why
from howlate.model.trace import RT_PRIOS, STATIC_PRIOS, UNKNOWN_PRIO, TracedTask
from howlate.why.cause_words import IDLE_LOOP, NAMES
from howlate.words.language import _
from howlate.words.printable import quoted
from howlate.words.quantities import time_text
from howlate.words.say import Text, text_of
from howlate.words.statement import Caption, Listed

MOST_LINES = 12


class TimelineLine(Struct, frozen=True):
    """One part, or several of one cause."""

    part: CausePart
    """From where the first began; with the sum of all."""
    count: int
    """The number of parts."""


def timeline(parts: Sequence[CausePart]) -> tuple[TimelineLine, ...]:
    """The parts as a few lines, in the order of their beginnings: repeated short parts of one cause become one line
    with their count and their sum, the shortest first, until there are MOST_LINES at most. The lines add up as the
    parts do."""
    groups = [_Group(part.cause, {part.cause: [part]}, part.ns) for part in parts]
    short_ns, whole_ns = 1, sum(part.ns for part in parts)
    while sum(len(group.parts) for group in groups) > MOST_LINES and short_ns < 2 * whole_ns:
        groups = _joined(groups, short_ns)
        short_ns *= 2
    lines = [TimelineLine(summed(each), len(each)) for group in groups for each in group.parts.values()]
    return tuple(sorted(lines, key=lambda line: line.part.from_ns))


class _Group(Struct):
    """Parts of one cause, and what came between them."""

    cause: Cause
    parts: dict[Cause, list[CausePart]]
    ns: int
    """The time of all."""

    def take(self, other: _Group) -> None:
        self.ns += other.ns
        for cause, parts in other.parts.items():
            self.parts.setdefault(cause, []).extend(parts)


def _joined(groups: Iterable[_Group], short_ns: int) -> list[_Group]:
    """Groups of one cause that are at most so far apart are one, with what is between them."""
    found: list[_Group] = []
    for group in groups:
        place = _nearest(found, group.cause, short_ns)
        if place is None:
            found.append(group)
            continue
        for later in (*found[place + 1 :], group):
            found[place].take(later)
        del found[place + 1 :]
    return found


def _nearest(groups: Sequence[_Group], cause: Cause, short_ns: int) -> int | None:
    """The last group of a cause, unless more time than that has passed since."""
    passed_ns = 0
    for place in range(len(groups) - 1, -1, -1):
        if groups[place].cause is cause:
            return place
        passed_ns += groups[place].ns
        if passed_ns > short_ns:
            break
    return None


def summed(parts: Sequence[CausePart]) -> CausePart:
    """Several parts of one cause as one, with the name, task and function of those that took most."""
    if len(parts) == 1:
        return parts[0]
    by_key: Counter[tuple[tuple[Cause, str], str]] = Counter()
    reasons: Counter[Why] = Counter()
    for part in parts:
        by_key[part.key, part.function] += part.ns
        reasons.update(dict(part.reasons))
    key = by_key.most_common(1)[0][0]
    typical = max((part for part in parts if (part.key, part.function) == key), key=lambda part: part.ns)
    return replace(
        typical,
        from_ns=min(part.from_ns for part in parts),
        ns=sum(part.ns for part in parts),
        why=reasons.most_common(1)[0][0] if reasons else typical.why,
        reasons=tuple(reasons.most_common()),
    )


UNIT = Unit("us", 1000, 3)
"""To the nanosecond."""
MOST_CALLERS = 3
"""JSON has all that were recorded."""
LARGEST = 3
"""The longest lines come first; the others follow in the order of time."""

_WHY: Mapping[Why, Caption] = {
    Why.INTERRUPTS_OFF: Caption("interrupts off"),
    Why.PREEMPTION_OFF: Caption("preemption off"),
    Why.NO_KERNEL_PREEMPTION: Caption("kernel code that is not preempted"),
    Why.IN_LOCK: Caption("holding a lock"),
    Why.UNCOUNTED: Caption("preemption count unread"),
    Why.IN_PROGRAM: Caption("a program"),
    Why.IN_SOFTIRQ: Caption("interrupts off in a softirq"),
    Why.BEFORE_INTERRUPT: Caption("before its handler"),
    Why.OTHER_TIMER: Caption("another timer"),
    Why.IN_SWITCH: Caption("during a switch"),
    Why.SOFT_TIMER: Caption("the timer's softirq had to wait"),
    Why.LOST: Caption("the kernel lost events"),
    Why.OVERWRITTEN: Caption("no events were kept"),
    Why.NOT_WOKEN: Caption("the wake-up was not recorded"),
    Why.IN_TIMER_IRQ: Caption("far longer than the timer IRQ takes, or hypervisor or hardware"),
    Why.NO_EVENT: Caption("far longer than a wake-up takes, and no event tells why"),
}
_BY_TASK = (Cause.BLOCKED, Cause.STOPPED, Cause.PAGE_FAULT)
"""The task, or the name, is of what ended it."""
_BY_CALLERS = (Cause.IRQ_LATE, Cause.IRQ_LATE_OR_GAP, Cause.NOT_PREEMPTIBLE, Cause.HIGHER_TASK, Cause.SOFTIRQ)
"""Who called the function is shown of these: the rest is the way of every wake-up."""


def task_text(task: TracedTask) -> str:
    """A task with its pid, policy and priority, as far as they are known."""
    name = quoted(task.name)
    if not task.pid:
        return f"{name} (idle)"
    if task.prio < 0:
        return f"{name} ({task.pid}, deadline)"
    if task.prio < RT_PRIOS:
        return f"{name} ({task.pid}, real-time {RT_PRIOS - 1 - task.prio})"
    if task.prio == UNKNOWN_PRIO:
        return f"{name} ({task.pid})"
    return f"{name} ({task.pid}, nice {task.prio - STATIC_PRIOS})"


def part_text(part: CausePart) -> Text:
    details = tuple(_details(part))
    if not details:
        return NAMES[part.cause]
    return Caption("{cause}: {details}", cause=NAMES[part.cause], details=Listed(details))


def _details(part: CausePart) -> Iterator[Text]:
    names = [quoted(part.name), "" if part.task is None else task_text(part.task)]
    for each in filter(None, names):
        yield Caption("until {who} woke it", who=each) if part.cause in _BY_TASK else each
    if part.cause is Cause.IDLE:
        yield from _idle(part)
    if part.reasons:
        yield from (Caption("{why} ({time})", why=_WHY[why], time=time_text(ns)) for why, ns in part.reasons)
    elif part.why is not None:
        yield _WHY[part.why]
    if part.function:
        callers = part.callers if part.cause in _BY_CALLERS else ()
        more = ("...",) if len(callers) > MOST_CALLERS else ()
        chain = " < ".join((part.function, *callers[:MOST_CALLERS], *more))
        yield Caption("in {function}", function=chain)


def _idle(part: CausePart) -> Iterator[Text]:
    if part.state is None:
        yield IDLE_LOOP
    elif part.state >= 0:
        yield Caption("state {state}", state=part.state)


def parts_sheet(parts: Sequence[CausePart], key: str = "parts") -> Sheet:
    """The parts of one latency, in few lines: the largest first, then the others in the order of time, then their
    sum, which is the latency."""
    lines = largest_first(parts)
    latency_ns = sum(part.ns for part in parts)
    own = [line.part for line in lines]
    places = sheets.labels("place", _("mostly at"), [*(part.place for part in own), ""])
    counts = sheets.numbers("count", _("times"), [*(line.count for line in lines), None])
    shares = [part.ns / max(latency_ns, 1) for part in own]
    return Sheet(
        key,
        _("Where the time went"),
        (
            sheets.labels("what", _("what"), [*(text_of(part_text(part)) for part in own), _("total")]),
            *([places] if any(part.place for part in own) else []),
            *([counts] if any(line.count > 1 for line in lines) else []),
            sheets.times("from", _("from [µs]"), [*(part.from_ns for part in own), None], UNIT),
            sheets.times("took", _("took [µs]"), [*(part.ns for part in own), latency_ns], UNIT),
            share_column([*shares, 1.0]),
        ),
        kind="late-parts",
    )


def share_column(shares: Sequence[float]) -> Column:
    return sheets.numbers("share", _("share [%]"), shares, lambda share: f"{100 * share:.1f}")


def largest_first(parts: Sequence[CausePart]) -> list[TimelineLine]:
    lines = timeline(parts)
    largest = sorted(lines, key=lambda line: -line.part.ns)[:LARGEST]
    return [*largest, *(line for line in lines if line not in largest)]
