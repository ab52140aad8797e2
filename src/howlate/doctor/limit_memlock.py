"""Whether the caller may lock its memory: CAP_IPC_LOCK, RLIMIT_MEMLOCK."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import GRANT, LACKING, Judgement, as_root, granting, late, ok, unknown

LIMITS = "`@realtime - memlock unlimited` in /etc/security/limits.conf (check: `ulimit -l`)"

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
        return ok("CAP_IPC_LOCK")
    if capable is None or limit is None:
        return unknown(facts, "caller.cap_ipc_lock" if capable is None else "caller.limit_memlock")
    if limit < 0 or limit >= _ENOUGH:
        return ok("RLIMIT_MEMLOCK {limit}", limit="unlimited" if limit < 0 else f"{limit >> 20} MiB")
    found = LACKING(capability="CAP_IPC_LOCK", resource="RLIMIT_MEMLOCK", limit=f"{limit >> 10} KiB")
    if facts.flag("caller.grantable_ipc_lock") is False:
        return late(found, "start the container with `--cap-add IPC_LOCK --ulimit memlock=-1`")
    return late(
        found,
        f"{GRANT}{LIMITS}" if granting(facts) else f"{{as_root}}; or {LIMITS}",
        grant=granting(facts),
        as_root=as_root(facts),
    )
