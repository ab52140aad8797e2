"""The preemption model, from whatever tells."""

from typing import Any

import pytest

from howlate.model.preemption import preemption_of, spelt

BUILT_FULL = {"kernel.version": "#1 SMP PREEMPT_DYNAMIC", "kernel.config": {"PREEMPT": "y", "XENOMAI": "y"}}


@pytest.mark.parametrize(
    ("values", "model"),
    [
        ({**BUILT_FULL, "cobalt.version": "3.3.1", "cobalt.state": "running"}, "cobalt"),
        ({**BUILT_FULL, "cobalt.version": "3.3.1", "cobalt.state": "stopped"}, "full"),
        ({**BUILT_FULL, "evl.abi": "32", "evl.state": "running"}, "evl"),
        ({**BUILT_FULL, "evl.abi": "32", "evl.state": "stopped"}, "full"),
        ({**BUILT_FULL, "cobalt.version": "3.3.1", "cobalt.state": None}, ""),
        ({**BUILT_FULL, "cobalt.version": "3.3.1"}, ""),
        ({**BUILT_FULL, "evl.abi": "32", "evl.state": None}, ""),
        (
            {
                **BUILT_FULL,
                "cobalt.version": "3",
                "cobalt.state": None,
                "evl.abi": "3",
                "evl.state": "running",
            },
            "evl",
        ),
        ({**BUILT_FULL, "cobalt.version": None, "evl.abi": None}, "full"),
        (BUILT_FULL, "full"),
        ({"kernel.version": "#1 SMP PREEMPT_RT"}, "rt"),
    ],
)
def test_a_core_is_told_by_its_running_and_not_by_the_config(values: dict[str, Any], model: str) -> None:
    assert preemption_of({"facts": 1, "values": values, "missing": {}}) == model


def test_a_model_that_no_parameter_selects_is_spelt_as_it_is() -> None:
    assert [spelt(model) for model in ("none", "rt", "cobalt", "evl")] == [
        "preempt=none",
        "rt",
        "cobalt",
        "evl",
    ]
