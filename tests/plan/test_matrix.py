"""Properties of plans: stable and unique ids, orders, refusals before anything runs, resume."""

import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from fakes import LIST, capabilities, command_of, make_plan, study, timer
from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities
from howlate.model.plan import Plan
from howlate.model.study import Order, Study, Value, read_study
from howlate.plan.resume import is_same_plan, still_to_measure
from howlate.studies import studies
from sentences import values_of

CAN = capabilities()
LOADS = ["none", "cpu:50", "cpu:100", "disk:10MiB/s", "cpu:50+disk:1MiB/s"]
PERIODS = ["100us", "250us", "1ms", "10ms"]
TIMERS = ["clock_nanosleep", "setitimer", "spin", "io_uring"]


def some(values: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), min_size=1, unique=True).map(tuple)


matrices = st.fixed_dictionaries({"load": some(LOADS), "period": some(PERIODS), "timer": some(TIMERS)})
orders = st.builds(
    Order, st.sampled_from(["blocked", "interleaved", "random"]), st.integers(0, 99), st.integers(1, 4)
)


@given(matrices, orders, st.randoms(use_true_random=False))
def test_ids_are_unique_and_know_nothing_of_the_place(
    axes: dict[str, Any], order: Order, shuffler: random.Random
) -> None:
    plan = make_plan(study(axes=axes, order=order), CAN)
    ids = {cell.id for cell in plan.cells}
    assert (
        len(ids)
        == len(plan.cells)
        == len(axes["load"]) * len(axes["period"]) * len(axes["timer"]) * order.repetitions
    )
    mixed = {name: tuple(shuffler.sample(values, len(values))) for name, values in axes.items()}
    other = make_plan(study(axes=mixed, order=replace(order, kind="random", seed=order.seed + 1)), CAN)
    assert is_same_plan(plan, other)
    one = {name: values[:1] for name, values in axes.items()}
    assert {c.id for c in make_plan(study(axes=one, order=order), CAN).cells} <= ids


