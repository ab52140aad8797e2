"""Plans over machines and seeds: paired, stable, and refused where a seed would say nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fakes import capabilities, command_of, make_plan, study
from howlate.errors import UsageError
from howlate.model.plan import Cell, Plan
from howlate.model.study import Order, Study
from howlate.model.units import parse_duration_ns
from howlate.plan.cost import cell_cost_s
from howlate.plan.machines import PHASES_NS, on_machines, phase_ns, seeds_differ, with_seed
from howlate.plan.matrix import Machines

CAN = capabilities()
KERNELS = ("6.1[preempt=none]", "6.1[preempt=full]", "6.1-rt")
DITHERED = study({"activations": "100", "dither": True}, {"load": ("none", "cpu:50")})


def plan_of(asked: Study, kernels: tuple[str, ...] = KERNELS, seeds: int = 4) -> Plan:
    return make_plan(asked, CAN, machines=Machines(dict.fromkeys(kernels, CAN), {}, seeds))


def test_seeds_and_phases_are_the_same_for_all_kernels_and_points() -> None:
    cells = plan_of(DITHERED).cells
    assert len(cells) == 3 * 2 * 4
    for seed in range(1, 5):
        same = [c for c in cells if c.repetition == seed]
        assert len(same) == 6
        assert {c.parameters["seed"] for c in same} == {str(seed)}
        assert len({c.parameters["first"] for c in same}) == 1
    assert len({c.parameters["first"] for c in cells}) == 4


def test_nothing_but_seed_and_phase_differs_between_the_seeds_of_a_point() -> None:
    cells = [c for c in plan_of(DITHERED).cells if c.machine == "6.1-rt" and c.labels["load"] == "none"]
    words = [{w for w in command_of(c) if not w.startswith(("--seed", "--first"))} for c in cells]
    assert all(one == words[0] for one in words)
    assert len({c.id.rpartition("-")[0] for c in cells}) == 1
    assert [c.id.rpartition("-")[2] for c in cells] == ["1", "2", "3", "4"]


@given(st.integers(1, 10_000), st.sampled_from(["0ns", "1000us", "3ms", "1234567ns"]))
def test_the_first_release_is_put_off_by_less_than_a_tick(seed: int, first: str) -> None:
    assert 0 <= phase_ns(seed) < PHASES_NS
    found = with_seed({"first": first}, seed, {"first": "1000us", "seed": "", "dither": ""})
    assert parse_duration_ns(str(found["first"])) == parse_duration_ns(first) + phase_ns(seed)
    assert "seed" not in found


def test_a_seed_that_changes_nothing_is_measured_once() -> None:
    assert not seeds_differ({}, {"dither": "", "seed": ""})
    test = replace(CAN.tests[0], params=tuple(p for p in CAN.tests[0].params if p.name != "first"))
    can = replace(CAN, tests=(test,))
    undithered = study({"activations": "100"}, {"load": ("none",)})
    assert len(make_plan(undithered, can, machines=Machines({"6.1": can}, {}, 4)).cells) == 1
    assert len(make_plan(DITHERED, can, machines=Machines({"6.1": can}, {}, 4)).cells) == 8


def test_the_seed_of_a_study_is_the_repetitions_in_virtual_time() -> None:
    fixed = replace(DITHERED, settings={**DITHERED.settings, "seed": "99"})
    assert [c.id for c in plan_of(fixed).cells] == [c.id for c in plan_of(DITHERED).cells]
    assert {c.parameters["seed"] for c in plan_of(fixed).cells} == {"1", "2", "3", "4"}
    with pytest.raises(UsageError, match='axis "seed"'):
        plan_of(study({"activations": "100", "dither": True}, {"seed": ("1", "2")}))
    with pytest.raises(UsageError, match="between 1 and 10000, not -1"):
        plan_of(DITHERED, seeds=-1)


def test_a_machine_is_part_of_the_id_only_where_it_has_a_name() -> None:
    plain = make_plan(DITHERED, CAN).cells
    assert {c.machine for c in plain} == {""}
    named = make_plan(DITHERED, CAN, machines=Machines({"6.1": CAN, "6.1-rt": CAN}, {})).cells
    assert len({c.id for c in named} | {c.id for c in plain}) == 6
    assert {c.labels["kernel"] for c in named} == {"6.1", "6.1-rt"}
    assert all(c.labels["kernel"] == c.machine for c in named)
    assert all(command_of(c) in [command_of(p) for p in plain] for c in named)


def test_ids_of_parameters_that_only_differ_in_signs_are_different() -> None:
    cells = plan_of(DITHERED, ("6.1[a=b]", "6.1[a b]", "6.1-a-b")).cells
    assert len({c.id for c in cells}) == len(cells)


def test_the_order_is_the_studys_over_kernels_too() -> None:
    inside = study({"activations": "9"}, {"load": ("none", "cpu:50"), "kernel": ("a", "b")})
    assert [(c.labels["load"], c.machine) for c in plan_of(inside, ("6.1", "7.2"), 1).cells] == [
        ("none", "6.1"), ("none", "7.2"), ("cpu:50", "6.1"), ("cpu:50", "7.2"),
    ]  # fmt: skip
    rounds = plan_of(replace(DITHERED, order=Order("interleaved")), ("6.1", "7.2"), 2).cells
    assert [c.repetition for c in rounds] == [1] * 4 + [2] * 4
    mixed = plan_of(replace(DITHERED, order=Order("random", 7)), ("6.1", "7.2"), 2).cells
    assert {c.id for c in mixed[:4]} == {c.id for c in rounds[:4]}


def test_exclusions_may_name_kernels() -> None:
    asked = replace(DITHERED, exclude=({"kernel": ("6.1-rt", "gone"), "load": ("none",)},))
    cells = plan_of(asked, seeds=1).cells
    assert len(cells) == 5
    assert ("6.1-rt", "none") not in {(c.machine, c.labels["load"]) for c in cells}
    assert len(plan_of(replace(DITHERED, exclude=({"kernel": ("gone",)},)), seeds=1).cells) == 6


def test_a_setting_that_names_one_kernel_becomes_the_axis() -> None:
    one = study({"activations": "9", "kernel": "6.1"}, {"load": ("none",)})
    assert on_machines(one, ("6.1",)).axes == {"kernel": ("6.1",), "load": ("none",)}
    with pytest.raises(UsageError, match="compares kernels"):
        on_machines(one, ("",))


def test_what_a_kernel_cannot_is_said_of_its_cells_alone() -> None:
    machines = Machines(
        {"5.10": CAN, "6.1": CAN},
        {"5.10": "no boot here"},
        2,
    )
    cells = make_plan(DITHERED, CAN, machines=machines).cells
    assert {c.impossible for c in cells if c.machine == "5.10"} == {"no boot here"}
    assert {c.impossible for c in cells if c.machine == "6.1"} == {""}
    assert cells[0].expected_s == cell_cost_s(cells[0])


def test_cells_come_back_from_json_with_their_machine() -> None:
    plan = plan_of(DITHERED)
    assert Plan.from_json(plan.to_json(), "run.json") == plan
    old = {k: v for k, v in plan.cells[0].to_json().items() if k not in ("machine", "length")}
    (cell,) = Plan.from_json({"cells": [old]}, "run.json").cells
    assert cell.machine == "" and cell.length.stream_bytes == 0  # as older runs have it
    assert isinstance(plan.cells[0], Cell)


def test_a_cell_that_a_guest_cannot_give_back_is_refused_with_the_reason() -> None:
    settings = {"cpus": "0"}
    asked = study(settings, {"kernel": ("6.1",), "activations": ("1000000", "10000000")})
    for most, possible in ((0, 2), (63 << 20, 1)):
        cells = make_plan(asked, CAN, machines=Machines({"6.1": CAN}, {}, 1, most)).cells
        assert sum(not cell.impossible for cell in cells) == possible
    assert "63 MiB" in cells[-1].impossible
