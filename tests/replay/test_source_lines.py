from collections.abc import Collection

from howlate.model.cause import Cause
from howlate.replay.lateness import lateness_of
from howlate.replay.source_lines import with_places
from made_execution import at
from replay.test_lateness import RELEASE, STAMP, made

LINES = {
    at("work", 2): "a.c:2",
    at("work", 4): "a.c:4",
    at("work", 5): "a.c:5",
    at("hrtimer_interrupt"): "t.c:1",
}


def lines(addresses: Collection[int]) -> dict[int, str]:
    return {address: LINES[address] for address in addresses if address in LINES}


def test_a_part_and_a_function_have_the_line_in_which_most_of_their_time_was_spent() -> None:
    execution = made()
    release_ns = int(execution.times_ns[RELEASE])
    latency_ns = int(execution.times_ns[STAMP]) - release_ns
    plain = lateness_of(execution, release_ns, latency_ns, STAMP)
    placed = with_places(plain, execution, release_ns, lines)
    places = {part.cause: part.place for part in placed.parts}
    assert places[Cause.IRQ_LATE] == "a.c:2"
    assert places[Cause.NOT_PREEMPTIBLE] == "a.c:5"
    assert places[Cause.SWITCH] == ""
    functions = {each.name: each.place for each in placed.functions}
    assert functions["work"] == "a.c:5" and functions["hrtimer_interrupt"] == "t.c:1"
    assert [(part.cause, part.ns) for part in placed.parts] == [(part.cause, part.ns) for part in plain.parts]
