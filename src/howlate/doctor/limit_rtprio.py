"""Whether the caller may have a real-time priority: CAP_SYS_NICE, RLIMIT_RTPRIO."""

from __future__ import annotations

from howlate.doctor._check import Judgement, granting, late, ok, real_time, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.words.statement import rule

NOT_NEEDED = rule("doctor.limit_rtprio.not-needed", "not needed under {policy}")
CAPABLE = rule("doctor.limit_rtprio.capable", "CAP_SYS_NICE")
ENOUGH = rule("doctor.limit_rtprio.enough", "RLIMIT_RTPRIO {limit}")
LIMITS = "`@realtime - rtprio 99` in /etc/security/limits.conf (check: `ulimit -r`)"
TOO_LOW_TEXT = "no CAP_SYS_NICE, and RLIMIT_RTPRIO is {limit}"
TOO_LOW = rule(
    "doctor.limit_rtprio.too-low",
    TOO_LOW_TEXT,
    remedy="run as root; or, as root and after each build of the probe, `{grant}` (package libcap2-bin); or "
    + LIMITS,
)
TOO_LOW_THERE = rule(
    "doctor.limit_rtprio.too-low-there", TOO_LOW_TEXT, remedy=f"measure as root; or {LIMITS}"
)

TITLE = "Right to real-time priorities"
WHY = (
    "Without it the measuring task is an ordinary one: it waits for its turn behind every other task, "
    "for milliseconds under load."
)
WEIGHT = 99


def judge(facts: Facts, aim: Aim) -> Judgement:
    if not real_time(aim):
        return ok(NOT_NEEDED(policy=aim.policy))
    capable, limit = facts.flag("caller.cap_sys_nice"), facts.integer("caller.limit_rtprio")
    if capable:
        return ok(CAPABLE())
    if capable is None or limit is None:
        return unknown(facts, "caller.cap_sys_nice" if capable is None else "caller.limit_rtprio")
    if aim.policy != "deadline" and (limit < 0 or limit >= aim.priority):
        return ok(ENOUGH(limit="unlimited" if limit < 0 else limit))
    grant = granting(facts)
    return late(TOO_LOW(limit=limit, grant=grant) if grant else TOO_LOW_THERE(limit=limit))
