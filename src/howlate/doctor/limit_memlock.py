"""Whether the caller may lock its memory: CAP_IPC_LOCK, RLIMIT_MEMLOCK."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, as_root, granting, late, ok, unknown
from howlate.words.statement import rule

CAPABLE = rule("doctor.limit_memlock.capable", "CAP_IPC_LOCK")
UNLIMITED = rule("doctor.limit_memlock.unlimited", "RLIMIT_MEMLOCK unlimited")
ENOUGH = rule("doctor.limit_memlock.enough", "RLIMIT_MEMLOCK {limit_mib} MiB")
LIMITS = "`@realtime - memlock unlimited` in /etc/security/limits.conf (check: `ulimit -l`)"
TOO_LOW_TEXT = "no CAP_IPC_LOCK, and RLIMIT_MEMLOCK is {limit_kib} KiB"
TOO_LOW = rule(
    "doctor.limit_memlock.too-low",
    TOO_LOW_TEXT,
    remedy="{as_root}; or, as root and after each build of the probe, `{grant}` (package libcap2-bin); or "
    + LIMITS,
)
TOO_LOW_THERE = rule("doctor.limit_memlock.too-low-there", TOO_LOW_TEXT, remedy="{as_root}; or " + LIMITS)
NOT_GRANTED = rule(
    "doctor.limit_memlock.not-granted",
    "CAP_IPC_LOCK is not among the capabilities of this container, and RLIMIT_MEMLOCK is {limit_kib} KiB",
    remedy="start the container with `--cap-add IPC_LOCK --ulimit memlock=-1`",
)

TITLE = "Right to lock memory"
WHY = (
    "A page that is not locked can be reclaimed, and the next access to it is a fault: microseconds, or "
    "milliseconds from a disk."
)
WEIGHT = 64
CAUSES = (Cause.PAGE_FAULT,)

_ENOUGH = 128 * 1024 * 1024


def judge(facts: Facts, aim: Aim) -> Judgement:
    capable, limit = facts.flag("caller.cap_ipc_lock"), facts.integer("caller.limit_memlock")
    if capable:
        return ok(CAPABLE())
    if capable is None or limit is None:
        return unknown(facts, "caller.cap_ipc_lock" if capable is None else "caller.limit_memlock")
    if limit < 0 or limit >= _ENOUGH:
        return ok(UNLIMITED() if limit < 0 else ENOUGH(limit_mib=limit >> 20))
    if facts.flag("caller.grantable_ipc_lock") is False:
        return late(NOT_GRANTED(limit_kib=limit >> 10))
    grant, told = granting(facts), {"limit_kib": limit >> 10, "as_root": as_root(facts)}
    return late(TOO_LOW(grant=grant, **told) if grant else TOO_LOW_THERE(**told))
