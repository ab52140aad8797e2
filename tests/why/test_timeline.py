from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from howlate.model.cause import Cause, CausePart, Why
from howlate.why.late_parts import MOST_LINES, TimelineLine, timeline

HELD, INTERRUPT, SCHEDULER, MASKED = (
    Cause.NOT_PREEMPTIBLE,
    Cause.IRQ,
    Cause.SWITCH,
    Cause.IRQ_LATE,
)


def parts(*each: tuple[Cause, int, str]) -> list[CausePart]:
    found: list[CausePart] = []
    from_ns = 0
    for cause, ns, function in each:
        reasons = ((Why.PREEMPTION_OFF, ns),) if cause is HELD else ()
        found.append(CausePart(cause, from_ns, ns, function=function, reasons=reasons))
        from_ns += ns
    return found


def shown(lines: Sequence[TimelineLine]) -> list[tuple[Cause, int, int, str]]:
    return [(line.part.cause, line.part.ns, line.count, line.part.function) for line in lines]


def test_few_parts_stay_as_they_are() -> None:
    some = parts((MASKED, 5, "a"), (INTERRUPT, 3, "b"), (HELD, 90, "c"), (INTERRUPT, 2, "b"), (HELD, 9, "c"))
    assert [line.part for line in timeline(some)] == some


def test_short_interrupts_of_a_stretch_are_one_line_with_their_count_and_sum() -> None:
    turns = ((HELD, 100, "copy"), (INTERRUPT, 2, "tick")) * 10
    found = timeline(parts((MASKED, 7, "lock"), *turns, (HELD, 30, "clear"), (SCHEDULER, 4, "__schedule")))
    assert shown(found) == [
        (MASKED, 7, 1, "lock"),
        (HELD, 1030, 11, "copy"),
        (INTERRUPT, 20, 10, "tick"),
        (SCHEDULER, 4, 1, "__schedule"),
    ]
    assert found[1].part.reasons == ((Why.PREEMPTION_OFF, 1030),)
    assert [line.part.from_ns for line in found] == [0, 7, 107, 1057]


def test_long_parts_stay_apart_while_there_is_room_for_them() -> None:
    short = ((HELD, 50, "a"), (INTERRUPT, 2, "tick")) * 8
    found = timeline(parts(*short, (HELD, 50, "a"), (SCHEDULER, 900, "slow"), (HELD, 70, "b")))
    assert shown(found) == [
        (HELD, 450, 9, "a"),
        (INTERRUPT, 16, 8, "tick"),
        (SCHEDULER, 900, 1, "slow"),
        (HELD, 70, 1, "b"),
    ]


@given(st.lists(st.tuples(st.sampled_from(list(Cause)), st.integers(1, 10_000), st.sampled_from("abc"))))
def test_the_lines_add_up_as_the_parts_do_and_are_few(each: list[tuple[Cause, int, str]]) -> None:
    given_parts = parts(*each)
    found = timeline(given_parts)
    for cause in Cause:
        of_kind = [line for line in found if line.part.cause is cause]
        assert sum(line.part.ns for line in of_kind) == sum(p.ns for p in given_parts if p.cause is cause)
        assert sum(line.count for line in of_kind) == sum(p.cause is cause for p in given_parts)
    assert len(found) <= max(MOST_LINES, 2 * len(Cause))
