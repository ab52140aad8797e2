"""What a part of a late sample is called, whatever is known of it, and in which order parts are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from howlate.model.cause import Cause, CausePart, Why
from howlate.model.trace import TracedTask
from howlate.why.cause_words import NAMES
from howlate.why.late_parts import LARGEST, part_text, parts_sheet
from howlate.words.say import english_text, text_of


@pytest.mark.parametrize("cause", list(Cause))
@pytest.mark.parametrize("why", [None, *Why])
def test_every_cause_has_a_name_and_every_reason_words(cause: Cause, why: Why | None) -> None:
    told = english_text(part_text(CausePart(cause, 0, 1, why=why)))
    assert told.startswith(text_of(NAMES[cause])) and not told.endswith((":", ": "))
    assert ": ," not in told and ", ," not in told


def test_what_is_known_follows_the_cause() -> None:
    assert english_text(part_text(CausePart(Cause.IRQ, 0, 1))) == "IRQ interference"
    assert english_text(part_text(CausePart(Cause.IRQ, 0, 1, "acpi"))) == 'IRQ interference: "acpi"'
    timer = CausePart(Cause.IRQ, 0, 1, "tick", why=Why.OTHER_TIMER)
    assert english_text(part_text(timer)).split(": ") == ["IRQ interference", '"tick", another timer']
    task = CausePart(Cause.NOT_PREEMPTIBLE, 0, 1, task=TracedTask(7, "cc1", 120), why=Why.PREEMPTION_OFF)
    assert english_text(part_text(task)) == 'blocking thread: "cc1" (7, nice 0), preemption off'


@given(st.lists(st.tuples(st.sampled_from(list(Cause)), st.integers(1, 10**9)), min_size=1, max_size=40))
def test_the_largest_stand_first_the_rest_in_order_of_time_and_the_sum_last(
    each: list[tuple[Cause, int]],
) -> None:
    parts, from_ns = [], 0
    for cause, ns in each:
        parts.append(CausePart(cause, from_ns, ns))
        from_ns += ns
    columns = {
        column.key: [cell.value or 0 for cell in column.cells] for column in parts_sheet(parts).columns
    }
    *took, total = columns["took"]
    assert sum(took) == total == from_ns and columns["share"][-1] == 1.0
    assert took[:LARGEST] == sorted(took, reverse=True)[:LARGEST]
    assert columns["from"][LARGEST:-1] == sorted(columns["from"][LARGEST:-1])
