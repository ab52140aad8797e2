"""The truth about late samples, as `lab why` has it instruction by instruction, beside what the kernel's events tell:
the words of the one in those of the other, and the largest part by both."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from howlate.model.cause import Cause, ExplainedCase, Lateness, Why

Word = tuple[Cause, Why | None]

OF_TASKS = frozenset({Cause.NOT_PREEMPTIBLE, Cause.SWITCH})
TOLD: Mapping[Word, frozenset[Cause]] = {
    # Halted, and the timer had not interrupted.
    (Cause.IDLE, None): frozenset({Cause.IDLE}),
    # Interrupts were off: in a task, in the idle loop, or because another interrupt was handled.
    (Cause.IRQ_LATE, None): frozenset(
        {Cause.IRQ_LATE, Cause.IDLE, Cause.IRQ, Cause.IPI, Cause.TIMER_IRQ, Cause.OWN_LATE}
    ),
    (Cause.TIMER_IRQ, Why.BEFORE_INTERRUPT): frozenset(
        {Cause.TIMER_IRQ, Cause.IDLE, Cause.IRQ_LATE, Cause.OWN_LATE}
    ),
    # Another timer in the timer's interrupt is an interrupt of its own in the events.
    (Cause.TIMER_IRQ, None): frozenset({Cause.TIMER_IRQ, Cause.IRQ}),
    (Cause.IRQ, None): frozenset({Cause.IRQ}),
    (Cause.IPI, None): frozenset({Cause.IPI}),
    # The scheduler is called within what events show as one stretch, up to the switch.
    (Cause.SWITCH, None): frozenset({Cause.SWITCH, Cause.NOT_PREEMPTIBLE, Cause.IDLE, Cause.HIGHER_TASK}),
    (Cause.NOT_PREEMPTIBLE, Why.INTERRUPTS_OFF): OF_TASKS,
    (Cause.NOT_PREEMPTIBLE, Why.PREEMPTION_OFF): OF_TASKS,
    (Cause.NOT_PREEMPTIBLE, Why.NO_KERNEL_PREEMPTION): OF_TASKS,
    (Cause.NOT_PREEMPTIBLE, Why.IN_LOCK): OF_TASKS,
    (Cause.NOT_PREEMPTIBLE, Why.UNCOUNTED): OF_TASKS,
    (Cause.NOT_PREEMPTIBLE, Why.IN_PROGRAM): frozenset({Cause.SWITCH, Cause.HIGHER_TASK}),
    (Cause.SOFTIRQ, None): frozenset({Cause.SOFTIRQ}),
    (Cause.HIGHER_TASK, None): frozenset({Cause.HIGHER_TASK, Cause.SOFTIRQ, Cause.THROTTLED}),
    (Cause.RETURN, None): frozenset({Cause.RETURN, Cause.OWN_LATE}),
}
"""What the events may call what the instructions call so: they do not divide as finely. Nothing else agrees."""
INTERRUPTS, SCHEDULER = (Cause.TIMER_IRQ, Cause.IRQ, Cause.IPI), (Cause.SWITCH, None)
"""Few events do not divide these: each may be called IRQ_END_OR_SWITCH."""


class Compared(Struct, frozen=True):
    """One sample by both."""

    release: int
    latency_ns: int
    truth: Counter[str]
    told: Counter[str]
    true_word: Word
    told_cause: Cause

    @property
    def agrees(self) -> bool:
        may_be_end = self.true_word[0] in INTERRUPTS and self.true_word[1] is None
        return self.told_cause in TOLD[self.true_word] or (
            self.told_cause is Cause.IRQ_END_OR_SWITCH and (may_be_end or self.true_word == SCHEDULER)
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
        if part.reasons:
            for reason, ns in part.reasons:
                found[part.cause, reason] += ns
        else:
            found[part.cause, part.why] += part.ns
    return held_as_one(found)


def held_as_one(words: Counter[Word]) -> Counter[Word]:
    """What went on and was not preempted is one part in the events, with the scheduler that ends it. Where the
    scheduler took more than all that kept it, it has the scheduler's word."""
    held = [word for word in words if word[0] is Cause.NOT_PREEMPTIBLE]
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
