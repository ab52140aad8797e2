"""Each check says late or note, ok, and unknown where it should: one change of a tuned machine at a time."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from howlate.doctor import checks, examine
from howlate.model.facts import Aim, Facts, Finding
from howlate.settings import settings
from howlate.settings._check import measuring_cpus

KNOBS = Path(__file__).parents[2] / "probe" / "src" / "knobs"
MACHINES = Path(__file__).parents[1] / "fixtures" / "machines"
TUNED = json.loads((MACHINES / "rt-box-tuned.json").read_text())
ON_TWO = Aim(cpus=(2,), policy="fifo", priority=80)
ORDINARY = Aim(cpus=(2,), policy="other", priority=0)

OF_SETTINGS = {fact for setting in settings().values() for fact in setting.facts}
"""These need not be in a machine that was captured before the knob came."""

GONE = object()
"""This fact is null, because the machine does not have the thing."""
UNREAD = object()
"""This fact is null, because it could not be read."""


COBALT = {
    "cobalt.version": "3.3.1",
    "cobalt.state": "running",
    "cobalt.smi": "detect",
    "cobalt.gravity": "0i 2000k 2000u",
    "cobalt.clock": "timer=lapic, clock=<Linux clocksource>",
}
EVL = {
    "evl.abi": "32",
    "evl.state": "running",
    "evl.cpus": "0-1",
    "evl.clock": "monotonic, clock=tsc",
    "evl.gravity": "0i 2000k 2000u",
    "evl.caller_admitted": True,
}


def facts(changes: dict[str, Any]) -> Facts:
    values, missing = dict(TUNED["values"]), dict(TUNED["missing"])
    for key, value in changes.items():
        assert key in values or key in OF_SETTINGS, f"the probe captures no {key}"
        missing.pop(key, None)
        values[key] = None if value in (GONE, UNREAD) else value
        if value is GONE:
            missing[key] = "/sys/somewhere: No such file or directory"
        if value is UNREAD:
            missing[key] = "/sys/somewhere: Permission denied"
    gone = Facts.from_json(TUNED).absent - set(changes)
    return Facts(values, missing, gone | {key for key, value in changes.items() if value is GONE})


def finding(name: str, changes: dict[str, Any], aim: Aim) -> Finding:
    found = [one for one in examine(facts(changes), aim) if one.check == name]
    assert len(found) == 1
    return found[0]


def config(**options: str) -> dict[str, Any]:
    return {"kernel.config": {"HZ": "250", "HIGH_RES_TIMERS": "y", **options}}


def standard(version: str = "#1 SMP PREEMPT_DYNAMIC Debian", **options: str) -> dict[str, Any]:
    return {
        "kernel.version": version,
        "kernel.realtime": GONE,
        "kernel.cmdline": "quiet",
        **config(**options),
    }


def task(name: str, policy: str, priority: int, kernel: bool = False, cpus: str = "0-3") -> dict[str, Any]:
    row = {"name": name, "policy": policy, "priority": priority, "kernel": kernel, "cpus": cpus}
    return {"tasks.real_time": [row]}


def idle(latency_us: int, disabled: bool = False, limit: int = 2_000_000_000) -> dict[str, Any]:
    row = {"state": 1, "name": "C6", "latency_us": latency_us, "disabled": disabled, "cpus": "0-3"}
    return {"cpu.idle_states": [row], "cpu.dma_latency_us": limit}


def frequency(governor: str, preference: str | None = None, low: int = 800_000) -> dict[str, Any]:
    row = {
        "governor": governor,
        "min_khz": low,
        "max_khz": 2_800_000,
        "preference": preference,
        "cpus": "0-3",
    }
    return {"cpu.frequency": [row]}


def interrupt(counts: dict[str, int], effective: str = "2") -> dict[str, Any]:
    row = {"irq": "40", "name": "PCI-MSI eth0", "affinity": "0-3", "effective": effective, "counts": counts}
    return {"irq.devices": [row]}


PLAIN = {"kernel.cmdline": "quiet"}
CASES: list[tuple[str, str, dict[str, Any], Aim]] = [
    ("preemption", "ok", {}, ON_TWO),
    ("preemption", "ok",
     {"kernel.realtime": GONE, **standard("#1 SMP PREEMPT RT 4.9"), "kernel.config": None}, ON_TWO),
    ("preemption", "late", standard("#1 SMP", PREEMPT_VOLUNTARY="y"), ON_TWO),
    ("preemption", "late", standard("#1 SMP") | {"kernel.config": None}, ON_TWO),
    ("preemption", "note", standard("#1 SMP PREEMPT", PREEMPT="y"), ON_TWO),
    ("preemption", "note", standard(PREEMPT_DYNAMIC="y"), ON_TWO),
    ("preempt_dynamic", "ok", {}, ON_TWO),
    ("preempt_dynamic", "ok",
     standard(PREEMPT_DYNAMIC="y") | {"kernel.preempt_mode": "none voluntary (full)"}, ON_TWO),
    ("preempt_dynamic", "late",
     standard(PREEMPT_DYNAMIC="y") | {"kernel.preempt_mode": "(none) full"}, ON_TWO),
    ("preempt_dynamic", "late", standard(PREEMPT_DYNAMIC="y", PREEMPT_VOLUNTARY="y"), ON_TWO),
    ("preempt_dynamic", "ok", standard(PREEMPT_DYNAMIC="y") | {"kernel.cmdline": "preempt=full"}, ON_TWO),
    ("preempt_dynamic", "unknown", standard() | {"kernel.config": None}, ON_TWO),
    ("tick_rate", "ok", {}, ON_TWO),
    ("tick_rate", "late", {"kernel.config": {"HZ": "100"}}, ON_TWO),
    ("tick_rate", "late", {"kernel.cmdline": "highres=off"}, ON_TWO),
    ("tick_rate", "note", {"kernel.cmdline": "nohz=off"}, ON_TWO),
    ("clock_source", "ok", {"clock.source": "arch_sys_counter"}, ON_TWO),
    ("clock_source", "late", {"clock.source": "hpet"}, ON_TWO),
    ("clock_source", "late", {"clock.source": "acpi_pm"}, ON_TWO),
    ("clock_source", "note", {"clock.source": "kvm-clock"}, ON_TWO),
    ("rt_throttling", "ok", {}, ON_TWO),
    ("rt_throttling", "note", {"sched.rt_runtime_us": 950_000, **config(RT_GROUP_SCHED="y")}, ON_TWO),
    ("rt_throttling", "ok", {"sched.rt_runtime_us": 950_000}, ON_TWO),
    ("rt_throttling", "note", {"sched.rt_runtime_us": 950_000, "kernel.release": "6.1.0"}, ON_TWO),
    ("rt_throttling", "late", {"sched.rt_runtime_us": 100_000}, ON_TWO),
    ("rt_throttling", "ok", {"sched.rt_runtime_us": 100_000}, ORDINARY),
    ("fair_server", "ok", {}, ON_TWO),
    ("fair_server", "note", {}, Aim(cpus=(0,))),
    ("fair_server", "ok", {"kernel.release": "6.1.0", "sched.fair_server": GONE}, ON_TWO),
    ("fair_server", "unknown", {"sched.fair_server": GONE}, ON_TWO),
    ("timer_slack", "ok", {}, ON_TWO),
    ("timer_slack", "late", {}, ORDINARY),
    ("timer_slack", "ok", {"caller.timer_slack_ns": 1}, ORDINARY),
    ("timer_slack", "unknown", {"caller.timer_slack_ns": GONE}, ORDINARY),
    ("governor", "ok", {}, ON_TWO),
    ("governor", "ok", {"cpu.frequency": GONE}, ON_TWO),
    ("governor", "late", frequency("schedutil"), ON_TWO),
    ("governor", "ok", frequency("schedutil", low=2_800_000), ON_TWO),
    ("governor", "note", frequency("powersave", "performance"), ON_TWO),
    ("turbo", "ok", {}, ON_TWO),
    ("turbo", "ok", {"cpu.turbo": GONE}, ON_TWO),
    ("turbo", "note", {"cpu.turbo": "on"}, ON_TWO),
    ("c_states", "ok", {}, ON_TWO),
    ("c_states", "late", idle(100), ON_TWO),
    ("c_states", "ok", idle(100, disabled=True), ON_TWO),
    ("c_states", "ok", idle(100, limit=20), ON_TWO),
    ("c_states", "note", idle(5), ON_TWO),
    ("c_states", "ok", idle(100) | {"kernel.cmdline": "idle=poll"}, ON_TWO),
    ("cpu_dma_latency", "note", {}, ON_TWO),
    ("cpu_dma_latency", "note", idle(100), ON_TWO),
    ("cpu_dma_latency", "ok", idle(1), ON_TWO),
    ("smt", "ok", {}, ON_TWO),
    ("smt", "note", {"cpu.smt_active": 1, "cpu.siblings": ["0,2", "1,3"]}, ON_TWO),
    ("smt", "ok", {"cpu.smt_active": 1, "cpu.siblings": ["0,6", "2,7"]}, ON_TWO),
    ("isolation", "ok", {}, ON_TWO),
    ("isolation", "note", {}, Aim(cpus=(1,))),
    ("isolation", "late", {}, Aim(cpus=(1,), policy="other")),
    ("isolation", "note", {"cpu.nohz_full": GONE, **PLAIN}, ON_TWO),
    ("isolation", "ok", {"cpu.online": "0", "cpu.isolated": ""}, Aim(cpus=(0,))),
    ("irq_affinity", "ok", {}, ON_TWO),
    ("irq_affinity", "note", interrupt({"2": 7}), ON_TWO),
    ("irq_affinity", "late", interrupt({"2": 10_000_000}) | standard(), ON_TWO),
    ("irq_affinity", "ok", interrupt({"2": 10_000_000}, effective="0") | standard(), ON_TWO),
    ("swap", "ok", {}, ON_TWO),
    ("swap", "note", {"memory.swap_total_kib": 4096}, ON_TWO),
    ("huge_pages", "ok", {}, ON_TWO),
    ("huge_pages", "ok", {"memory.thp": GONE}, ON_TWO),
    ("huge_pages", "note", {"memory.thp": "[always] madvise never"}, ON_TWO),
    ("huge_pages", "late", {"memory.thp": "[always] never", "memory.thp_defrag": "[always] never"}, ON_TWO),
    ("timer_migration", "ok", {}, ON_TWO),
    ("timer_migration", "note", {"sched.timer_migration": 1}, ON_TWO),
    ("timer_migration", "ok", {"sched.timer_migration": 1, "cpu.online": "2"}, ON_TWO),
    ("compaction", "ok", {}, ON_TWO),
    ("compaction", "ok", {"memory.compaction": GONE}, ON_TWO),
    ("compaction", "note", {"memory.compaction": 20}, ON_TWO),
    ("rcu_normal", "ok", {}, ON_TWO),
    ("rcu_normal", "ok", {"sched.rcu_normal": GONE}, ON_TWO),
    ("rcu_normal", "note", {"sched.rcu_normal": 0}, ON_TWO),
    ("stat_interval", "ok", {}, ON_TWO),
    ("stat_interval", "ok", {"memory.stat_interval_s": GONE}, ON_TWO),
    ("stat_interval", "note", {"memory.stat_interval_s": 1}, ON_TWO),
    ("debug_options", "ok", {}, ON_TWO),
    ("debug_options", "late", config(KASAN="y"), ON_TWO),
    ("debug_options", "late", config(PROVE_LOCKING="y", LOCKDEP="y"), ON_TWO),
    ("debug_options", "late", {"kernel.cmdline": "slub_debug=FZP"}, ON_TWO),
    ("debug_options", "ok",
     {"kernel.cmdline": "slub_debug=- kmemleak=off", **config(DEBUG_KMEMLEAK="y")}, ON_TWO),
    ("debug_options", "note", config(DEBUG_PREEMPT="y"), ON_TWO),
    ("hypervisor", "ok", {}, ON_TWO),
    ("hypervisor", "late", {"machine.hypervisor": "KVMKVMKVM"}, ON_TWO),
    ("steal", "ok", {}, ON_TWO),
    ("steal", "note", {"cpu.steal_ticks": 1}, ON_TWO),
    ("steal", "late", {"cpu.steal_ticks": 10_000, "cpu.total_ticks": 100_000}, ON_TWO),
    ("competing_tasks", "ok", {}, ON_TWO),
    ("competing_tasks", "late", task("multipathd", "rr", 99), ON_TWO),
    ("competing_tasks", "late", task("equal", "fifo", 80), ON_TWO),
    ("competing_tasks", "late", task("reserved", "deadline", 0), ON_TWO),
    ("competing_tasks", "late", task("low", "fifo", 1), ORDINARY),
    ("competing_tasks", "note", task("low", "fifo", 79), ON_TWO),
    ("competing_tasks", "ok", task("elsewhere", "fifo", 99, cpus="0-1"), ON_TWO),
    ("competing_tasks", "ok", task("migration/2", "fifo", 99, kernel=True), ON_TWO),
    ("kernel_threads", "note", {}, ON_TWO),
    ("kernel_threads", "late", task("irq/40-eth0", "fifo", 80, kernel=True), ON_TWO),
    ("kernel_threads", "late", task("rcuc/2", "fifo", 90, kernel=True, cpus="2"), ON_TWO),
    ("kernel_threads", "ok", task("irq/40-eth0", "fifo", 50, kernel=True), ON_TWO),
    ("kernel_threads", "ok", task("ktimers/0", "fifo", 1, kernel=True, cpus="0"), ON_TWO),
    ("kernel_threads", "note", task("irq/40-eth0", "fifo", 50, kernel=True), ORDINARY),
    ("threadirqs", "ok", {}, ON_TWO),
    ("threadirqs", "note", standard(IRQ_FORCED_THREADING="y"), ON_TWO),
    ("threadirqs", "ok", standard() | {"kernel.cmdline": "threadirqs"}, ON_TWO),
    ("threadirqs", "unknown", standard() | {"kernel.cmdline": GONE}, ON_TWO),
    ("cgroup_quota", "ok", {}, ON_TWO),
    ("cgroup_quota", "late", {"cgroup.cpu_quota_us": 50_000, "cgroup.cpu_period_us": 100_000}, ORDINARY),
    ("cgroup_quota", "note", {"cgroup.cpu_quota_us": 50_000, "cgroup.cpu_period_us": 100_000}, ON_TWO),
    ("cpuset", "ok", {}, ON_TWO),
    ("cpuset", "late", {"cgroup.cpuset": "0-1"}, ON_TWO),
    ("cpuset", "late", {"caller.cpus_allowed": "0-1"}, ON_TWO),
    ("cpuset", "note", {"cgroup.cpuset": "1-2"}, ON_TWO),
    ("irqbalance", "ok", {}, ON_TWO),
    ("irqbalance", "note", {"tasks.services": ["irqbalance"]}, Aim(cpus=(0,))),
    ("irqbalance", "ok", {"tasks.services": ["irqbalance"]}, ON_TWO),
    ("tracing", "ok", {}, ON_TWO),
    ("tracing", "late", {"trace.tracer": "function", "trace.on": 1}, ON_TWO),
    ("tracing", "ok", {"trace.tracer": "function", "trace.on": 0}, ON_TWO),
    ("tracing", "late", {"trace.events": ["sched:sched_switch"], "trace.on": 1}, ON_TWO),
    ("tracing", "late", {"trace.kprobes": 3}, ON_TWO),
    ("tracing", "note", {"trace.perf_descriptors": 3}, ON_TWO),
    ("numa_balancing", "ok", {}, ON_TWO),
    ("numa_balancing", "late", {"sched.numa_balancing": 1, "memory.numa_nodes": "0-1"}, ON_TWO),
    ("numa_balancing", "ok", {"sched.numa_balancing": 1, "memory.numa_nodes": "0"}, ON_TWO),
    ("numa_balancing", "ok", {"sched.numa_balancing": GONE}, ON_TWO),
    ("ksm", "ok", {}, ON_TWO),
    ("ksm", "note", {"memory.ksm": 1}, ON_TWO),
    ("nmi_watchdog", "ok", {}, ON_TWO),
    ("nmi_watchdog", "ok", {"watchdog.nmi": 1}, ON_TWO),
    ("nmi_watchdog", "note", {"watchdog.nmi": 1}, Aim(cpus=(0,))),
    ("nmi_watchdog", "note", {"watchdog.nmi": GONE, "watchdog.soft": 1, "watchdog.cpus": "0-3"}, ON_TWO),
    ("workqueues", "ok", {}, ON_TWO),
    ("workqueues", "note", {"workqueue.cpumask": "00000000,0000000f"}, ON_TWO),
    ("mce_polling", "ok", {}, ON_TWO),
    ("mce_polling", "note", {"mce.check_interval_s": "300", **PLAIN}, ON_TWO),
    ("mitigations", "ok", {}, ON_TWO),
    ("mitigations", "note", {"cpu.vulnerabilities": {"meltdown": "Mitigation: PTI"}, **PLAIN}, ON_TWO),
    ("thermal_throttling", "ok", {}, ON_TWO),
    ("thermal_throttling", "late", {"cpu.throttled_core": 2}, ON_TWO),
    ("limit_rtprio", "ok", {}, ON_TWO),
    ("limit_rtprio", "late", {"caller.cap_sys_nice": False}, ON_TWO),
    ("limit_rtprio", "late", {"caller.cap_sys_nice": False, "caller.limit_rtprio": 79}, ON_TWO),
    ("limit_rtprio", "ok", {"caller.cap_sys_nice": False, "caller.limit_rtprio": 80}, ON_TWO),
    ("limit_rtprio", "ok", {"caller.cap_sys_nice": False}, ORDINARY),
    ("limit_memlock", "ok", {}, ON_TWO),
    ("limit_memlock", "late", {"caller.cap_ipc_lock": False, "caller.limit_memlock": 65_536}, ON_TWO),
    ("limit_memlock", "ok", {"caller.cap_ipc_lock": False, "caller.limit_memlock": -1}, ON_TWO),
    ("core", "ok", {}, ON_TWO),
    ("core", "note", COBALT, ON_TWO),
    ("core", "note", EVL, ON_TWO),
    ("core", "late", {"cobalt.state": "disabled"}, ON_TWO),
    ("core", "late", {"cobalt.state": "enabled"}, ON_TWO),  # an older probe: asked for, and it did not start
    ("core", "note", {**COBALT, "cobalt.state": "enabled"}, ON_TWO),  # an older probe: it runs
    ("core", "late", {**COBALT, "cobalt.state": "stopped"}, ON_TWO),
    ("core", "late", config(EVL="y"), ON_TWO),
    ("core", "late", {**EVL, "evl.state": "stopped"}, ON_TWO),
    ("core", "late", {"evl.state": "stopped"}, ON_TWO),
    ("core", "unknown", {**COBALT, "cobalt.state": UNREAD}, ON_TWO),
    ("core", "unknown", {**EVL, "evl.state": UNREAD}, ON_TWO),
    ("core_rights", "ok", {}, ON_TWO),
    ("core_rights", "unknown", {**COBALT, "cobalt.state": UNREAD}, ON_TWO),
    ("core_rights", "unknown", {**COBALT, "caller.cap_sys_nice": UNREAD}, ON_TWO),
    ("core_rights", "ok", {**COBALT, "caller.cap_sys_nice": UNREAD, "cobalt.caller_in_group": True}, ON_TWO),
    ("core_rights", "unknown",
     {**COBALT, "caller.cap_sys_nice": False, "cobalt.caller_in_group": UNREAD}, ON_TWO),
    ("core_rights", "late", {**COBALT, "caller.cap_sys_nice": False, "cobalt.caller_in_group": False}, ON_TWO),
    ("core_rights", "unknown", {**COBALT, "caller.named": UNREAD}, ON_TWO),
    ("core_rights", "unknown", {**EVL, "evl.caller_admitted": UNREAD}, ON_TWO),
    ("core_smi", "unknown", {**COBALT, "cobalt.state": UNREAD}, ON_TWO),
    ("core_rights", "ok", COBALT, ON_TWO),
    ("core_rights", "late", {**COBALT, "caller.cap_sys_nice": False}, ON_TWO),
    ("core_rights", "ok", {**COBALT, "caller.cap_sys_nice": False, "cobalt.caller_in_group": True}, ON_TWO),
    ("core_rights", "late", {**COBALT, "cobalt.caller_admitted": False}, ON_TWO),
    ("core_rights", "ok", {**COBALT, "cobalt.caller_admitted": True}, ON_TWO),
    ("core_rights", "note", {**COBALT, "caller.named": False}, ON_TWO),
    ("core_rights", "ok", EVL, ON_TWO),
    ("core_rights", "late", {**EVL, "evl.caller_admitted": False}, ON_TWO),
    ("core_smi", "ok", {}, ON_TWO),
    ("core_smi", "ok", {**COBALT, "cobalt.smi": "enabled"}, ON_TWO),
    ("core_smi", "note", COBALT, ON_TWO),
    ("rt_group_sched", "ok", {}, ON_TWO),
    ("rt_group_sched", "late", {"cgroup.rt_runtime_us": 0, **config(RT_GROUP_SCHED="y")}, ON_TWO),
    ("rt_group_sched", "note", {"cgroup.rt_runtime_us": 950_000, **config(RT_GROUP_SCHED="y")}, ON_TWO),
    ("rt_group_sched", "note", config(RT_GROUP_SCHED="y"), ON_TWO),
]  # fmt: skip


@pytest.mark.parametrize(("name", "level", "changes", "aim"), CASES)
def test_a_check_says_what_the_facts_say(name: str, level: str, changes: dict[str, Any], aim: Aim) -> None:
    found = finding(name, changes, aim)
    assert found.level == level, found
    assert found.text
    assert found.change if level == "late" else True


@pytest.mark.parametrize("name", [check.name for check in checks()])
def test_every_check_has_a_case_in_order_and_one_that_is_not(name: str) -> None:
    levels = {level for check, level, _, _ in CASES if check == name}
    assert "ok" in levels
    assert levels & {"late", "note"}


@pytest.mark.parametrize("name", [check.name for check in checks()])
def test_without_facts_every_check_says_that_it_does_not_know(name: str) -> None:
    aim = ORDINARY if name == "timer_slack" else ON_TWO
    found = next(one for one in examine(Facts({}), aim) if one.check == name)
    assert found.level == "unknown"
    assert "was not captured" in found.text


def test_commands_that_are_proposed_name_knobs_of_the_probe() -> None:
    knobs = {path.stem for path in KNOBS.glob("*.cpp")}
    for name, _, changes, aim in CASES:
        words = finding(name, changes, aim).change.replace("`", " ").split()
        named = [after.split("=")[0] for word, after in pairwise(words) if word == "--knob"]
        assert set(named) <= knobs


@pytest.mark.parametrize(
    ("online", "allowed", "aim", "cpus"),
    [
        ("0-3", "0-3", Aim(), {3}),
        ("0-3", "0,2", Aim(), {2}),
        ("0-2", "0-7", Aim(), {2}),
        ("0-3", "0-1", Aim(every=True), {0, 1}),
        ("0-3", GONE, Aim(), {3}),
        ("0-3", "0-1", Aim(cpus=(2,), every=True), {2}),
        (GONE, GONE, Aim(), {0}),
    ],
)
def test_the_measuring_cpu_is_the_one_that_the_probe_chooses(
    online: object, allowed: object, aim: Aim, cpus: set[int]
) -> None:
    """With isolated CPUs too: it is started on the others, and chooses among these."""
    assert measuring_cpus(facts({"cpu.online": online, "caller.cpus_allowed": allowed}), aim) == cpus


def test_without_an_aim_the_isolated_cpus_are_looked_at() -> None:
    def found(isolated: str) -> tuple[Finding, ...]:
        return examine(facts({"cpu.isolated": isolated, **task("other", "fifo", 90, cpus="2")}))

    assert found("2-3") == examine(facts(task("other", "fifo", 90, cpus="2")), Aim(cpus=(2, 3)))
    assert [f.level for f in found("") if f.check == "competing_tasks"] == ["ok"]


def several(*tasks: dict[str, Any]) -> dict[str, Any]:
    return {"tasks.real_time": [row for each in tasks for row in each["tasks.real_time"]]}


@pytest.mark.parametrize(("name", "is_kernel"), [("competing_tasks", False), ("kernel_threads", True)])
def test_no_priority_is_wanted_above_the_highest(name: str, is_kernel: bool) -> None:
    def change(*of: tuple[str, int]) -> str:
        rows = [task("irq/40-eth0", policy, priority, is_kernel) for policy, priority in of]
        return finding(name, several(*rows), Aim(cpus=(2,), policy="fifo", priority=95)).change

    wanted = {
        "competing_tasks": (
            "give the measuring task a higher priority, or move the competing tasks: `chrt -p`, `taskset -p`",
            "move the competing tasks to other CPUs, or lower their priority: `taskset -p`, `chrt -p`",
        ),
        "kernel_threads": (
            "raise the measuring priority above them (`--set policy=fifo:PRIORITY`), or lower theirs: "
            "`chrt -f -p 50 PID`",
            "lower their priority: `chrt -f -p 50 PID`",
        ),
    }
    possible, impossible = wanted[name]
    assert [change(("fifo", priority)) for priority in (95, 97, 98)] == [possible] * 3
    assert change(("fifo", 99)) == change(("fifo", 97), ("fifo", 99)) == impossible
    if not is_kernel:
        assert change(("deadline", 0)) == impossible
