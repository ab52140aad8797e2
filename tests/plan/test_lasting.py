"""Cells that are over before their load has done anything: the plan says so, in numbers."""

from __future__ import annotations

import pytest

from fakes import capabilities, make_plan, planned, study
from howlate.errors import UsageError
from howlate.plan.cost import RESTART_S
from howlate.words.say import english

CAN = capabilities()


def said(load: str, period: str = "100us", activations: str = "300") -> tuple[str, ...]:
    made = study({"activations": activations}, {"load": (load,), "period": (period,)})
    return tuple(map(english, planned(made, CAN).too_short))


def test_a_cell_without_room_for_an_fsync_is_named() -> None:
    assert said("disk:10MiB/s") == (
        "the cells at 100us last 30 ms: disk:10MiB/s makes 0 fsyncs in that time, 10 at least make a load",
    )
    assert said("cpu:100+disk") == tuple(
        text.replace("disk:10MiB/s", "disk") for text in said("disk:10MiB/s")
    )


def test_the_options_of_the_load_count() -> None:
    assert said("disk:100MiB/s,sync=64KiB") == ()
    assert "makes 4 fsyncs" in said("disk:10MiB/s,sync=64KiB")[0]


def test_cells_that_last_long_enough_are_not_named() -> None:
    assert said("disk:10MiB/s", "1ms", "1000") == ()
    assert said("cpu:50") == () and said("none") == ()
    assert "cpu:50 makes 1 cycles" in said("cpu:50", activations="100")[0]


def test_as_fast_as_it_goes_is_judged_by_what_an_fsync_takes_on_a_good_disk() -> None:
    assert said("disk:max", activations="100") == (
        "the cells at 100us last 10 ms: disk:max makes about 5 fsyncs in that time where one takes 2 ms, "
        "10 at least make a load",
    )
    assert (
        "about 2 fsyncs in that time where one takes 4 ms" in said("disk:max,sync=2MiB", activations="100")[0]
    )
    assert said("disk:max", activations="300") == () and said("disk:max,sync=64KiB", activations="100") == ()


def test_nothing_is_said_where_nothing_tells() -> None:
    """At 100 % there is no cycle of work and sleep."""
    assert said("cpu:100", activations="1") == ()


def test_lengths_are_told_apart() -> None:
    made = study({"activations": "300"}, {"load": ("disk",), "period": ("100us", "1ms")})
    assert [english(warning)[:28] for warning in planned(made, CAN).too_short] == [
        "the cells at 100us last 30 m",
        "the cells at 1ms last 300 ms",
    ]


@pytest.mark.parametrize("wrong", ["disk:most", "cpu:max", "disk:max,size=max"])
def test_max_is_a_target_of_the_disk_alone(wrong: str) -> None:
    with pytest.raises(UsageError):
        said(wrong)


def test_a_load_whose_bursts_are_long_runs_alone_for_longer() -> None:
    made = study({}, {"load": ("disk:max", "hackbench:10")})
    usual, longer = (cell.length for cell in make_plan(made, CAN).cells)
    assert (usual.alone_s, longer.alone_s) == (0.25, 1.0)
    assert usual.alone_most_s == longer.alone_most_s == 5.0


@pytest.mark.parametrize(
    ("loads", "needed"),
    [
        ((), False),
        (("cpu:50",), False),
        (("disk",), False),
        (("disk:max",), True),
        (("cpu:50", "disk"), True),
    ],
)
def test_the_stretch_without_measuring_is_in_the_plans_time(loads: tuple[str, ...], needed: bool) -> None:
    name = "+".join(loads) or "none"
    calm = make_plan(study({}, {"load": ("none",)}), CAN).expected_s
    loaded = make_plan(study({}, {"load": (name,)}), CAN).expected_s
    assert loaded - calm == (0.25 + RESTART_S if needed else 0)
