"""What a probe says of itself."""

from __future__ import annotations

from howlate.model import capabilities

PROBE = {
    "probe": "1",
    "tests": [
        {
            "name": "irq",
            "params": [{"name": "source", "type": "choice", "default": "module"}],
            "modules": [
                {"name": "always"},
                {"name": "timer", "option": "source", "value": "module"},
                {"name": "chip", "option": "source", "value": "hpet"},
            ],
            "devices": [{"name": "edu", "option": "source", "value": "edu"}],
        }
    ],
}


def irq() -> capabilities.TestKind:
    (test,) = capabilities.Capabilities.from_json(PROBE).tests
    return test


def test_a_need_holds_where_its_option_has_that_value_by_default_or_as_given() -> None:
    assert irq().used(irq().modules, {}) == ("always", "timer")
    assert irq().used(irq().modules, {"source": "hpet"}) == ("always", "chip")
    assert irq().used(irq().modules, {"source": "timerlat", "load": ()}) == ("always",)


def test_a_device_is_had_only_where_it_is_asked_for() -> None:
    assert irq().used(irq().devices, {}) == ()
    assert irq().used(irq().devices, {"source": "edu"}) == ("edu",)
