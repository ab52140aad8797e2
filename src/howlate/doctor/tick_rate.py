"""The tick: CONFIG_HZ, high-resolution timers, and `highres=`, `nohz=` of the command line."""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import UNKNOWN, Judgement, late, note, ok, unknown
from howlate.words.statement import rule

NO_HIGHRES = rule(
    "doctor.tick_rate.no-highres",
    "high-resolution timers are switched off (highres=off)",
    remedy="remove `highres=off` from the command line",
)
TICKS_ONLY = rule(
    "doctor.tick_rate.ticks-only",
    "HZ {hz}, no high-resolution timers: sleeps end at ticks",
    remedy="boot a kernel with CONFIG_HIGH_RES_TIMERS=y",
)
ALWAYS_TICKS = rule(
    "doctor.tick_rate.always-ticks",
    "HZ {hz}, and idle CPUs tick too (nohz=off)",
    remedy="remove `nohz=off` unless it is wanted",
)
GOOD = rule("doctor.tick_rate.good", "HZ {hz}, high-resolution timers")
NOT_KNOWN = rule(
    "doctor.tick_rate.not-known", UNKNOWN, remedy="look for /proc/config.gz or /boot/config-$(uname -r)"
)

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
        return late(NO_HIGHRES())
    hz = facts.config("HZ")
    if hz is None:
        return unknown(facts, "kernel.config", NOT_KNOWN)
    if facts.config("HIGH_RES_TIMERS") != "y":
        return late(TICKS_ONLY(hz=hz))
    if facts.parameter("nohz") == "off":
        return note(ALWAYS_TICKS(hz=hz))
    return ok(GOOD(hz=hz))
