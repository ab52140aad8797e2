"""The clock source in use: /sys/devices/system/clocksource/clocksource0."""

from __future__ import annotations

from howlate.model.facts import Aim, Facts
from howlate.settings._check import VALUE, Judgement, late, note, ok, unknown
from howlate.settings._setting import MachineSetting, as_text
from howlate.words.say import statement_of
from howlate.words.statement import Statement

SOURCE = "clock.source"
AVAILABLE = "clock.available"
TAKE_TSC = "permanently `clocksource=tsc`"
ASK_WHY = (
    "see `dmesg | grep -i -e tsc -e clocksource` for why tsc was left; `tsc=reliable` if you know "
    "that the TSC is reliable"
)

TITLE = "Clock source"
WHY = (
    "Every time stamp and every timer reads it. tsc and the ARM counter cost some ten nanoseconds in user "
    "space; hpet and "
    "acpi_pm cost a microsecond and more each, one CPU at a time, and need a system call."
)
WEIGHT = 80
HOLD = ("clock_source=tsc",)
IN_GUESTS = True
IN_LAB = "take `clocksource=`, `notsc` and the like out of the brackets behind its label"
_TICKS = 110
"""The weight of a clock that only ticks: nothing can be measured below a tick, and no timer is finer."""

_GOOD = ("tsc", "arch_sys_counter", "arch_sys_timer", "riscv_clocksource", "timebase", "tod")
_SLOW = ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit")
_GUEST = ("kvm-clock", "hyperv_clocksource_tsc_page", "xen", "hyperv_clocksource_msr", "tsc-early")


def _counters(facts: Facts, _aim: Aim) -> tuple[str, ...] | Statement:
    available = (facts.text(AVAILABLE) or "").split()
    return tuple(name for name in ("tsc", "arch_sys_counter") if name in available) or statement_of(
        "no counter of the processor among the clock sources"
    )


SETTING = MachineSetting(
    facts=(SOURCE, AVAILABLE),
    in_force=as_text(SOURCE),
    tries=_counters,
    for_good={"": "clocksource={value} on the kernel's command line"},
    lacks={"causes": "the cost of reading it is in every latency, and no part of one"},
)


def judge(facts: Facts, aim: Aim) -> Judgement:
    source = facts.text(SOURCE)
    if source is None:
        return unknown(facts, SOURCE)
    if source in _GOOD:
        return ok(VALUE(value=source))
    available = (facts.text(AVAILABLE) or "").split()
    has_tsc, is_slow = "tsc" in available, source in _SLOW
    return (late if is_slow else note)(
        "{source} (available: {available})",
        (TAKE_TSC if has_tsc else ASK_WHY) if is_slow or source in _GUEST else "",
        weight=_TICKS if source in ("jiffies", "refined-jiffies") else 0,
        hold=None if has_tsc else "",
        source=source,
        available=" ".join(available) or "?",
    )
