"""What a probe says of itself."""

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
    "loads": [
        {
            "name": "network",
            "target": {},
            "params": [{"name": "card", "type": "choice", "default": "none"}],
            "modules": [{"name": "veth", "option": "card", "value": "none"}, {"name": "mii"}],
            "devices": [{"name": "ne2k", "option": "card", "value": "ne2k"}],
        }
    ],
}


def irq() -> capabilities.TestKind:
    (test,) = capabilities.Capabilities.from_json(PROBE).tests
    return test


def names(needs: tuple[capabilities.Need, ...]) -> tuple[str, ...]:
    return tuple(need.name for need in needs)


def test_a_need_holds_where_its_option_has_that_value_by_default_or_as_given() -> None:
    assert names(irq().used(irq().modules, {})) == ("always", "timer")
    assert names(irq().used(irq().modules, {"source": "hpet"})) == ("always", "chip")
    assert names(irq().used(irq().modules, {"source": "timerlat", "load": ()})) == ("always",)


def test_a_device_is_had_only_where_it_is_asked_for() -> None:
    assert names(irq().used(irq().devices, {})) == ()
    assert names(irq().used(irq().devices, {"source": "edu"})) == ("edu",)


def test_a_load_uses_what_it_is_written_with() -> None:
    (load,) = capabilities.Capabilities.from_json(PROBE).loads
    seen = {
        spec: (
            [n.name for n in load.used(load.modules, spec)],
            [n.name for n in load.used(load.devices, spec)],
        )
        for spec in ("network", "network:9,cpus=0,2", "network:flood,cpus=0,2,card=ne2k")
    }
    assert list(seen.values()) == [(["veth", "mii"], []), (["veth", "mii"], []), (["mii"], ["ne2k"])]
    assert [capabilities.spec_name(spec) for spec in seen] == ["network"] * 3
