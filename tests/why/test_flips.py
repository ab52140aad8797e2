"""Which value of each knob is tried on a machine, and the study that is made of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities
from howlate.model.facts import Aim, Facts
from howlate.settings import settings
from howlate.settings._setting import NO_OTHER_CPU
from howlate.why.advise.flip import AGAIN, START, TOGETHER, Flip, knobs_of
from howlate.why.advise.flips import Measuring, flips_of, parse_knobs, study_of
from howlate.words.say import english

KNOBS = Path(__file__).parents[2] / "probe" / "src" / "knobs"
MISSING = "it is not there"
MACHINES = Path(__file__).parents[1] / "fixtures" / "machines"


def can(*unavailable: str) -> Capabilities:
    """A probe with every knob of the source tree."""
    knobs = [
        {"name": name, "available": name not in unavailable, "reason": f"{MISSING}."}
        for name in sorted(path.stem for path in KNOBS.glob("*.cpp"))
    ]
    return Capabilities.from_json({"probe": "0", "tests": [], "knobs": knobs})


def facts(**values: Any) -> Facts:
    return Facts({"cpu.online": "0-3", **{name.replace("__", "."): v for name, v in values.items()}})


def tried(machine: Facts, named: str = "") -> dict[str, str]:
    return {flip.knob: flip.value for flip in flips_of(can(), machine, Aim((3,)), named).tried}


def reasons(machine: Facts, *unavailable: str, named: str = "") -> dict[str, str]:
    flips = flips_of(can(*unavailable), machine, Aim((0,)), named)
    return {each.knob: english(each.reason) for each in flips.not_tried}


@pytest.mark.parametrize("name", sorted(path.stem for path in MACHINES.glob("*.json")))
def test_every_knob_of_a_captured_machine_is_tried_or_said_why_not(name: str) -> None:
    machine = Facts.from_json(json.loads((MACHINES / f"{name}.json").read_text()))
    flips = flips_of(can("governor"), machine, Aim())
    named = [flip.knob for flip in flips.tried] + [each.knob for each in flips.not_tried]
    assert sorted(named) == sorted(settings())
    assert all(english(each.statement) for each in flips.not_tried)


@pytest.mark.parametrize(
    ("values", "knob", "value"),
    [
        ({"memory__thp": "always [madvise] never"}, "thp", "never"),
        ({"memory__thp": "always madvise [never]"}, "thp", "always"),
        ({"sched__timer_migration": 1}, "timer_migration", "off"),
        ({"sched__timer_migration": 0}, "timer_migration", "on"),
        ({"sched__rt_runtime_us": 950000}, "rt_throttling", "off"),
        ({"sched__rt_runtime_us": -1}, "rt_throttling", "950000"),
        ({"watchdog__nmi": 1}, "nmi_watchdog", "off"),
        ({"cpu__turbo": "off"}, "turbo", "on"),
        ({}, "irq_affinity", "away"),
        ({"workqueue__cpumask": "f"}, "workqueue_cpumask", "away"),
        ({"clock__source": "hpet", "clock__available": "tsc hpet acpi_pm"}, "clock_source", "tsc"),
        ({"memory__compaction": 20}, "compaction", "0"),
        ({"sched__fair_server": [{"runtime_ns": 50_000_000, "cpus": "0-3"}]}, "fair_server", "off"),
        ({"sched__fair_server": [{"runtime_ns": None, "cpus": "0-3"}]}, "fair_server", "off"),
        ({"memory__ksm": 1}, "ksm", "off"),
        ({"mce__check_interval_s": "300"}, "mce_polling", "0"),
        ({"sched__numa_balancing": 1}, "numa_balancing", "off"),
        ({"kernel__preempt_mode": "(none) voluntary full"}, "preemption", "full"),
        ({"sched__rcu_normal": 0}, "rcu_normal", "on"),
        ({"watchdog__soft": 1}, "soft_watchdog", "off"),
        ({"memory__stat_interval_s": 1}, "stat_interval", "120"),
    ],
)
def test_a_knob_is_flipped_to_a_value_that_is_not_in_force(
    values: dict[str, Any], knob: str, value: str
) -> None:
    assert tried(facts(**values))[knob] == value


@pytest.mark.parametrize(
    ("values", "knob"),
    [
        ({"cpu__dma_latency_us": 0}, "cpu_dma_latency"),
        ({"workqueue__cpumask": "6"}, "workqueue_cpumask"),
        ({"cpu__frequency": [{"governor": "performance"}]}, "governor"),
        ({"cpu__idle_states": [{"latency_us": 0}, {"latency_us": 9, "disabled": True}]}, "c_states"),
        ({"clock__source": "tsc", "clock__available": "tsc hpet"}, "clock_source"),
        ({"memory__compaction": 0}, "compaction"),
        ({"sched__fair_server": [{"runtime_ns": 0, "cpus": "0-3"}]}, "fair_server"),
        ({"memory__ksm": 0}, "ksm"),
        ({"memory__ksm": 2}, "ksm"),
        ({"mce__check_interval_s": "0"}, "mce_polling"),
        ({"sched__numa_balancing": 0}, "numa_balancing"),
        ({"kernel__preempt_mode": "none voluntary (full)"}, "preemption"),
        ({"sched__rcu_normal": 1}, "rcu_normal"),
        ({"watchdog__soft": 0}, "soft_watchdog"),
        ({"memory__stat_interval_s": 120}, "stat_interval"),
    ],
)
def test_what_is_in_force_already_is_not_tried(values: dict[str, Any], knob: str) -> None:
    machine = facts(**{"cpu__online": "0-3", **values})
    assert "in force" in reasons(machine)[knob]
    assert knob in tried(facts(clock__available="tsc"))


def test_a_knob_that_the_probe_cannot_change_is_named_with_the_probes_reason() -> None:
    assert reasons(facts(), "thp")["thp"] == MISSING


def test_one_cpu_leaves_nowhere_to_move_anything() -> None:
    why = reasons(facts(cpu__online="0"))
    del why["clock_source"], why["core_gravity"]
    assert set(why) == {"cpuset", "irq_affinity", "workqueue_cpumask"}
    assert set(why.values()) == {english(NO_OTHER_CPU())}


def test_a_cpuset_divides_the_machine_and_is_tried_only_if_it_is_named() -> None:
    assert "cpuset" not in tried(facts())
    assert "--knobs cpuset" in reasons(facts())["cpuset"]
    assert tried(facts(), "cpuset") == {"cpuset": "3"}
    assert tried(facts(), "cpuset=1-2") == {"cpuset": "1-2"}


def test_the_gravity_of_a_core_is_no_remedy_and_is_tried_only_if_it_is_named() -> None:
    assert "core_gravity" not in tried(facts())
    assert "--knobs core_gravity" in reasons(facts())["core_gravity"]
    assert tried(facts(), "core_gravity") == {"core_gravity": "0"}


def test_a_cpuset_of_cgroup_v2_is_not_tried() -> None:
    assert "cgroup v2" in reasons(facts(cgroup__version="v2"))["cpuset"]


def test_named_knobs_are_tried_with_the_value_that_is_given() -> None:
    found = tried(facts(), named="thp=madvise,workqueue_cpumask=0,2,timer_migration")
    assert found == {"thp": "madvise", "workqueue_cpumask": "0,2", "timer_migration": "off"}


@pytest.mark.parametrize("named", ["thq", "thp,,turbo", "thp=", "=never", "thp,thp", "thp=never,thp=never"])
def test_names_that_are_wrong_are_refused(named: str) -> None:
    with pytest.raises(UsageError) as refused:
        flips_of(can(), facts(), Aim(), named)
    assert refused.value.remedy


def test_values_of_one_knob_may_be_several() -> None:
    assert parse_knobs("thp=never,thp=always") == [Flip("thp", "never"), Flip("thp", "always")]


MEASURING = Measuring("cyclic", {"period": "1ms", "knob": ("thp=always", "turbo=off")}, ("none", "disk"))


def test_each_side_differs_from_the_start_by_its_knob_alone() -> None:
    flips = [Flip("thp", "never"), Flip("timer_migration", "off")]
    study = study_of(MEASURING, flips, 12, 7)
    start, *sides = study.parts
    assert start.id == START and start.settings == dict(MEASURING.settings)
    assert [part.id for part in sides] == ["thp-never", "timer-migration-off"]
    assert set(knobs_of(sides[0].settings)) == {"turbo=off", "thp=never"}
    assert set(knobs_of(sides[1].settings)) == {"turbo=off", "thp=always", "timer_migration=off"}
    for part in study.parts:
        assert part.axes == {"load": ("none", "disk")}
        assert {**part.settings, "knob": ()} == {**start.settings, "knob": ()}
    assert (study.order.kind, study.order.seed, study.order.repetitions) == ("random", 7, 12)


def test_what_helps_is_measured_together_beside_a_start_of_its_own() -> None:
    flips = [Flip("thp", "never"), Flip("rt_throttling", "off")]
    first = study_of(MEASURING, flips, 12, 7)
    second = study_of(MEASURING, flips, 12, 7, together=flips)
    assert second.parts[: len(first.parts)] == first.parts
    assert [part.id for part in second.parts[len(first.parts) :]] == [AGAIN, TOGETHER]
    assert {"thp=never", "rt_throttling=off"} <= set(knobs_of(second.parts[-1].settings))
    in_the_lab = study_of(MEASURING, flips, 12, 7, together=flips, again=False)
    assert [part.id for part in in_the_lab.parts[len(first.parts) :]] == [TOGETHER]
