"""What the doctor says of whole machines, and that no odd fact takes it down."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import howlate.doctor
from howlate.doctor import checks, examine
from howlate.errors import DamagedError, HowlateError
from howlate.model.facts import LEVELS, Aim, Facts, Finding
from howlate.settings import settings

MACHINES = Path(__file__).parents[1] / "fixtures" / "machines"


def machine(name: str) -> Facts:
    return Facts.from_json(json.loads((MACHINES / f"{name}.json").read_text()))


def named(findings: tuple[Finding, ...], level: str) -> set[str]:
    return {finding.check for finding in findings if finding.level == level}


LATE = {
    "guest-6.18-dynamic": {"preempt_dynamic", "hypervisor", "steal", "irq_affinity"},
    "desktop-debian-12": {
        "limit_rtprio", "preempt_dynamic", "c_states", "competing_tasks", "governor", "thermal_throttling",
        "limit_memlock",
    },
    "rt-box-tuned": set(),
    "arm-board-no-cpufreq": set(),
    "container-quota-cpuset": {
        "limit_rtprio", "preemption", "c_states", "governor", "limit_memlock", "numa_balancing", "huge_pages",
    },
    "old-5.10-rt-hpet": {"rt_group_sched", "tracing", "c_states", "clock_source", "competing_tasks"},
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(LATE))
def test_what_makes_a_machine_late(name: str) -> None:
    assert named(examine(machine(name)), "late") == LATE[name]


def test_every_captured_machine_is_expected() -> None:
    assert {path.stem for path in MACHINES.glob("*.json")} == set(LATE)


def test_a_tuned_machine_is_nearly_in_order() -> None:
    findings = examine(machine("rt-box-tuned"), Aim(cpus=(2, 3)))
    assert not named(findings, "late")
    younger = {
        each.check for each in settings().values() if each.facts[0] not in machine("rt-box-tuned").values
    }
    assert named(findings, "unknown") <= younger
    assert named(findings, "note") == {"kernel_threads", "cpu_dma_latency"}


def test_a_board_without_cpufreq_is_told_apart_from_one_that_cannot_be_read() -> None:
    assert "governor" in named(examine(machine("arm-board-no-cpufreq")), "ok")
    assert "governor" in named(examine(Facts({}, {"cpu.frequency": "no cpufreq folder"})), "unknown")


def test_a_container_is_told_which_cpus_and_how_much_of_them_it_has() -> None:
    facts = machine("container-quota-cpuset")
    findings = {finding.check: finding for finding in examine(facts, Aim(policy="other"))}
    assert findings["cgroup_quota"].level == "late"
    assert "1.5 CPUs" in findings["cgroup_quota"].text
    assert findings["cpuset"].level == "note"
    assert {one.check: one.level for one in examine(facts, Aim(cpus=(0,)))}["cpuset"] == "late"


def test_findings_come_by_level_and_then_by_weight() -> None:
    findings = examine(machine("desktop-debian-12"))
    assert [(LEVELS.index(one.level), -one.weight) for one in findings] == sorted(
        (LEVELS.index(one.level), -one.weight) for one in findings
    )
    assert findings[0].check == "limit_rtprio"


def test_findings_and_facts_survive_json() -> None:
    facts = machine("desktop-debian-12")
    assert Facts.from_json(json.loads(json.dumps(facts.to_json()))) == facts
    for finding in examine(facts):
        assert Finding.from_json(json.loads(json.dumps(finding.to_json()))) == finding


@pytest.mark.parametrize(
    "value", [None, [], {"facts": 2}, {"facts": 1}, {"facts": 1, "values": {}, "missing": {"a": 1}}]
)
def test_what_are_no_facts_is_refused(value: Any) -> None:
    with pytest.raises(DamagedError):
        Facts.from_json(value)


KEYS = sorted(machine("rt-box-tuned").values)
CPU_TEXT = st.sampled_from(["", "0", "0-3", "2", "x", "3-1", "(null)", "9999999999999", "0-7:1/2", "0-7:1/0"])
SCALAR = st.none() | st.booleans() | st.integers(-2, 2**40) | st.text(max_size=20) | CPU_TEXT
ROW_KEYS = st.sampled_from(
    [
        "name",
        "cpus",
        "counts",
        "governor",
        "min_khz",
        "latency_us",
        "priority",
        "policy",
        "kernel",
        "effective",
        "irq",
    ]
)
ROW = st.dictionaries(ROW_KEYS, SCALAR | st.dictionaries(CPU_TEXT, SCALAR, max_size=2), max_size=5)
JUNK = SCALAR | st.lists(SCALAR | ROW, max_size=3) | st.dictionaries(st.text(max_size=5), SCALAR, max_size=3)


@hypothesis_settings(max_examples=100)
@given(
    st.dictionaries(st.sampled_from(KEYS), JUNK, max_size=12), st.sampled_from(["fifo", "other", "deadline"])
)
def test_odd_facts_never_take_the_doctor_down(odd: dict[str, Any], policy: str) -> None:
    facts = Facts({**machine("desktop-debian-12").values, **odd})
    for cpus in ((), (1,), (77,)):
        assert len(examine(facts, Aim(cpus, policy, 80))) == len(checks())


@pytest.mark.parametrize(
    "text", ["import no_such_module_anywhere\n", '"""A check without a judge."""\nTITLE = "x"\n']
)
def test_a_check_that_is_none_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "broken_check.py").write_text(text)
    monkeypatch.setattr(howlate.doctor, "__path__", [*howlate.doctor.__path__, str(tmp_path)])
    checks.cache_clear()
    try:
        with pytest.raises((ImportError, HowlateError)):
            checks()
    finally:
        checks.cache_clear()


@pytest.mark.parametrize("name", sorted(LATE))
def test_a_finding_is_the_same_after_json_and_holds_its_rule_and_values(name: str) -> None:
    for finding in examine(machine(name)):
        stored = json.loads(json.dumps(finding.to_json()))
        assert stored["rule"].startswith("doctor.")
        assert isinstance(stored["values"], dict)
        assert Finding.from_json(stored) == finding


def test_a_finding_of_an_older_howlate_keeps_its_text() -> None:
    stored = examine(machine("old-5.10-rt-hpet"))[0].to_json()
    del stored["rule"], stored["values"]
    finding = Finding.from_json(stored)
    assert (finding.text, finding.change) == (stored["found"], stored["change"])
