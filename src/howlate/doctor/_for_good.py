"""What to write where, so that a knob's value stays: `howlate advise` prints it for what it found to help. Like the
remedies of the checks it is English."""

from __future__ import annotations

from howlate.doctor._check import measuring_cpus, other_cpus
from howlate.model.facts import Facts, format_cpus
from howlate.model.finding import Aim

CHECKS = {
    "cpuset": "isolation",
    "thp": "huge_pages",
    "workqueue_cpumask": "workqueues",
}
"""By knob the check of the doctor that judges it, where their names differ."""


def check_of(knob: str) -> str:
    """The check that judges a knob's setting."""
    return CHECKS.get(knob, knob)


def for_good(knob: str, value: str, facts: Facts, aim: Aim) -> str:
    """One sentence; for a knob that is not known here, how to hold the value while something runs."""
    cpus = frozenset(other_cpus(facts, aim)) if value == "away" else None
    listed = format_cpus(cpus) if cpus is not None else value
    number = {"on": "1", "off": "0"}.get(value, value)
    sentences = {
        "c_states": "processor.max_cstate=1 intel_idle.max_cstate=1 on the kernel's command line (idle=poll for none)"
        if value == "0"
        else "",
        "cpuset": f"isolcpus=managed_irq,domain,{listed} on the kernel's command line, or a service with "
        f"AllowedCPUs={listed} whose slice is a partition",
        "governor": f"cpupower frequency-set -g {value} in a service at boot, or cpufreq.default_governor={value} on "
        "the kernel's command line",
        "irq_affinity": f"irqaffinity={listed} on the kernel's command line, and irqbalance off or with "
        f"IRQBALANCE_BANNED_CPULIST={format_cpus(measuring_cpus(facts, aim))}",
        "nmi_watchdog": f"kernel.nmi_watchdog = {number} in /etc/sysctl.d/90-howlate.conf",
        "rt_throttling": f"kernel.sched_rt_runtime_us = {'-1' if value == 'off' else value} in "
        "/etc/sysctl.d/90-howlate.conf",
        "thp": f"transparent_hugepage={value} on the kernel's command line",
        "timer_migration": f"kernel.timer_migration = {number} in /etc/sysctl.d/90-howlate.conf",
        "turbo": _turbo(value),
        "workqueue_cpumask": f"w /sys/devices/virtual/workqueue/cpumask - - - - {_mask(cpus, value)} in "
        "/etc/tmpfiles.d/90-howlate.conf",
    }
    hold = f"howlate probe hold --knob {knob}={value} in a service"
    sentence = sentences.get(knob, "")
    return f"{knob}={value}: {sentence or hold + ', which holds it for as long as it runs'}."


def _turbo(value: str) -> str:
    off = value == "off"
    return (
        f"w /sys/devices/system/cpu/intel_pstate/no_turbo - - - - {int(off)} (elsewhere "
        f"w /sys/devices/system/cpu/cpufreq/boost - - - - {int(not off)}) in /etc/tmpfiles.d/90-howlate.conf"
    )


def _mask(cpus: frozenset[int] | None, value: str) -> str:
    """The kernel's hexadecimal mask of these CPUs, in groups of 32."""
    if cpus is None:
        return value
    digits = f"{sum(1 << cpu for cpu in cpus):x}"
    groups = [digits[max(0, end - 8) : end] for end in range(len(digits), 0, -8)]
    return ",".join(reversed(groups))
