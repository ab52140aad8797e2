"""Whether the caller may have a real-time priority: CAP_SYS_NICE, RLIMIT_RTPRIO."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import (
    CONTAINER_OPTIONS,
    Judgement,
    as_root,
    granting,
    late,
    ok,
    real_time,
    unknown,
)
from howlate.words.statement import Statement, rule

NOT_NEEDED = rule("doctor.limit_rtprio.not-needed", "not needed under {policy}")
CAPABLE = rule("doctor.limit_rtprio.capable", "CAP_SYS_NICE")
ENOUGH = rule("doctor.limit_rtprio.enough", "RLIMIT_RTPRIO {limit}")
LIMITS = "`@realtime - rtprio 99` in /etc/security/limits.conf (check: `ulimit -r`)"
TOO_LOW_TEXT = "no CAP_SYS_NICE, and RLIMIT_RTPRIO is {limit}"
TOO_LOW = rule(
    "doctor.limit_rtprio.too-low",
    TOO_LOW_TEXT,
    remedy="{as_root}; or, as root and after each build of the probe, `{grant}` (package libcap2-bin); or "
    + LIMITS,
)
TOO_LOW_THERE = rule("doctor.limit_rtprio.too-low-there", TOO_LOW_TEXT, remedy="{as_root}; or " + LIMITS)
IN_NAMESPACE = rule(
    "doctor.limit_rtprio.in-namespace",
    "this is a user namespace (a rootless container, `unshare -U`), whose CAP_SYS_NICE counts for nothing in the "
    "scheduler, and RLIMIT_RTPRIO is {limit}",
    remedy=f"outside of it, {LIMITS}, and for a container `--ulimit rtprio=99 --ulimit memlock=-1`; or a container "
    f"that root starts with `{CONTAINER_OPTIONS}`",
)
NOT_GRANTED = rule(
    "doctor.limit_rtprio.not-granted",
    "CAP_SYS_NICE is not among the capabilities of this container, and RLIMIT_RTPRIO is {limit}",
    remedy=f"start the container with `{CONTAINER_OPTIONS}`; a unit of systemd with "
    "`CapabilityBoundingSet=CAP_SYS_NICE CAP_IPC_LOCK`",
)
FILTERED = rule(
    "doctor.limit_rtprio.filtered",
    "the right is there, and a seccomp filter forbids its use",
    remedy="start it without the filter: a unit of systemd with `RestrictRealtime=no`, a container with "
    "`--security-opt seccomp=unconfined`",
)
REFUSED = rule(
    "doctor.limit_rtprio.refused",
    "the right is there, and the kernel refuses its use; neither a seccomp filter nor a cgroup's share is the reason",
    remedy="look for a security module's rule; or for RT group scheduling, which `rt_group_sched=0` on the kernel's "
    "command line switches off",
)

TITLE = "Right to real-time priorities"
WHY = (
    "Without it the measuring task is an ordinary one: it waits for its turn behind every other task, "
    "for milliseconds under load."
)
WEIGHT = 99
CAUSES = (Cause.HIGHER_TASK,)


def judge(facts: Facts, aim: Aim) -> Judgement:
    if not real_time(aim):
        return ok(NOT_NEEDED(policy=aim.policy))
    capable, limit = facts.flag("caller.cap_sys_nice"), facts.integer("caller.limit_rtprio")
    if not capable and (capable is None or limit is None):
        return unknown(facts, "caller.cap_sys_nice" if capable is None else "caller.limit_rtprio")
    if not capable and not _is_enough(limit or 0, aim):
        return late(_lacking(facts, limit or 0))
    if facts.flag("caller.real_time") is False and facts.integer("cgroup.rt_runtime_us") != 0:
        return late(FILTERED() if facts.flag("caller.seccomp_filter") else REFUSED())
    return ok(CAPABLE() if capable else ENOUGH(limit="unlimited" if (limit or 0) < 0 else limit))


def _is_enough(limit: int, aim: Aim) -> bool:
    return aim.policy != "deadline" and (limit < 0 or limit >= aim.priority)


def _lacking(facts: Facts, limit: int) -> Statement:
    """Why there is no right to it, as the probe says it (sys/sched.cpp)."""
    if facts.flag("caller.user_namespace"):
        return IN_NAMESPACE(limit=limit)
    if facts.flag("caller.grantable_sys_nice") is False:
        return NOT_GRANTED(limit=limit)
    grant, way = granting(facts), as_root(facts)
    return (
        TOO_LOW(limit=limit, grant=grant, as_root=way) if grant else TOO_LOW_THERE(limit=limit, as_root=way)
    )
