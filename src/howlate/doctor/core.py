"""Whether a real-time core runs next to Linux, and how: /proc/xenomai, the parameters of `xenomai` and the device of
Linux's tick (Cobalt), /sys/devices/virtual/evl (EVL).
"""

from __future__ import annotations

from howlate.model.facts import Aim, Facts
from howlate.model.preemption import OFF, core_of, unread_core
from howlate.settings._check import Judgement, late, note, ok, unknown
from howlate.settings.core_gravity import COBALT_GRAVITY, EVL_GRAVITY

START_COBALT = (
    "boot with `xenomai.state=enabled` and with CPU 0 in `xenomai.supported_cpus`; a core that is stopped "
    "starts with `corectl --start` as root"
)
START_EVL = "boot with `evl.state=enabled`; a core that is stopped starts with `evl start` as root"

TITLE = "Real-time core alongside Linux"
WHY = (
    "Tasks of such a core run before everything in Linux, interrupts included; a core that is off leaves its "
    "programs unable to start. Its gravity makes latencies smaller than they are."
)
WEIGHT = 60
IN_GUESTS = True
IN_LAB = "name the kernel with `[xenomai.state=enabled]` or `[evl.state=enabled]` behind its path"


def judge(facts: Facts, aim: Aim) -> Judgement:
    if "cobalt.state" not in facts.values:
        return unknown(facts, "cobalt.state")
    cobalt, evl = _cobalt_off(facts), _evl_off(facts)
    if cobalt or evl:
        return late(
            "{core} is in the kernel and does not run: {state}",
            START_COBALT if cobalt else START_EVL,
            core="Cobalt" if cobalt else "EVL",
            state=cobalt or evl,
        )
    if unread := unread_core(facts):
        return unknown(facts, unread)

    def known(key: str) -> str:
        return facts.text(key) or "not known"

    if not core_of(facts):
        return ok("none")
    is_evl = core_of(facts) == "evl"
    return note(
        "{core} on CPUs {cpus}, clock {clock}, gravity {gravity}",
        core=f"EVL (ABI {known('evl.abi')})" if is_evl else f"Cobalt {known('cobalt.version')}",
        cpus=known("evl.cpus") if is_evl else f"of mask {_mask(known('cobalt.cpus'))}",
        clock=known("evl.clock" if is_evl else "cobalt.clock"),
        gravity=known(EVL_GRAVITY if is_evl else COBALT_GRAVITY),
    )


def _cobalt_off(facts: Facts) -> str:
    """How Cobalt is off; "" if it runs or is not in the kernel. Older facts have the state that was requested
    for at boot, also where the core did not start: then /proc/xenomai is missing."""
    state = facts.text("cobalt.state")
    if state in OFF:
        return state
    return "disabled" if state is not None and facts.text("cobalt.version") is None else ""


def _evl_off(facts: Facts) -> str:
    """How EVL is off; "" if it runs or is not in the kernel. A disabled core has no files, but its option is set."""
    state = facts.text("evl.state")
    if state is None and facts.text("evl.abi") is None and facts.config("EVL") == "y":
        return "disabled"
    return state if state in OFF else ""


def _mask(text: str) -> str:
    """A mask of CPUs, which the kernel's parameter gives as a decimal number."""
    return hex(int(text)) if text.isdecimal() else text
