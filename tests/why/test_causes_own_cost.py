"""What recording took of a late sample: it is taken out of the parts in which the events were."""

from howlate.model.cause import Cause, CausePart
from howlate.why.causes import without_own_cost
from made_trace import MadeTrace, brief, usual


def test_recording_takes_its_time_out_of_the_parts_in_which_it_was() -> None:
    plain = usual(MadeTrace().asleep()).explained(2_600)
    found = usual(MadeTrace().asleep()).explained(2_600, cost_ns=50)
    assert found.ns_of(Cause.OWN_COST) == 6 * 50
    assert sum(part.ns for part in found.parts) == sum(part.ns for part in plain.parts) == 2_600
    assert all(part.ns > 0 for part in found.parts)


def test_what_recording_took_is_of_the_next_part_where_one_is_too_short_and_is_told_once() -> None:
    """Two events in a part of 100 ns that took 80 ns each."""
    parts = [
        CausePart(Cause.IRQ, 0, 100),
        CausePart(Cause.SWITCH, 100, 500),
        CausePart(Cause.RETURN, 600, 50),
    ]
    found = without_own_cost(parts, [10, 90, 580, 590, 610], 80)
    assert brief(found) == [
        (Cause.OWN_COST, 0, 100),
        (Cause.SWITCH, 100, 280),
        (Cause.OWN_COST, 380, 270),
    ]
