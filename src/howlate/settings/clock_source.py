"""The clock source in use: /sys/devices/system/clocksource/clocksource0."""

from __future__ import annotations

from howlate.model.facts import Facts
from howlate.model.finding import Aim
from howlate.settings._check import Judgement, late, note, ok, unknown
from howlate.settings._setting import MachineSetting, as_text
from howlate.words.statement import Statement, rule

SOURCE = "clock.source"
AVAILABLE = "clock.available"
GOOD = rule("doctor.clock_source.good", "{source}")
COST_UNKNOWN = rule("doctor.clock_source.cost-unknown", "{source}: the cost of reading it is not known here")
TAKE_TSC = "permanently `clocksource=tsc`"
ASK_WHY = (
    "see `dmesg | grep -i -e tsc -e clocksource` for why tsc was left; `tsc=reliable` if you know that it is"
)
GUEST_TEXT = "{source}: a guest's clock, read through a page of the hypervisor's"
GUEST_TSC = rule("doctor.clock_source.guest-with-tsc", GUEST_TEXT, remedy=TAKE_TSC)
GUEST = rule("doctor.clock_source.guest", GUEST_TEXT, remedy=ASK_WHY)
SLOW_TEXT = "{source} (available: {available})"
SLOW_TSC = rule("doctor.clock_source.slow-with-tsc", SLOW_TEXT, remedy=TAKE_TSC)
SLOW = rule("doctor.clock_source.slow", SLOW_TEXT, remedy=ASK_WHY)

TITLE = "Clock source"
WHY = (
    "Every time stamp and every timer reads it. tsc and the ARM counter cost some ten nanoseconds in user "
    "space; hpet and "
    "acpi_pm cost a microsecond and more each, one CPU at a time, and need a system call."
)
WEIGHT = 80
HOLD = {GUEST_TSC.id: "clock_source=tsc", SLOW_TSC.id: "clock_source=tsc"}
IN_GUESTS = True
IN_LAB = "take `clocksource=`, `notsc` and the like out of the brackets behind its label"
_TICKS = 110
"""The weight of a clock that only ticks: nothing can be measured below a tick, and no timer is finer."""

_GOOD = ("tsc", "arch_sys_counter", "arch_sys_timer", "riscv_clocksource", "timebase", "tod")
_GUEST = ("kvm-clock", "hyperv_clocksource_tsc_page", "xen", "hyperv_clocksource_msr", "tsc-early")


NO_COUNTER = rule("flip.no-counter", "the processor's own counter is not among the clock sources")


def _counters(facts: Facts, _aim: Aim) -> tuple[str, ...] | Statement:
    """The processor's own counter, if it is among the clock sources."""
    available = (facts.text(AVAILABLE) or "").split()
    return tuple(name for name in ("tsc", "arch_sys_counter") if name in available) or NO_COUNTER()


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
        return ok(GOOD(source=source))
    available = (facts.text(AVAILABLE) or "").split()
    if source in _GUEST:
        return note(GUEST_TSC(source=source) if "tsc" in available else GUEST(source=source))
    if source in ("hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"):
        weight = _TICKS if source in ("jiffies", "refined-jiffies") else 0
        slow = SLOW_TSC if "tsc" in available else SLOW
        return late(slow(source=source, available=" ".join(available) or "?"), weight)
    return note(COST_UNKNOWN(source=source))
