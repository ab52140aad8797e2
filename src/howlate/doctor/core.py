"""Whether a real-time core runs beside Linux, and how: /proc/xenomai and the parameters of `xenomai` (Cobalt),
/sys/devices/virtual/evl (EVL).
"""

from __future__ import annotations

from howlate.doctor._check import Judgement, late, note, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.model.preemption import core_of
from howlate.words.statement import rule

NONE = rule("doctor.core.none", "no real-time core beside Linux")
COBALT = rule("doctor.core.cobalt", "Cobalt {version} runs, its clock is {clock}, its gravity {gravity}")
EVL = rule("doctor.core.evl", "EVL (ABI {abi}) runs on CPUs {cpus}, its gravity is {gravity}")
STOPPED = rule(
    "doctor.core.stopped",
    "{core} is in the kernel and does not run: {state}",
    remedy="boot with `{parameter}=enabled`, or as root `{start}`; Cobalt also stays off where "
    "`xenomai.supported_cpus` lacks CPU 0",
)

TITLE = "Real-time core beside Linux"
WHY = (
    "Tasks of such a core run before everything in Linux, interrupts included; a core that is off leaves its "
    "programs unable to start. Its gravity makes latencies smaller than they are."
)
WEIGHT = 60
IN_GUESTS = True
IN_LAB = "name the kernel with `[xenomai.state=enabled]` or `[evl.state=enabled]` behind its path"

_OFF = ("disabled", "stopped")


def judge(facts: Facts, aim: Aim) -> Judgement:
    if "cobalt.state" not in facts.values:
        return unknown(facts, "cobalt.state")
    cobalt, evl = facts.text("cobalt.state"), facts.text("evl.state")
    if cobalt in _OFF:
        return late(STOPPED(core="Cobalt", state=cobalt, parameter="xenomai.state", start="corectl --start"))
    if evl in _OFF:
        return late(STOPPED(core="EVL", state=evl, parameter="evl.state", start="evl start"))

    def known(key: str) -> str:
        return facts.text(key) or "not known"

    if core_of(facts) == "cobalt":
        version, clock = known("cobalt.version"), known("cobalt.clock")
        return note(COBALT(version=version, clock=clock, gravity=known("cobalt.gravity")))
    if core_of(facts) == "evl":
        return note(EVL(abi=known("evl.abi"), cpus=known("evl.cpus"), gravity=known("evl.gravity")))
    return ok(NONE())
