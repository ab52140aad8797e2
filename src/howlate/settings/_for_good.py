"""What to write where, so that a knob's value stays: `howlate advise` prints it for what it found to help. Like the
remedies of the checks it is English."""

from __future__ import annotations

from howlate.model.facts import Facts, format_cpus
from howlate.model.finding import Aim
from howlate.settings._check import measuring_cpus, other_cpus

SYSCTL, TMPFILES = "/etc/sysctl.d/90-howlate.conf", "/etc/tmpfiles.d/90-howlate.conf"
CHECKS = {
    "cpuset": "isolation",
    "preemption": "preempt_dynamic",
    "soft_watchdog": "nmi_watchdog",
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
        "clock_source": f"clocksource={value} on the kernel's command line",
        "compaction": f"vm.compaction_proactiveness = {value} in {SYSCTL}",
        "cpuset": f"isolcpus=managed_irq,domain,{listed} on the kernel's command line, or a service with "
        f"AllowedCPUs={listed} whose slice is a partition",
        "governor": f"cpupower frequency-set -g {value} in a service at boot, or cpufreq.default_governor={value} on "
        "the kernel's command line",
        "irq_affinity": f"irqaffinity={listed} on the kernel's command line, and irqbalance off or with "
        f"IRQBALANCE_BANNED_CPULIST={format_cpus(measuring_cpus(facts, aim))}",
        "ksm": f"w /sys/kernel/mm/ksm/run - - - - {number} in {TMPFILES}, and ksmtuned off",
        "mce_polling": f"w /sys/devices/system/machinecheck/machinecheck0/check_interval - - - - {value} in "
        f"{TMPFILES}",
        "numa_balancing": f"kernel.numa_balancing = {number} in {SYSCTL}",
        "preemption": f"preempt={value} on the kernel's command line",
        "rcu_normal": "rcupdate.rcu_normal_after_boot=1 on the kernel's command line"
        if number == "1"
        else f"w /sys/kernel/rcu_normal - - - - 0 in {TMPFILES}",
        "soft_watchdog": f"kernel.soft_watchdog = {number} in {SYSCTL}, or nosoftlockup on the kernel's command line"
        if number == "0"
        else f"kernel.soft_watchdog = 1 in {SYSCTL}",
        "stat_interval": f"vm.stat_interval = {value} in {SYSCTL}",
        "nmi_watchdog": f"kernel.nmi_watchdog = {number} in {SYSCTL}",
        "rt_throttling": f"kernel.sched_rt_runtime_us = {'-1' if value == 'off' else value} in {SYSCTL}",
        "thp": f"transparent_hugepage={value} on the kernel's command line",
        "timer_migration": f"kernel.timer_migration = {number} in {SYSCTL}",
        "turbo": _turbo(value),
        "workqueue_cpumask": f"w /sys/devices/virtual/workqueue/cpumask - - - - {_mask(cpus, value)} in {TMPFILES}",
    }
    hold = f"howlate probe hold --knob {knob}={value} in a service"
    sentence = sentences.get(knob, "")
    return f"{knob}={value}: {sentence or hold + ', which holds it for as long as it runs'}."


def _turbo(value: str) -> str:
    off = value == "off"
    return (
        f"w /sys/devices/system/cpu/intel_pstate/no_turbo - - - - {int(off)} (elsewhere "
        f"w /sys/devices/system/cpu/cpufreq/boost - - - - {int(not off)}) in {TMPFILES}"
    )


def _mask(cpus: frozenset[int] | None, value: str) -> str:
    """The kernel's hexadecimal mask of these CPUs, in groups of 32."""
    if cpus is None:
        return value
    digits = f"{sum(1 << cpu for cpu in cpus):x}"
    groups = [digits[max(0, end - 8) : end] for end in range(len(digits), 0, -8)]
    return ",".join(reversed(groups))
