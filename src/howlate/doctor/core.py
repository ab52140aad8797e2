"""Whether a real-time core runs beside Linux, and how: /proc/xenomai, the parameters of `xenomai` and the device of
Linux's tick (Cobalt), /sys/devices/virtual/evl (EVL).
"""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.model.preemption import OFF, core_of, unread_core
from howlate.settings._check import Judgement, late, note, ok, unknown
from howlate.settings.core_gravity import COBALT_GRAVITY, EVL_GRAVITY
from howlate.words.statement import rule

NONE = rule("doctor.core.none", "no real-time core beside Linux")
COBALT = rule(
    "doctor.core.cobalt",
    "Cobalt {version} runs on the CPUs of the mask {cpus}, its clock is {clock}, its gravity {gravity}",
)
EVL = rule(
    "doctor.core.evl", "EVL (ABI {abi}) runs on CPUs {cpus}, its clock is {clock}, its gravity {gravity}"
)
COBALT_OFF = rule(
    "doctor.core.cobalt-off",
    "Cobalt is in the kernel and does not run: {state}",
    remedy="boot with `xenomai.state=enabled` and with CPU 0 in `xenomai.supported_cpus`; a core that is stopped "
    "starts with `corectl --start` as root",
)
EVL_OFF = rule(
    "doctor.core.evl-off",
    "EVL is in the kernel and does not run: {state}",
    remedy="boot with `evl.state=enabled`; a core that is stopped starts with `evl start` as root",
)

TITLE = "Real-time core beside Linux"
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
    if state := _cobalt_off(facts):
        return late(COBALT_OFF(state=state))
    if state := _evl_off(facts):
        return late(EVL_OFF(state=state))
    if unread := unread_core(facts):
        return unknown(facts, unread)

    def known(key: str) -> str:
        return facts.text(key) or "not known"

    if core_of(facts) == "cobalt":
        version, clock = known("cobalt.version"), known("cobalt.clock")
        return note(
            COBALT(
                version=version, cpus=_mask(known("cobalt.cpus")), clock=clock, gravity=known(COBALT_GRAVITY)
            )
        )
    if core_of(facts) == "evl":
        abi, cpus = known("evl.abi"), known("evl.cpus")
        return note(EVL(abi=abi, cpus=cpus, clock=known("evl.clock"), gravity=known(EVL_GRAVITY)))
    return ok(NONE())


def _cobalt_off(facts: Facts) -> str:
    """How Cobalt is off; "" if it runs or is not in the kernel. Facts of older probes have the state that was asked
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
