from howlate.model.cause import Cause, CausePart, ExplainedCase, Lateness
from howlate.model.trace import TraceCase
from howlate.why.explained_cells import CellCase, ExplainedCell
from howlate.why.replayed.pair_document import Both, LatenessPair


def of_cell(name: str, labels: dict[str, str], lateness: Lateness) -> CellCase:
    """Release 3 of the first of 50 samples."""
    case = ExplainedCase(
        TraceCase(0, 3, 3_000, lateness.latency_ns, 3_000, 4_000), lateness.parts, replayed=lateness
    )
    return CellCase(ExplainedCell(f"{name}-1", name, labels, (case,), 50), case)


def explained(kernel: str, parts: dict[Cause, int], stacks: dict[str, int]) -> CellCase:
    each = tuple(CausePart(cause, 0, ns, function="f") for cause, ns in parts.items())
    spent = tuple((tuple(chain.split(" > ")), ns) for chain, ns in stacks.items())
    total = sum(parts.values())
    assert total == sum(stacks.values())
    return of_cell(kernel, {"kernel": kernel}, Lateness(total, each, spent, (), total, 0))


HELD, THREAD, RETURN = Cause.NOT_PREEMPTIBLE, Cause.HIGHER_TASK, Cause.RETURN
PAIR = LatenessPair(
    explained("none", {HELD: 90, RETURN: 10}, {"work > free": 80, "work": 10, "main": 10}),
    explained("rt", {THREAD: 25, RETURN: 12}, {"softirq": 20, "work": 5, "main": 12}),
)


def test_the_causes_add_up_to_both_latencies_the_largest_difference_first() -> None:
    assert PAIR.causes == ((HELD, Both(90, 0)), (THREAD, Both(0, 25)), (RETURN, Both(10, 12)))
    assert sum(both.more_ns for _cause, both in PAIR.causes) == PAIR.latency.more_ns == 63


def test_the_functions_that_differ_most_come_first_and_add_up_to_both_latencies() -> None:
    functions = PAIR.functions
    assert [each.name for each in functions] == ["free", "softirq", "work", "main"]
    assert {each.name: (each.own, each.inclusive) for each in functions}["work"] == (Both(10, 5), Both(90, 5))
    assert sum(each.own.one_ns for each in functions) == PAIR.latency.one_ns
    assert sum(each.own.other_ns for each in functions) == PAIR.latency.other_ns


def test_a_function_that_one_called_and_the_other_did_not_is_in_that_one_alone() -> None:
    one, other = PAIR.only
    assert [each.name for each in one] == ["free"] and [each.name for each in other] == ["softirq"]
