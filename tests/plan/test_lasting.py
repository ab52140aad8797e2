"""Cells that are over before their load has done anything: the plan says so, in numbers."""

from collections.abc import Mapping
from typing import Any

import pytest

from fakes import capabilities, make_plan, planned, study
from howlate.errors import UsageError
from howlate.plan.cost import RESTART_S
from howlate.words.say import english

CAN = capabilities()


def short(load: str, period: str = "100us", activations: str = "300") -> Mapping[str, Any] | None:
    """The values of the warning, if there is one; it never has a second one."""
    made = study({"activations": activations}, {"load": (load,), "period": (period,)})
    warnings = planned(made, CAN).too_short
    assert len(warnings) <= 1 and all(english(warning) for warning in warnings)
    return warnings[0].values if warnings else None


def test_a_cell_without_room_for_an_fsync_is_named() -> None:
    values = {"length": "30 ms", "load": "disk:10MiB/s", "many": 0, "actions": "fsyncs", "least": 10}
    found = short("disk:10MiB/s")
    assert found is not None and values.items() <= found.items()
    assert short("cpu:100+disk") == {**found, "load": "disk"}


def test_the_options_of_the_load_count() -> None:
    assert short("disk:100MiB/s,sync=64KiB") is None
    assert {"many": 4}.items() <= (short("disk:10MiB/s,sync=64KiB") or {}).items()


def test_cells_that_last_long_enough_are_not_named() -> None:
    assert short("disk:10MiB/s", "1ms", "1000") is None
    assert short("cpu:50") is None and short("none") is None
    assert {"many": 1, "actions": "cycles"}.items() <= (short("cpu:50", activations="100") or {}).items()


def test_as_fast_as_it_goes_is_judged_by_what_an_fsync_takes_on_a_good_disk() -> None:
    for load, many, each in (("disk:max", 5, "2 ms"), ("disk:max,sync=2MiB", 2, "4 ms")):
        values = {"length": "10 ms", "many": many, "each": each, "least": 10}
        assert values.items() <= (short(load, activations="100") or {}).items()
    assert short("disk:max", activations="300") is None
    assert short("disk:max,sync=64KiB", activations="100") is None


def test_nothing_is_said_where_nothing_tells() -> None:
    """At 100 % there is no cycle of work and sleep."""
    assert short("cpu:100", activations="1") is None


def test_lengths_are_told_apart() -> None:
    made = study({"activations": "300"}, {"load": ("disk",), "period": ("100us", "1ms")})
    found = [warning.values for warning in planned(made, CAN).too_short]
    assert [values["length"] for values in found] == ["30 ms", "300 ms"]
    assert [values["cells"].split()[-1] for values in found] == ["100us", "1ms"]


@pytest.mark.parametrize("wrong", ["disk:most", "cpu:max", "disk:max,size=max"])
def test_max_is_a_target_of_the_disk_alone(wrong: str) -> None:
    with pytest.raises(UsageError):
        short(wrong)


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
