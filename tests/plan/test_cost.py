"""What a cell is expected to cost, and the time left of a run: pure, in any units of time."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.measure.pace import KEPT_S, Pace
from howlate.model.guest_cpus import GuestCpus
from howlate.model.plan import Cell, Length
from howlate.plan.cost import (
    CELL_S,
    cell_cost_s,
    limit_s,
    makespan,
    start_limit_s,
    start_virtual_limit_s,
    virtual_limit_s,
)


def cell(
    load: str = "none",
    period: str = "1ms",
    test: str = "cyclic",
    length: Length = Length(10.0),  # noqa: B008
) -> Cell:
    loads = () if load == "none" else (load,)
    return Cell(f"{load}-1", test, {"load": loads}, {"load": load, "period": period}, 1, 1.0, length=length)


@pytest.mark.parametrize(
    ("load", "measured_s"),
    [("none", 0.08), ("cpu:100", 1.6), ("memory-alloc:100", 2.3), ("hackbench:10", 3.7)],
)
def test_a_virtual_second_costs_what_was_measured(load: str, measured_s: float) -> None:
    """docs/lab/guests.md, How long a cell takes."""
    cost = cell_cost_s(cell(load, length=Length(100.0))) - CELL_S
    assert 1 / 1.5 <= cost / 100 / measured_s <= 1.5


@pytest.mark.parametrize(
    ("guest", "short_s", "idle_s", "loaded_s"),
    [
        (GuestCpus(2, turn_ns=5_000), 2.2, 1.9, 6.3),
        (GuestCpus(2, turn_ns=20_000), 1.4, 0.97, 3.1),
        (GuestCpus(4, turn_ns=5_000), 3.3, 0.87, 2.7),
        (GuestCpus(4, turn_ns=20_000), 1.9, 0.33, 1.6),
    ],
    ids=str,
)
def test_a_cell_of_several_cpus_costs_what_was_measured(
    guest: GuestCpus, short_s: float, idle_s: float, loaded_s: float
) -> None:
    """docs/lab/guests.md, Several CPUs: a cell of 20 ms, one of a second more, and that beside a load on CPU 0."""

    def cost_s(load: str, seconds: float) -> float:
        made = cell(load, length=Length(seconds))
        return cell_cost_s(replace(made, labels={**made.labels, **guest.labels()}))

    load = "memory-alloc:100,cpus=0"
    for model_s, measured_s in (
        (cost_s("none", 0.02), short_s),
        (cost_s("none", 1.02), short_s + idle_s),
        (cost_s(load, 1.02) - cost_s(load, 0.02), loaded_s),
    ):
        assert 1 / 1.5 <= model_s / measured_s <= 1.5


def test_a_load_costs_by_the_number_of_cpus_it_uses() -> None:
    guest = GuestCpus(4, turn_ns=5_000)
    costs = [
        cell_cost_s(replace(made, labels={**made.labels, **guest.labels()}))
        for cpus in ("cpus=same", "cpus=0-1", "cpus=0,2-3", "cpus=other", "cpus=all")
        for made in [cell(f"memory-alloc:100,{cpus}")]
    ]
    assert costs == sorted(costs)
    assert math.isclose(costs[3] - costs[0], 2 * (costs[1] - costs[0]))


def test_half_a_load_costs_half() -> None:
    whole, half, none = (cell_cost_s(cell(load)) for load in ("cpu:100", "cpu:50", "none"))
    assert math.isclose(whole - none, 2 * (half - none))


def test_a_test_that_never_sleeps_costs_what_a_program_does() -> None:
    spinning = replace(cell(), labels={"load": "none"}, test="hardware-gap")
    assert cell_cost_s(spinning) == cell_cost_s(cell("cpu:100")) - 10 * 0.08


def test_a_limit_is_of_a_standstill_and_not_of_a_cells_length() -> None:
    short, long = (cell(length=Length(seconds)) for seconds in (0.3, 100.0))
    assert limit_s(short) == limit_s(long) < 60
    assert virtual_limit_s(short) == virtual_limit_s(long)


def test_a_limit_leaves_room_until_the_first_result_and_between_two() -> None:
    """Hackbench runs alone first; a host may be slower than the model; a slow guest takes more of its own time."""
    alone = cell("hackbench:10", length=Length(1.0, 3.0, 6.0))
    assert limit_s(alone) < 60 and start_limit_s(alone) > max(3 * (14.5 + 3 * 3.7), 6 * 25)
    assert start_limit_s(alone, 2.6) > start_limit_s(alone) + 1.6 * 3 * 14.5
    assert start_virtual_limit_s(alone) >= 10 + 3 * 6
    rare = cell(period="2s")
    assert limit_s(rare) >= 2 * 25 and virtual_limit_s(rare) > 10 + 2 * 2
    slow = replace(cell(), labels={**cell().labels, **GuestCpus(4, 250, 5_000).labels()})
    assert virtual_limit_s(slow) == pytest.approx(16 * virtual_limit_s(cell()), rel=0.01)
    starved = cell("cpu:100,policy=fifo:90", length=Length(60.0))
    assert limit_s(starved) > 60 * 25 and virtual_limit_s(starved) > 60 * 2
    points = Cell("", "switch", {}, {}, 1, 1.0, length=Length(1.0))
    assert virtual_limit_s(points) > 30  # after which the probe itself ends it


def test_packets_through_emulated_cards_cost_and_may_cost_more() -> None:
    """QEMU emulates each access to a card."""
    through = cell("network:flood,card=rtl8139")
    cards_s = cell_cost_s(through) - cell_cost_s(cell("network:flood"))
    assert cards_s > 20 * 10 and limit_s(through) > 3 * cards_s / 10
    assert cell_cost_s(cell("network:100,card=rtl8139")) < cell_cost_s(through) / 20
    assert cell_cost_s(cell("network:flood,card=none")) == cell_cost_s(cell("network:flood"))


def test_one_cell_is_not_shared_between_cores() -> None:
    assert makespan([40.0], 2) == 40.0
    assert makespan([40.0, 10.0, 10.0, 10.0], 2) == 40.0
    assert makespan([10.0] * 4, 2) == 20.0
    assert makespan([], 2) == 0.0
    assert makespan([5.0], 2, [3.0, 20.0]) == 20.0


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def simulated(plan: list[tuple[str, float, float]], parallel: int) -> list[tuple[float, float]]:
    """The time left and the truth, after each cell of a run. A cell is its kind, what is expected and the truth."""
    clock = Clock()
    pace = Pace({str(n): (kind, expected) for n, (kind, expected, _) in enumerate(plan)}, parallel, clock)
    waiting = [(str(n), true) for n, (_, _, true) in enumerate(plan)]
    running: dict[str, float] = {}
    said = []
    while waiting or running:
        while waiting and len(running) < parallel:
            name, true = waiting.pop(0)
            pace.begin(name)
            running[name] = clock.now + true
        said.append((clock.now, pace.left_s()))
        clock.now = min(running.values())
        for name in [n for n, end in running.items() if math.isclose(end, clock.now)]:
            del running[name]
            pace.done(name)
    return [(left, clock.now - at) for at, left in said]


@pytest.mark.parametrize("host", [0.7, 1.0, 1.4])
@pytest.mark.parametrize("parallel", [1, 2, 4])
def test_time_left_is_never_at_half_of_the_truth(host: float, parallel: int) -> None:
    """Idle cells first, a hundred times dearer ones behind them."""
    kinds = (("none", 0.6), ("memory-alloc", 5.0), ("hackbench", 24.0))
    plan = [(kind, cost, cost * host) for kind, cost in kinds for _ in range(8)]
    for left, truth in simulated(plan, parallel):
        assert truth / 1.5 <= left <= truth * 1.5 + 2.0


def test_a_kind_that_was_mistaken_is_corrected_by_its_own_cells() -> None:
    plan = [("hackbench", 10.0, 30.0), ("none", 1.0, 1.0)] * 6
    for left, truth in simulated(plan, 1)[3:]:
        assert truth / 1.5 <= left <= truth * 1.5 + 2.0


@given(
    st.integers(1, 80),
    st.lists(st.floats(0.001, 3.0), min_size=3, max_size=3),
    st.floats(0.0, 2.0),
    st.sampled_from([1, 2, 4]),
)
def test_of_cells_from_the_cache_the_time_left_is_known_at_half_of_them(
    each: int, took_s: list[float], first_s: float, parallel: int
) -> None:
    """They are read at once, and become whole one by one. Each kind takes a time of its own, the first one more: it
    loads libraries."""
    clock = Clock()
    kinds = ("none", "cpu", "disk")
    names = [(f"{kind} {n}", kind) for n in range(each) for kind in kinds]
    pace = Pace({name: (kind, 0.0) for name, kind in names}, parallel, clock)
    assert pace.left_s() > 0
    said = []
    for number, (name, kind) in enumerate(names):
        pace.begin(name)
        took = took_s[kinds.index(kind)] + (first_s if number == 0 else 0.0)
        clock.now += 0.001
        pace.done(name)
        clock.now += took
        pace.finished(name, took)
        said.append((clock.now, pace.left_s()))
    for at, left in said[len(names) // 2 : -1]:
        if each > 3:
            assert (clock.now - at) / 2 - KEPT_S <= left <= 2 * (clock.now - at) + KEPT_S
    assert said[-1][1] == 0.0


@pytest.mark.parametrize("true_s", [0.002, 0.05, 0.6])
def test_cells_from_the_cache_are_no_measure_of_the_others(true_s: float) -> None:
    plan = [("none", 0.0, true_s)] * 20 + [("disk", 10.0, 10.0)] * 5
    for left, truth in simulated(plan, 1)[1:]:
        assert truth / 1.5 <= left <= truth * 1.5 + 2.0


def test_within_one_long_cell_the_share_tells() -> None:
    clock = Clock()
    pace = Pace({"a": ("x", 100.0)}, 2, clock)
    pace.begin("a")
    clock.now = 50.0
    pace.share("a", 0.25)
    assert pace.left_s() == 150.0
