"""A timer's interrupt that was late has its way in as a part of it, as long as in the cell's quickest sample."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.model.cause import Cause, CausePart, Why
from howlate.why.causes import explain_cases, way_in_ns, with_way_in
from made_trace import LAB, OWN, RELEASE_NS, MadeTrace, brief, usual

QUICK = CausePart(Cause.TIMER_IRQ, 0, 300, why=Why.BEFORE_INTERRUPT)
MET = (Cause.IRQ_LATE, Cause.IRQ_LATE_OR_GAP, Cause.TIMER_IRQ, Cause.IRQ, Cause.SWITCH)
HANDLER = CausePart(Cause.TIMER_IRQ, 300, 900)


def test_the_shortest_way_of_a_cell_counts_and_none_where_every_interrupt_was_kept() -> None:
    other = replace(QUICK, ns=250)
    assert way_in_ns([[QUICK, HANDLER], [other, HANDLER], [CausePart(Cause.IRQ_LATE, 0, 90)]]) == 250
    assert way_in_ns([[CausePart(Cause.IRQ_LATE, 0, 90_000)], []]) == 0


def test_in_pieces_it_is_one_way() -> None:
    assert way_in_ns([[QUICK, replace(QUICK, from_ns=300, ns=100), replace(HANDLER, from_ns=400)]]) == 400


def test_behind_another_interrupt_or_the_timer_slack_there_is_no_whole_way() -> None:
    for cause in (Cause.IRQ, Cause.TIMER_SLACK):
        rest = [CausePart(cause, 0, 300), replace(QUICK, from_ns=300, ns=50), replace(HANDLER, from_ns=350)]
        assert way_in_ns([rest, [QUICK, HANDLER]]) == 300
        assert way_in_ns([rest]) == 0
    assert way_in_ns([[QUICK, CausePart(Cause.IRQ, 300, 900)]]) == 0


def test_a_cells_late_interrupt_has_the_way_of_its_quick_one() -> None:
    late = MadeTrace().asleep().timer(60_000, 60_400, 60_900).switch(61_400, OWN, 0)
    quick = usual(MadeTrace().asleep())
    shift = 10_000_000
    first, second = late.cell(62_000), quick.cell(2_700)
    case = second.cases[0]
    moved = replace(
        case, release=8, release_ns=RELEASE_NS + shift, from_ns=case.from_ns + shift, to_ns=case.to_ns + shift
    )
    events = (*first.events, *(replace(event, time_ns=event.time_ns + shift) for event in second.events))
    cell = replace(first, cases=(*first.cases, moved), events=events)
    told, other = explain_cases(cell, LAB)
    way_ns = other.parts[0].ns
    assert other.parts[0].why is Why.BEFORE_INTERRUPT and way_ns == 500
    assert brief(told.parts)[:2] == [(Cause.IRQ_LATE, 0, 59_500), (Cause.TIMER_IRQ, 59_500, 500)]
    (alone,) = explain_cases(first, LAB)
    assert brief(alone.parts)[0] == (Cause.IRQ_LATE, 0, 60_000)


@given(
    st.lists(st.tuples(st.sampled_from(MET), st.integers(1, 5_000)), max_size=12),
    st.integers(0, 4_000),
)
def test_any_parts_keep_their_sum_and_nothing_else_changes(
    pieces: list[tuple[Cause, int]], way_ns: int
) -> None:
    parts, at_ns = [], 0
    for cause, ns in pieces:
        parts.append(CausePart(cause, at_ns, ns))
        at_ns += ns
    found = with_way_in(parts, way_ns)
    assert [part.from_ns for part in found] == [sum(p.ns for p in found[:i]) for i in range(len(found))]
    assert sum(part.ns for part in found) == at_ns and all(part.ns > 0 for part in found)
    late = [
        part
        for part, after in pairwise(parts)
        if part.cause in (Cause.IRQ_LATE, Cause.IRQ_LATE_OR_GAP) and after.cause is Cause.TIMER_IRQ
    ]
    ways = [part.ns for part in found if part.why is Why.BEFORE_INTERRUPT]
    assert ways == [min(way_ns, part.ns) for part in late if way_ns]
    assert [part for part in parts if part not in late] == [
        part for part in found if part in parts and part not in late
    ]
