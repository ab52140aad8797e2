"""The truth about late samples, as `lab why` has it instruction by instruction, beside what the kernel's events tell:
the words of the one in those of the other, and the largest part by both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from howlate.model.cause import Cause, ExplainedCase
from howlate.replay.lateness import Lateness, PartKind, Reason

Word = tuple[PartKind, Reason | None]

VOCABULARY: Mapping[Word, frozenset[Cause]] = {
    # Halted, and the timer had not interrupted.
    (PartKind.HALTED, None): frozenset({Cause.IDLE}),
    # Interrupts were off: in a task, in the idle loop, or because another interrupt was handled.
    (PartKind.MASKED, None): frozenset(
        {Cause.IRQ_LATE, Cause.IDLE, Cause.IRQ, Cause.IPI, Cause.TIMER_IRQ, Cause.OWN_LATE}
    ),
    (PartKind.UNTIL_INTERRUPT, None): frozenset(
        {Cause.TIMER_IRQ, Cause.IDLE, Cause.IRQ_LATE, Cause.OWN_LATE}
    ),
    (PartKind.INTERRUPT, None): frozenset({Cause.TIMER_IRQ, Cause.IRQ, Cause.IPI}),
    # The scheduler is called within what events show as one stretch, up to the switch.
    (PartKind.SCHEDULER, None): frozenset(
        {Cause.SWITCH, Cause.NOT_PREEMPTIBLE, Cause.IDLE, Cause.HIGHER_TASK}
    ),
    (PartKind.HELD, Reason.MASKED): frozenset({Cause.NOT_PREEMPTIBLE, Cause.SWITCH}),
    (PartKind.HELD, Reason.COUNT): frozenset({Cause.NOT_PREEMPTIBLE, Cause.SWITCH}),
    (PartKind.HELD, Reason.NOT_PREEMPTIBLE): frozenset({Cause.NOT_PREEMPTIBLE, Cause.SWITCH}),
    (PartKind.HELD, Reason.LOCK): frozenset({Cause.NOT_PREEMPTIBLE, Cause.SWITCH}),
    (PartKind.HELD, Reason.UNCOUNTED): frozenset({Cause.NOT_PREEMPTIBLE, Cause.SWITCH}),
    (PartKind.HELD, Reason.PROGRAM): frozenset({Cause.SWITCH, Cause.HIGHER_TASK}),
    (PartKind.HELD, Reason.SOFTIRQ): frozenset({Cause.SOFTIRQ}),
    (PartKind.OTHER_TASK, None): frozenset({Cause.HIGHER_TASK, Cause.SOFTIRQ, Cause.THROTTLED}),
    (PartKind.SWITCH, None): frozenset({Cause.RETURN}),
    (PartKind.RETURN, None): frozenset({Cause.RETURN, Cause.OWN_LATE}),
    (PartKind.PROGRAM, None): frozenset({Cause.RETURN, Cause.OWN_LATE}),
}
"""What `howlate why` may call what `howlate lab why` calls so. Nothing else agrees."""
INTERRUPT, SCHEDULER = (PartKind.INTERRUPT, None), (PartKind.SCHEDULER, None)
"""Few events do not divide these two: either may be called IRQ_END_OR_SWITCH."""
OF_ONE = (PartKind.SWITCH, PartKind.RETURN, PartKind.PROGRAM)
"""These three are one part in the events: from the switch to the time stamp."""


@dataclass(frozen=True)
class Compared:
    """One sample by both."""

    release: int
    latency_ns: int
    truth: Counter[str]
    told: Counter[str]
    true_word: Word
    told_cause: Cause

    @property
    def agrees(self) -> bool:
        return self.told_cause in VOCABULARY[self.true_word] or (
            self.told_cause is Cause.IRQ_END_OR_SWITCH and self.true_word in (INTERRUPT, SCHEDULER)
        )


def compared(lateness: Lateness, explained: ExplainedCase) -> Compared:
    """The same sample by both."""
    case = explained.case
    assert case.latency_ns == lateness.latency_ns
    words = words_of(lateness)
    causes = causes_of(explained)
    return Compared(
        case.release,
        case.latency_ns,
        Counter({f"{kind}{f' ({reason})' if reason else ''}": ns for (kind, reason), ns in words.items()}),
        Counter({str(cause): ns for cause, ns in causes.items()}),
        words.most_common(1)[0][0],
        causes.most_common(1)[0][0],
    )


def words_of(lateness: Lateness) -> Counter[Word]:
    """The time by words; what is one part in the events is one here."""
    found: Counter[Word] = Counter()
    for part in lateness.parts:
        if part.kind is PartKind.HELD:
            for reason, ns in part.reasons:
                found[part.kind, reason] += ns
        else:
            found[PartKind.RETURN if part.kind in OF_ONE else part.kind, None] += part.ns
    return held_as_one(found)


def held_as_one(words: Counter[Word]) -> Counter[Word]:
    """What went on and was not preempted, whatever kept it but for softirqs, is one part in the events, with the
    scheduler that ends it. Where the scheduler took more than all that kept it, it has the scheduler's word."""
    held = [word for word in words if word[0] is PartKind.HELD and word[1] is not Reason.SOFTIRQ]
    if not held:
        return words
    joined = [*held, SCHEDULER]
    is_kept = sum(words[word] for word in held) >= words[SCHEDULER]
    main = max(held, key=lambda word: words[word]) if is_kept else SCHEDULER
    whole = sum(words[word] for word in joined)
    rest = Counter({word: ns for word, ns in words.items() if word not in joined})
    rest[main] = whole
    return rest


def causes_of(explained: ExplainedCase) -> Counter[Cause]:
    found: Counter[Cause] = Counter()
    for part in explained.parts:
        found[part.cause] += part.ns
    return found
