"""The tick: CONFIG_HZ, high-resolution timers, and `highres=`, `nohz=` of the command line."""

from __future__ import annotations

from howlate.model.facts import Aim, Facts
from howlate.settings._check import FIND_CONFIG, Judgement, late, note, ok, unknown

TITLE = "HZ and high-resolution timers"
WHY = (
    "Without high-resolution timers a sleep ends at the next tick, up to 1/HZ s late. With them the tick "
    "still runs on "
    "busy CPUs, and a period that is a multiple of it always meets it at the same phase (which is why "
    "studies dither)."
)
WEIGHT = 90
IN_GUESTS = True
IN_LAB = (
    "take `highres=off` and `nohz=off` out of the brackets behind its label, or a "
    "kernel with CONFIG_HIGH_RES_TIMERS=y"
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    if facts.parameter("highres") == "off":
        return late("highres=off", "remove `highres=off` from the command line")
    hz = facts.config("HZ")
    if hz is None:
        return unknown(facts, "kernel.config", FIND_CONFIG)
    if facts.config("HIGH_RES_TIMERS") != "y":
        return late(
            "HZ {hz}, no high-resolution timers: sleeps end at ticks",
            "boot a kernel with CONFIG_HIGH_RES_TIMERS=y",
            hz=hz,
        )
    if facts.parameter("nohz") == "off":
        return note("HZ {hz}, idle CPUs tick too (nohz=off)", "remove `nohz=off` unless it is wanted", hz=hz)
    return ok("HZ {hz}, high-resolution timers", hz=hz)
