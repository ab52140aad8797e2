"""Whether the caller may have a real-time priority: CAP_SYS_NICE, RLIMIT_RTPRIO."""

from __future__ import annotations

from howlate.model.cause import OF_USERS, Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import (
    CONTAINER_OPTIONS,
    GRANT,
    LACKING,
    NOT_NEEDED,
    Judgement,
    as_root,
    granting,
    late,
    ok,
    real_time,
    unknown,
)

LIMITS = "`@realtime - rtprio 99` in /etc/security/limits.conf (check: `ulimit -r`)"

TITLE = "Right to real-time priorities"
WHY = (
    "Without it the measuring task is an ordinary one: it waits for its turn behind every other task, "
    "for milliseconds under load."
)
WEIGHT = 99
CAUSES = (Cause.HIGHER_TASK,)
ABOUT = {Cause.HIGHER_TASK: OF_USERS}


def judge(facts: Facts, aim: Aim) -> Judgement:
    if not real_time(aim):
        return ok(NOT_NEEDED())
    capable, limit = facts.flag("caller.cap_sys_nice"), facts.integer("caller.limit_rtprio")
    if not capable and (capable is None or limit is None):
        return unknown(facts, "caller.cap_sys_nice" if capable is None else "caller.limit_rtprio")
    if not capable and not _is_enough(limit or 0, aim):
        return _lacking(facts, limit or 0)
    if facts.flag("caller.real_time") is False and facts.integer("cgroup.rt_runtime_us") != 0:
        if facts.flag("caller.seccomp_filter"):
            return late(
                "allowed, but a seccomp filter forbids it",
                "start it without the filter: a unit of systemd with `RestrictRealtime=no`, a container with "
                "`--security-opt seccomp=unconfined`",
            )
        return late(
            "allowed, but the kernel refuses it, and not because of a seccomp filter or a cgroup's share",
            "look for a security module's rule; or for RT group scheduling, which `rt_group_sched=0` on the "
            "kernel's command line switches off",
        )
    if capable:
        return ok("CAP_SYS_NICE")
    return ok("RLIMIT_RTPRIO {limit}", limit="unlimited" if (limit or 0) < 0 else limit)


def _is_enough(limit: int, aim: Aim) -> bool:
    return aim.policy != "deadline" and (limit < 0 or limit >= aim.priority)


def _lacking(facts: Facts, limit: int) -> Judgement:
    """The missing right and how to get it, as the probe says it (sys/sched.cpp)."""
    found = LACKING(capability="CAP_SYS_NICE", resource="RLIMIT_RTPRIO", limit=limit)
    if facts.flag("caller.user_namespace"):
        return late(
            "the scheduler ignores CAP_SYS_NICE of this user namespace (a rootless container, `unshare -U`), and "
            "RLIMIT_RTPRIO is {limit}",
            f"outside of it, {LIMITS}, and for a container `--ulimit rtprio=99 --ulimit memlock=-1`; or a container "
            f"that root starts with `{CONTAINER_OPTIONS}`",
            limit=limit,
        )
    if facts.flag("caller.grantable_sys_nice") is False:
        return late(
            found,
            f"start the container with `{CONTAINER_OPTIONS}`; a unit of systemd with "
            "`CapabilityBoundingSet=CAP_SYS_NICE CAP_IPC_LOCK`",
        )
    return late(
        found,
        f"{GRANT}{LIMITS}" if granting(facts) else f"{{as_root}}; or {LIMITS}",
        grant=granting(facts),
        as_root=as_root(facts),
    )
