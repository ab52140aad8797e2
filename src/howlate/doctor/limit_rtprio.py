"""Whether the caller may have a real-time priority: CAP_SYS_NICE, RLIMIT_RTPRIO."""

from __future__ import annotations

from howlate.doctor._check import Verdict, granting, late, ok, real_time, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Right to real-time priorities"
WHY = (
    "Without it the measuring task is an ordinary one: it waits for its turn behind every other, "
    "milliseconds under load."
)
WEIGHT = 99


def judge(facts: Facts, aim: Aim) -> Verdict:
    if not real_time(aim):
        return ok(f"not needed under {aim.policy}")
    capable, limit = facts.flag("caller.cap_sys_nice"), facts.integer("caller.limit_rtprio")
    if capable:
        return ok("CAP_SYS_NICE")
    if capable is None or limit is None:
        return unknown(facts, "caller.cap_sys_nice" if capable is None else "caller.limit_rtprio")
    if aim.policy != "deadline" and (limit < 0 or limit >= aim.priority):
        return ok(f"RLIMIT_RTPRIO {'unlimited' if limit < 0 else limit}")
    found, grant = f"no CAP_SYS_NICE, and RLIMIT_RTPRIO is {limit}", granting(facts)
    if not grant:
        return late(
            found,
            "measure as root; or `@realtime - rtprio 99` in /etc/security/limits.conf (check: `ulimit -r`)",
        )
    return late(
        found,
        f"run as root; or, as root and after each build of the probe, `{grant}` (package libcap2-bin); "
        "or `@realtime - rtprio 99` in /etc/security/limits.conf (check: `ulimit -r`)",
    )
