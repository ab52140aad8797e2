from __future__ import annotations

from howlate.replay.lateness import Lateness, LatePart, PartKind
from howlate.why.replayed.explained import Explained
from howlate.why.replayed.pair import Both, LatenessPair


def explained(kernel: str, parts: dict[PartKind, int], stacks: dict[str, int]) -> Explained:
    each = tuple(LatePart(kind, 0, ns, "f") for kind, ns in parts.items())
    spent = tuple((tuple(chain.split(" > ")), ns) for chain, ns in stacks.items())
    total = sum(parts.values())
    assert total == sum(stacks.values())
    return Explained(
        f"{kernel}-1", {"kernel": kernel}, 0, 1, 9, Lateness(total, each, spent, (), total, 0), kernel
    )


PAIR = LatenessPair(
    explained("none", {PartKind.HELD: 90, PartKind.PROGRAM: 10}, {"work > free": 80, "work": 10, "main": 10}),
    explained("rt", {PartKind.OTHER_TASK: 25, PartKind.PROGRAM: 12}, {"softirq": 20, "work": 5, "main": 12}),
)


def test_the_kinds_of_parts_add_up_to_both_latencies() -> None:
    assert dict(PAIR.kinds) == {
        PartKind.HELD: Both(90, 0),
        PartKind.OTHER_TASK: Both(0, 25),
        PartKind.PROGRAM: Both(10, 12),
    }
    assert sum(both.more_ns for _kind, both in PAIR.kinds) == PAIR.latency.more_ns == 63


def test_the_functions_that_differ_most_come_first_and_add_up_to_both_latencies() -> None:
    functions = PAIR.functions
    assert [each.name for each in functions] == ["free", "softirq", "work", "main"]
    assert {each.name: (each.own, each.inclusive) for each in functions}["work"] == (Both(10, 5), Both(90, 5))
    assert sum(each.own.one_ns for each in functions) == PAIR.latency.one_ns
    assert sum(each.own.other_ns for each in functions) == PAIR.latency.other_ns


def test_a_function_that_one_called_and_the_other_did_not_is_in_that_one_alone() -> None:
    one, other = PAIR.only
    assert [each.name for each in one] == ["free"] and [each.name for each in other] == ["softirq"]
