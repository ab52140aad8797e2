"""Expensive debug options: in the kernel's configuration, and words of the command line that switch them on."""

from __future__ import annotations

from howlate.model.cause import Cause
from howlate.model.facts import Aim, Facts
from howlate.settings._check import FIND_CONFIG, VALUE, Judgement, late, note, ok, unknown

TITLE = "Debug options"
WHY = (
    "Lock proving, address sanitizers and allocators that check themselves make every path through the "
    "kernel several times "
    "longer, much of it with interrupts off."
)
WEIGHT = 92
CAUSES = (Cause.IRQ_LATE,)
IN_GUESTS = True
IN_LAB = "take a kernel built without them; take such words out of the brackets behind its label"

_HEAVY = (
    "KASAN", "KCSAN", "KMSAN", "PROVE_LOCKING", "LOCKDEP", "DEBUG_LOCK_ALLOC", "PROVE_RCU", "DEBUG_KMEMLEAK",
    "SLUB_DEBUG_ON", "DEBUG_PAGEALLOC_ENABLE_DEFAULT", "DEBUG_OBJECTS", "KCOV", "GCOV_KERNEL", "DEBUG_SLAB",
    "LOCK_STAT",
)  # fmt: skip
_LIGHT = (
    "DEBUG_PREEMPT", "DEBUG_SPINLOCK", "DEBUG_MUTEXES", "DEBUG_RT_MUTEXES", "DEBUG_ATOMIC_SLEEP", "DEBUG_VM",
    "LATENCYTOP", "IRQSOFF_TRACER", "PREEMPT_TRACER", "DEBUG_IRQFLAGS", "CSD_LOCK_WAIT_DEBUG", "UBSAN",
    "RCU_EQS_DEBUG", "DMA_API_DEBUG",
)  # fmt: skip
_WORDS = {
    "slub_debug": None,
    "slab_debug": None,
    "kmemleak": "on",
    "debug_pagealloc": "on",
    "page_owner": "on",
    "kasan": "on",
}


def judge(facts: Facts, aim: Aim) -> Judgement:
    if facts.mapping("kernel.config") is None:
        return unknown(facts, "kernel.config", FIND_CONFIG)
    off = {"DEBUG_KMEMLEAK"} if facts.parameter("kmemleak") == "off" else set()
    heavy = [f"CONFIG_{name}" for name in _HEAVY if facts.config(name) == "y" and name not in off]
    for word, wanted in _WORDS.items():
        value = facts.parameter(word)
        if value is not None and value not in ("-", "off") and wanted in (None, value):
            heavy.append(f"{word}={value}" if value else word)
    if heavy:
        return late(
            VALUE(value=heavy), "boot a kernel built without them; take such words off the command line"
        )
    light = [f"CONFIG_{name}" for name in _LIGHT if facts.config(name) == "y"]
    if light:
        return note(
            VALUE(value=light),
            "a kernel without them is somewhat quicker; compare only kernels with the same options",
        )
    return ok("none")
