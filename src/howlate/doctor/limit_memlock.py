"""Whether the caller may lock its memory: CAP_IPC_LOCK, RLIMIT_MEMLOCK."""

from __future__ import annotations

from howlate.doctor._check import Judgement, granting, late, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.words.statement import rule

CAPABLE = rule("doctor.limit_memlock.capable", "CAP_IPC_LOCK")
UNLIMITED = rule("doctor.limit_memlock.unlimited", "RLIMIT_MEMLOCK unlimited")
ENOUGH = rule("doctor.limit_memlock.enough", "RLIMIT_MEMLOCK {limit_mib} MiB")
LIMITS = "`@realtime - memlock unlimited` in /etc/security/limits.conf (check: `ulimit -l`)"
TOO_LOW_TEXT = "no CAP_IPC_LOCK, and RLIMIT_MEMLOCK is {limit_kib} KiB"
TOO_LOW = rule(
    "doctor.limit_memlock.too-low",
    TOO_LOW_TEXT,
    remedy="run as root; or, as root and after each build of the probe, `{grant}` (package libcap2-bin); or "
    + LIMITS,
)
TOO_LOW_THERE = rule(
    "doctor.limit_memlock.too-low-there", TOO_LOW_TEXT, remedy=f"measure as root; or {LIMITS}"
)

TITLE = "Right to lock memory"
WHY = (
    "A page that is not locked can be reclaimed, and the next access to it is a fault: microseconds, or "
    "milliseconds from a disk."
)
WEIGHT = 64

_ENOUGH = 128 * 1024 * 1024


def judge(facts: Facts, aim: Aim) -> Judgement:
    capable, limit = facts.flag("caller.cap_ipc_lock"), facts.integer("caller.limit_memlock")
    if capable:
        return ok(CAPABLE())
    if capable is None or limit is None:
        return unknown(facts, "caller.cap_ipc_lock" if capable is None else "caller.limit_memlock")
    if limit < 0 or limit >= _ENOUGH:
        return ok(UNLIMITED() if limit < 0 else ENOUGH(limit_mib=limit >> 20))
    grant = granting(facts)
    return late(
        TOO_LOW(limit_kib=limit >> 10, grant=grant) if grant else TOO_LOW_THERE(limit_kib=limit >> 10)
    )
