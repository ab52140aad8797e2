"""What a part of a late sample is called where the events do not say which one it was."""

from __future__ import annotations

from howlate.model.cause import Cause, CausePart, Why
from howlate.why.late_parts import part_statement
from howlate.words.say import english


def test_an_interrupt_of_which_no_event_was_recorded_has_no_empty_name() -> None:
    for why in (None, Why.OTHER_TIMER):
        unnamed = english(part_statement(CausePart(Cause.IRQ, 0, 1, why=why)))
        assert unnamed == "an interrupt that the events do not identify"
    assert english(part_statement(CausePart(Cause.IRQ, 0, 1, "acpi"))) == "the interrupt acpi"
    timer = part_statement(CausePart(Cause.IRQ, 0, 1, "tick", why=Why.OTHER_TIMER))
    assert english(timer) == "another timer in the interrupt: tick"
