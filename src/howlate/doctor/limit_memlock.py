"""Whether the caller may lock its memory: CAP_IPC_LOCK, RLIMIT_MEMLOCK."""

from __future__ import annotations

from howlate.doctor._check import Verdict, granting, late, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Right to lock memory"
WHY = (
    "A page that is not locked can be taken away, and its next touch is a fault: microseconds, or "
    "milliseconds from a disk."
)
WEIGHT = 64

_ENOUGH = 128 * 1024 * 1024


def judge(facts: Facts, aim: Aim) -> Verdict:
    capable, limit = facts.flag("caller.cap_ipc_lock"), facts.integer("caller.limit_memlock")
    if capable:
        return ok("CAP_IPC_LOCK")
    if capable is None or limit is None:
        return unknown(facts, "caller.cap_ipc_lock" if capable is None else "caller.limit_memlock")
    if limit < 0 or limit >= _ENOUGH:
        return ok(f"RLIMIT_MEMLOCK {'unlimited' if limit < 0 else f'{limit >> 20} MiB'}")
    found, grant = f"no CAP_IPC_LOCK, and RLIMIT_MEMLOCK is {limit >> 10} KiB", granting(facts)
    if not grant:
        return late(
            found,
            "measure as root; or `@realtime - memlock unlimited` in /etc/security/limits.conf (check: `ulimit -l`)",
        )
    return late(
        found,
        f"run as root; or, as root and after each build of the probe, `{grant}` (package libcap2-bin); "
        "or `@realtime - memlock unlimited` in /etc/security/limits.conf (check: `ulimit -l`)",
    )
