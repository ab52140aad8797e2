"""`--set` and `--scale`."""

from typing import Any

import pytest
from msgspec.structs import replace

from fakes import capabilities, make_plan, study
from howlate.errors import UsageError
from howlate.model.study import Order
from howlate.plan.changes import apply_changes, parse_change, scale_study, scaled_words, with_every_timer

COUNTS = capabilities().tests[0].counts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("period=250us", ("period", ("250us",))),
        ("load=none,cpu:50", ("load", ("none", "cpu:50"))),
        ("load=none,cpu:50,cpus=1,nice=5,disk", ("load", ("none", "cpu:50,cpus=1,nice=5", "disk"))),
        ("time.load=hackbench:1,loops=10,disk", ("time.load", ("hackbench:1,loops=10", "disk"))),
        ('cpus=["0-1,3", "2"]', ("cpus", ("0-1,3", "2"))),
        ("activations=[10, 20]", ("activations", ("10", "20"))),
        ("knob=cpu_dma_latency=0", ("knob", ("cpu_dma_latency=0",))),
    ],
)
def test_changes_are_read(text: str, expected: tuple[str, tuple[str, ...]]) -> None:
    assert parse_change(text) == expected


@pytest.mark.parametrize(
    "text", ["period", "=1", "period=", "load=none,", "cpus=[", "cpus=[]", "cpus=[{a=1}]", 'cpus=["a"']
)
def test_what_is_no_change_is_a_sentence(text: str) -> None:
    with pytest.raises(UsageError, match="--set"):
        parse_change(text)


def test_an_axis_is_replaced_and_several_values_make_one() -> None:
    one = apply_changes(
        study(), [parse_change("load=disk"), parse_change("period=1ms,2ms"), parse_change("activations=7")]
    )
    assert one.axes == {"load": ("disk",), "period": ("1ms", "2ms")}
    assert one.settings == {"activations": "7"}


def test_a_setting_that_becomes_an_axis_is_one_no_longer() -> None:
    one = apply_changes(study(), [parse_change("activations=7,8")])
    assert "activations" not in one.settings
    assert one.axes["activations"] == ("7", "8")


def test_exclusions_that_can_no_longer_meet_a_cell_go() -> None:
    one = study(exclude=({"load": ("none",)},))
    assert apply_changes(one, [parse_change("load=cpu:50")]).exclude == ()
    assert apply_changes(one, [parse_change("load=none,disk")]).exclude == ({"load": ("none",)},)
    axes = {"period": ("1ms", "2ms"), "dither": (True, False)}
    one = study(axes=axes, exclude=({"period": ("2000us",)}, {"dither": (True,)}))
    changed = apply_changes(one, [parse_change("period=2ms,3ms"), parse_change("dither=on")])
    assert changed.exclude == one.exclude
    changed = apply_changes(one, [parse_change("period=3ms"), parse_change("dither=off")])
    assert changed.exclude == ()
    one = study(exclude=({"load": ("typo",)},))
    assert apply_changes(one, [parse_change("activations=5")]).exclude == one.exclude  # to be refused


def test_exclusions_are_scaled_with_their_axis() -> None:
    one = study({}, {"activations": ("100", "200")}, exclude=({"activations": ("200",)},))
    assert scale_study(one, 0.5, COUNTS).exclude == ({"activations": ("100",)},)


def test_the_order_is_set_by_its_own_names() -> None:
    changes = [parse_change(t) for t in ("order.kind=random", "order.seed=9", "order.repetitions=12")]
    assert apply_changes(study(), changes).order == Order("random", 9, 12)
    for text in ("order.kind=rnd", "order.seed=x", "order.repetitions=0", "order.what=1", "order.seed=1,2"):
        with pytest.raises(UsageError):
            apply_changes(study(), [parse_change(text)])


def test_a_value_named_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="twice"):
        apply_changes(study(), [parse_change("load=none,none")])


def test_scale_shrinks_counts_and_durations_alone() -> None:
    one = scale_study(
        study({"activations": "1000", "period": "1ms"}, {"duration": ("10s", "1min")}), 0.1, COUNTS
    )
    assert one.settings == {"activations": "100", "period": "1ms"}
    assert one.axes == {"duration": ("1s", "6s")}
    assert scale_study(study({"activations": "3"}, {}), 0.01, COUNTS).settings == {"activations": "1"}
    assert scale_study(study({}, {}), 0.5, {"duration": "10s", "activations": ""}).settings == {
        "duration": "5s"
    }


def test_what_set_asks_for_is_not_scaled() -> None:
    points = replace(study({"activations": "40", "duration": "10s"}, {}), part="switch")
    for name in ("activations", "switch.activations", "duration"):
        assert (
            scale_study(points, 0.002, COUNTS, (name,)) == points
        )  # whichever count comes first ends a cell
    for name in ("smi.activations", "period"):
        assert scale_study(points, 0.1, COUNTS, (name,)).settings == {"activations": "4", "duration": "1s"}


def test_the_words_of_a_scale_name_each_count_that_it_changed() -> None:
    one = study({"activations": "1000", "duration": "10s"}, {})
    assert scaled_words(one, scale_study(one, 0.1, COUNTS)) == "activations 100 for 1000, duration 1s for 10s"


def test_a_scale_of_one_changes_nothing_and_of_nothing_is_refused() -> None:
    assert scale_study(study(), 1.0, {}) == study()
    for factor in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="--scale"):
            scale_study(study(), factor, {})


def test_what_cannot_be_scaled_is_a_sentence() -> None:
    with pytest.raises(UsageError, match="no unit"):
        scale_study(study({"duration": "10"}, {}), 0.5, COUNTS)


def test_a_scaled_study_has_cells_of_its_own() -> None:
    one, other = study(), scale_study(study(), 0.5, COUNTS)
    assert not {c.id for c in make_plan(one, capabilities()).cells} & {
        c.id for c in make_plan(other, capabilities()).cells
    }


@pytest.mark.parametrize("changes", [{"settings": {"timer": "all"}}, {"axes": {"timer": ("all",)}}])
def test_all_stands_for_every_way_to_sleep_of_the_probe(changes: dict[str, Any]) -> None:
    can = capabilities()
    whole = with_every_timer(replace(study(), **changes), can)
    assert whole.axes["timer"] == tuple(sorted(timer.name for timer in can.timers))
    assert "timer" not in whole.settings


def test_ways_to_sleep_that_a_study_names_stay() -> None:
    own = replace(study(), axes={"timer": ("spin",)})
    assert with_every_timer(own, capabilities()) == own
