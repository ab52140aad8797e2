"""What to do about a finding can be done where it is printed: by this caller, with the knobs that can be set."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from howlate.doctor import checks, examine
from howlate.model.facts import Aim, Facts, Finding
from howlate.settings._check import CONTAINER_OPTIONS

TUNED = json.loads((Path(__file__).parents[1] / "fixtures" / "machines" / "rt-box-tuned.json").read_text())
ROOT = {
    "caller.root": True,
    "caller.user_namespace": False,
    "caller.seccomp_filter": False,
    "caller.cap_sys_nice": True,
    "caller.cap_ipc_lock": True,
    "caller.grantable_sys_nice": True,
    "caller.grantable_ipc_lock": True,
    "caller.grantable_sys_admin": True,
    "caller.real_time": True,
    "caller.limit_rtprio": 0,
    "caller.limit_memlock": 65_536,
}
NONE = {"caller.cap_sys_nice": False, "caller.cap_ipc_lock": False, "caller.real_time": False}
USER = ROOT | NONE | {"caller.root": False}
NAMESPACE = ROOT | NONE | {"caller.user_namespace": True}
CONTAINER = (
    ROOT | NONE | {f"caller.grantable_{name}": False for name in ("sys_nice", "ipc_lock", "sys_admin")}
)
FILTERED = ROOT | {"caller.real_time": False, "caller.seccomp_filter": True}
NO_SHARE = ROOT | {"caller.real_time": False, "cgroup.rt_runtime_us": 0}
REFUSED = ROOT | {"caller.real_time": False, "cgroup.rt_runtime_us": 950_000}


def findings(changes: dict[str, Any], here: bool = True) -> dict[str, Finding]:
    values = TUNED["values"] | changes
    facts = Facts(values, {key: "?" for key in TUNED["missing"] if values.get(key) is None})
    return {found.check: found for found in examine(facts, Aim((2,), "fifo", 80), here=here)}


@pytest.mark.parametrize(
    ("caller", "check", "way"),
    [
        (ROOT, "limit_rtprio", ""),
        (USER, "limit_rtprio", "setcap"),
        (USER | {"caller.limit_rtprio": 99, "caller.real_time": True}, "limit_rtprio", ""),
        (NAMESPACE, "limit_rtprio", "--ulimit rtprio=99"),
        (NAMESPACE | {"caller.limit_rtprio": 99, "caller.real_time": True}, "limit_rtprio", ""),
        (CONTAINER, "limit_rtprio", "CapabilityBoundingSet"),
        (CONTAINER | {"caller.root": False}, "limit_rtprio", "CapabilityBoundingSet"),
        (FILTERED, "limit_rtprio", "RestrictRealtime=no"),
        (NO_SHARE, "rt_group_sched", "cgroup.procs"),
        (REFUSED, "limit_rtprio", "rt_group_sched=0"),
    ],
)
def test_a_refused_policy_is_explained_from_what_is_there(
    caller: dict[str, Any], check: str, way: str
) -> None:
    config = {**TUNED["values"]["kernel.config"], "RT_GROUP_SCHED": "y"}
    finding = findings({**caller, "kernel.config": config})[check]
    assert way in finding.change and bool(way) == bool(finding.change) == (finding.level == "late")


def test_root_is_not_told_to_be_root() -> None:
    for caller in (ROOT, NAMESPACE, CONTAINER, FILTERED, NO_SHARE, REFUSED):
        unread = {"trace.tracer": None, "cpu.dma_latency_us": None}
        for one in findings(caller | unread).values():
            assert not re.search(r"\b(run|measure) as root(?! (with all|outside))\b", one.change), one
    told = findings(USER | {"trace.tracer": None})
    assert told["limit_rtprio"].change.startswith("run as root; ")
    assert told["tracing"].change.startswith("run as root, ")
    assert CONTAINER_OPTIONS in findings(CONTAINER)["limit_rtprio"].change
    assert "--cap-add IPC_LOCK" in findings(CONTAINER)["limit_memlock"].change


WHY = "/sys/somewhere may not be written: Operation not permitted"


def knobs(settable: bool) -> list[dict[str, Any]]:
    names = {knob.partition("=")[0] for check in checks() for knob in check.holds}
    why = {} if settable else {"why": WHY}
    return [{"name": name, "settable": settable, **why} for name in sorted(names)]


UNTUNED = {
    "memory.ksm": 1,
    "vm.stat_interval_s": 1,
    "watchdog.nmi": 1,
    "watchdog.cpus": "0-3",
    "memory.thp": "[always] never",
}


@pytest.mark.parametrize("caller", [ROOT, CONTAINER])
def test_a_knob_is_offered_only_where_it_can_be_set(caller: dict[str, Any]) -> None:
    held = {check.name for check in checks() if check.holds}
    can, cannot = (findings(caller | UNTUNED | {"knobs": knobs(settable)}) for settable in (True, False))
    offered = [name for name in held if "howlate probe hold" in can[name].change]
    assert {"ksm", "nmi_watchdog", "huge_pages"} <= set(offered)
    for name in offered:
        assert "howlate" not in cannot[name].change
        assert f"cannot be set: {WHY}" in cannot[name].change


def test_who_is_not_root_sets_a_knob_as_root() -> None:
    told = findings(USER | UNTUNED | {"knobs": knobs(False)})
    assert told["ksm"].change.startswith("as root `howlate probe hold --knob ksm=off`, or ")


def test_another_machine_is_not_given_this_ones_commands() -> None:
    for one in findings(ROOT | UNTUNED | {"knobs": knobs(True)}, here=False).values():
        assert "howlate probe" not in one.change
    assert "`--set knob=ksm=off`" in findings(ROOT | UNTUNED, here=False)["ksm"].change


def test_the_measuring_cpus_are_named_to_a_knob_that_spares_them() -> None:
    told = findings(ROOT | {"workqueue.cpumask": "00000000,0000000f"})["workqueues"].change
    assert told.startswith("`howlate probe hold --cpus 2 --knob workqueue_cpumask=away`")
