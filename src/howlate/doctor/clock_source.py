"""The clock source in use: /sys/devices/system/clocksource/clocksource0."""

from __future__ import annotations

from howlate.doctor._check import Verdict, late, note, ok, unknown
from howlate.model.facts import Facts
from howlate.model.finding import Aim

TITLE = "Clock source"
WHY = (
    "Every time stamp and every timer reads it. tsc and the ARM counter cost some ten nanoseconds in user "
    "space; hpet and "
    "acpi_pm cost a microsecond and more each, one CPU at a time, and need a system call."
)
WEIGHT = 80
IN_GUESTS = True
IN_LAB = "take `clocksource=`, `notsc` and the like out of the brackets behind its label"
_TICKS = 110
"""The weight of a clock that only ticks: nothing can be measured below a tick, and no timer is finer."""

_GOOD = ("tsc", "arch_sys_counter", "arch_sys_timer", "riscv_clocksource", "timebase", "tod")
_GUEST = ("kvm-clock", "hyperv_clocksource_tsc_page", "xen", "hyperv_clocksource_msr", "tsc-early")


def judge(facts: Facts, aim: Aim) -> Verdict:
    source = facts.text("clock.source")
    if source is None:
        return unknown(facts, "clock.source")
    if source in _GOOD:
        return ok(source)
    available = (facts.text("clock.available") or "").split()
    if "tsc" in available:
        change = (
            "`echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource`, for good "
            "`clocksource=tsc`"
        )
    else:
        change = (
            "see `dmesg | grep -i -e tsc -e clocksource` for why tsc was left; `tsc=reliable` if you know "
            "that it is"
        )
    if source in _GUEST:
        return note(f"{source}: a guest's clock, read through a page of the hypervisor's", change)
    if source in ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"):
        ticks = source in ("jiffies", "refined-jiffies")
        return late(f"{source} (available: {' '.join(available) or '?'})", change, _TICKS if ticks else 0)
    return note(f"{source}: what it costs to read is not known here")