@given(matrices, orders)
def test_every_order_measures_every_cell_as_often(axes: dict[str, Any], order: Order) -> None:
    cells = make_plan(study(axes=axes, order=order), CAN).cells
    kinds = [tuple(sorted(command_of(c))) for c in cells]
    assert set(Counter(kinds).values()) == {order.repetitions}
    if order.kind == "blocked":
        assert len([1 for a, b in itertools.pairwise(kinds) if a != b]) == len(set(kinds)) - 1
    else:
        turn = len(set(kinds))
        for start in range(0, len(kinds), turn):  # each repetition is a round of its own
            assert len(set(kinds[start : start + turn])) == turn
            assert {c.repetition for c in cells[start : start + turn]} == {start // turn + 1}


@given(matrices, st.integers(0, 99))
def test_a_random_order_is_the_same_for_the_same_seed(axes: dict[str, Any], seed: int) -> None:
    one = study(axes=axes, order=Order("random", seed, 2))
    assert make_plan(one, CAN) == make_plan(one, CAN)


@given(matrices, orders, st.data())
def test_resume_measures_what_is_missing_and_nothing_else(
    axes: dict[str, Any], order: Order, data: st.DataObject
) -> None:
    plan = make_plan(study(axes=axes, order=order), CAN)
    whole = data.draw(st.sets(st.sampled_from([c.id for c in plan.cells])))
    left = [c.id for c in still_to_measure(plan, whole)]
    assert not whole & set(left)
    assert set(left) | whole >= {c.id for c in plan.cells if not c.impossible}
    assert left == [c.id for c in plan.cells if c.id in set(left)]


def test_equal_values_have_one_id_whatever_their_spelling() -> None:
    one = make_plan(study({"activations": "100", "period": "1000us", "dither": False}), CAN)
    other = make_plan(study({"period": "1ms", "activations": "0100"}), CAN)
    assert [c.id for c in one.cells] == [c.id for c in other.cells]
    with pytest.raises(UsageError) as caught:
        make_plan(study(axes={"period": ("1ms", "1000us")}), CAN)
    assert values_of(caught.value)["what"] == "cell"


def test_a_seed_without_dither_is_left_out() -> None:
    plan = make_plan(study({"activations": "9", "dither": False, "seed": "5"}, {}), CAN)
    assert plan.cells[0].parameters == {"activations": "9"}


def test_an_id_names_its_folder_in_the_open() -> None:
    cell = make_plan(study(axes={"load": ("cpu:50+disk:1MiB/s",)}), CAN).cells[0]
    assert cell.id.startswith("cpu-50-disk-1mib-s-")
    assert cell.id.endswith("-1")


def test_labels_have_every_axis_and_the_defaults() -> None:
    cell = make_plan(study(axes={"load": ("none",), "dither": (True,)}), CAN, {"kernel": "6.1"}).cells[0]
    assert cell.labels == {
        "kernel": "6.1",
        "load": "none",
        "period": "1ms",
        "policy": "fifo:80",
        "timer": "clock_nanosleep",
        "dither": "on",
    }


def test_arguments_are_the_probes_options() -> None:
    settings = {"activations": "10", "dither": True, "seed": "5"}
    cell = make_plan(study(settings, {"load": ("cpu:50,cpus=1+disk:1MiB/s",)}), CAN).cells[0]
    expected = [
        "cyclic",
        "--activations=10",
        "--dither",
        "--seed=5",
        "--load=cpu:50,cpus=1",
        "--load=disk:1MiB/s",
    ]
    assert list(command_of(cell)) == expected
    none = make_plan(study(settings, {"load": ("none",)}), CAN).cells[0]
    assert list(command_of(none)) == expected[:4]


@pytest.mark.parametrize(
    ("settings", "axes", "part"),
    [
        ({"perid": "1ms"}, {}, 'did you mean "period"'),
        ({"period": "250"}, {}, "it has no unit write it like 250us"),
        ({"period": "0us"}, {}, "a period of 0us is not possible"),
        ({"period": True}, {}, "--period needs a value"),
        ({"period": ("1ms", "2ms")}, {}, "make it an axis"),
        ({"late-policy": "skp"}, {}, 'did you mean "skip"'),
        ({"dither": "maybe"}, {}, "is neither on nor off"),
        ({"stream": "/x"}, {}, "parameter of cyclic"),
        ({"knob": "cpu_dma_latenci=0"}, {}, 'did you mean "cpu_dma_latency"'),
        ({"knob": "cpu_dma_latency"}, {}, "is not NAME=VALUE write a knob with its value"),
        ({}, {"timer": ("clock_nanoslep",)}, 'did you mean "clock_nanosleep"'),
        ({}, {"load": ("cpuu:50",)}, 'did you mean "cpu"'),
        ({}, {"load": ("cpu:150",)}, "a number from 0 to 100"),
        ({}, {"load": ("cpu:",)}, '"" is not a share in per cent'),
        ({}, {"load": ("disk:10",)}, "is not a rate"),
        ({}, {"load": ("disk:1MiB/s,sise=1MiB",)}, 'did you mean "--size"'),
        ({}, {"load": ("disk:1MiB/s,size=",)}, '"" is not a size'),
        ({}, {"load": (True,)}, "true or false"),
        ({"activations": "0", "duration": "0s"}, {}, "--activations must be more than 0"),
        ({"cpus": "a-b"}, {}, "is not the number of a CPU"),
    ],
)
def test_a_mistake_is_a_sentence_before_anything_runs(
    settings: dict[str, Any], axes: dict[str, Any], part: str
) -> None:
    with pytest.raises(UsageError) as caught:
        make_plan(study(settings, axes), CAN)
    assert part in f"{caught.value.message} {caught.value.remedy}"
    assert caught.value.message.startswith("made")


@pytest.mark.parametrize(
    ("settings", "timers", "part"),
    [
        ({"dither": True}, ("setitimer", "clock_nanosleep"), "its releases cannot be dithered"),
        ({"late-policy": "as-published"}, ("timerfd", "setitimer"), "the published loop is not one of"),
        ({"cpus": "0-1"}, ("setitimer", "clock_nanosleep"), "can wake one thread only"),
    ],
)
def test_what_a_timer_lacks_is_a_cell_that_cannot_be_and_the_others_are_kept(
    settings: dict[str, Any], timers: tuple[str, ...], part: str
) -> None:
    lacks, has = make_plan(study(settings, {"timer": timers}), CAN).cells
    assert part in lacks.impossible and "--" not in lacks.impossible
    assert has.impossible == ""


def test_an_unknown_test_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        make_plan(Study("a", "t", "q", "cylic"), CAN)
    assert "cyclic" in caught.value.remedy


def test_what_this_machine_lacks_is_told_and_the_others_stay() -> None:
    plan = make_plan(study(axes={"timer": ("io_uring", "spin")}), CAN)
    assert [c.impossible.partition(":")[0] for c in plan.cells] == ["io_uring", ""]
    assert [c.labels["timer"] for c in still_to_measure(plan, ())] == ["spin"]
    knob = make_plan(study({"knob": ("governor=performance",)}, {}), CAN)
    assert "no cpufreq" in knob.cells[0].impossible


def test_a_matrix_too_large_is_refused_before_it_is_made() -> None:
    axes = {"activations": tuple(str(n) for n in range(1, 2001))}
    one = study({}, axes, order=Order(repetitions=10_000))
    with pytest.raises(UsageError, match="20,000,000 cells"):
        make_plan(one, CAN)
    assert len(make_plan(replace(one, order=Order()), CAN, most=2000).cells) == 2000


def test_exclusions_take_cells_out_but_not_all() -> None:
    axes = {"load": ("none", "cpu:50"), "period": ("1ms", "2ms")}
    plan = make_plan(study(axes=axes, exclude=({"load": ("none",), "period": ("2ms",)},)), CAN)
    assert len(plan.cells) == 3
    with pytest.raises(UsageError, match="every cell is excluded"):
        make_plan(study(axes=axes, exclude=({"load": ("none", "cpu:50")},)), CAN)


@pytest.mark.parametrize(
    ("axis", "excluded"),
    [
        ({"period": ("1ms", "2ms")}, "1000us"),
        ({"load": ("none", "cpu:50")}, "none"),
        ({"dither": (True, False)}, "on"),
        ({"dither": ("yes", "off")}, True),
        ({"activations": ("10", "20")}, "0010"),
    ],
)
def test_exclusions_meet_equal_values_whatever_their_spelling(axis: dict[str, Any], excluded: Value) -> None:
    ((name, values),) = axis.items()
    plan = make_plan(study({}, axis, exclude=({name: (excluded,)},)), CAN)
    assert len(plan.cells) == len(values) - 1
    assert plan.cells[0] in make_plan(study({}, axis), CAN).cells[1:]


@pytest.mark.parametrize(
    ("entry", "remedy"),
    [
        ({"load": ("non",)}, 'did you mean "none"?'),
        ({"load": ("cpu:60",)}, 'did you mean "cpu:50"?'),
        ({"load": ("none",), "period": ("3s",)}, "choose one of 1ms, 250us"),
    ],
)
def test_an_exclusion_that_no_cell_can_meet_is_refused(
    entry: dict[str, tuple[Value, ...]], remedy: str
) -> None:
    axes = {"load": ("none", "cpu:50"), "period": ("1ms", "250us")}
    with pytest.raises(UsageError) as caught:
        make_plan(study(axes=axes, exclude=(entry,)), CAN)
    assert caught.value.remedy == remedy


def test_the_estimate_takes_what_ends_first() -> None:
    def seconds(**settings: str) -> float:
        return make_plan(study(settings, {}), CAN).expected_s

    base = seconds(duration="1s") - 1
    assert seconds(duration="12s") == pytest.approx(12 + base)
    assert seconds(activations="2000", period="1ms") == pytest.approx(2 + base)
    assert seconds(activations="1000", period="1ms", timer="spin") == pytest.approx(2 + base)
    plan = make_plan(study(axes={"timer": ("io_uring",)}), CAN)
    assert plan.expected_s == 0


def test_the_streams_size_grows_with_rows_and_cpus() -> None:
    def size(**settings: str) -> int:
        return make_plan(study(settings, {}), CAN).cells[0].length.stream_bytes

    assert size(duration="60s", period="20us") > 3_000_000 * 33
    assert size(activations="1000", cpus="0-3") - 1_000_000 == 4 * (size(activations="1000") - 1_000_000)


@pytest.mark.parametrize("path", studies().values(), ids=lambda p: p.stem)
def test_built_in_studies_decode(path: Path) -> None:
    assert read_study(path).id == path.stem


def test_plans_survive_run_json() -> None:
    plan = make_plan(study(axes={"timer": ("spin", "io_uring"), "load": tuple(LOADS)}), CAN)
    assert Plan.from_json(plan.to_json(), "run.json") == plan


@pytest.mark.parametrize(
    "spec",
    [
        "cpu:50,cpus=0,2-3,nice=10",
        "cpu:50,cpus=other",
        "cpu,policy=batch",
        "disk:1MiB/s,size=1MiB",
    ],
)
def test_a_load_takes_its_own_options_and_those_of_every_load(spec: str) -> None:
    cell = make_plan(study(axes={"load": (spec,)}), CAN).cells[0]
    assert cell.parameters["load"] == (spec,)


@pytest.mark.parametrize(
    ("spec", "said", "remedy"),
    [
        ("cpu:50,cpu=1", 'no option "--cpu"', "cpus"),
        ("cpu:50,cpus=most", "not the number of a CPU", ""),
        ("cpu:50,nice=low", "not a whole number", ""),
        ("cpu:50,nice", "--nice needs a value", "nice=VALUE"),
        ("cpu:50,2", 'no option "--2"', ""),
        ("cpu:50,size=1MiB", 'no option "--size"', ""),
        ("cpu:50,duration=1s", 'its test sets "duration"', "leave it out"),
    ],
)
def test_a_load_is_checked_against_the_probes_list(spec: str, said: str, remedy: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        make_plan(study(axes={"load": (spec,)}), CAN)
    assert remedy in caught.value.remedy


CORE = {
    **LIST,
    "timers": [
        *LIST["timers"],
        timer("cobalt", core="cobalt"),
        timer("cobalt-kernel-task", core="cobalt", in_kernel=True),
    ],
}


def test_a_timer_that_the_probe_was_built_without_is_told_before_anything_runs() -> None:
    """A guest's probe, of which only its list is known."""
    without, other = make_plan(study(axes={"timer": ("cobalt", "spin")}), CAN).cells
    assert "docs/cores.md" in without.impossible
    assert not other.impossible


def test_where_a_core_s_timers_stand_in_a_plan_every_cell_says_its_mode() -> None:
    timers = ("clock_nanosleep", "cobalt", "cobalt-kernel-task")
    cells = make_plan(study(axes={"timer": timers}), Capabilities.from_json(CORE)).cells
    assert [cell.labels["mode"] for cell in cells] == ["user", "user", "kernel"]
    plain = make_plan(study(axes={"timer": ("clock_nanosleep", "spin")}), Capabilities.from_json(CORE)).cells
    assert all("mode" not in cell.labels for cell in plain)
