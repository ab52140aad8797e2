"""How the configurations of a run's kernels differ: first the options that matter for lateness, and why they do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from howlate.model.kernel_config import parse_config
from howlate.model.loaded import MeasuredKernel
from howlate.words.language import N_

_MATTERS = (
    "PREEMPT_RT PREEMPT_RT_FULL",
    N_("Spinlocks sleep and interrupt handlers are threads: nearly everything can be preempted."),
    "PREEMPT_DYNAMIC",
    N_("The preemption mode can be chosen at boot (preempt=), or while the kernel runs."),
    "PREEMPT_LAZY PREEMPT_LAZY_* PREEMPT_BUILD_AUTO ARCH_HAS_PREEMPT_LAZY",
    N_("Preemption of ordinary tasks waits for the next tick; real-time tasks do not wait."),
    "PREEMPT PREEMPT_NONE* PREEMPT_VOLUNTARY* PREEMPT_BUILD PREEMPT__LL PREEMPTION PREEMPT_COUNT "
    "PREEMPT_NOTIFIERS PREEMPTIRQ_* UNINLINE_SPIN_UNLOCK",
    N_("Where in the kernel a task can be preempted: nowhere, at marked points, or outside of locks."),
    "HZ HZ_*",
    N_("Ticks a second: how often the kernel interrupts a busy CPU for its own work."),
    "NO_HZ NO_HZ_* HZ_PERIODIC",
    N_("When the tick stops: on idle CPUs, or on busy ones too (nohz_full)."),
    "TICK_CPU_ACCOUNTING VIRT_CPU_ACCOUNTING* IRQ_TIME_ACCOUNTING CONTEXT_TRACKING*",
    N_("How CPU time is counted: at each tick, or at each entry of the kernel, which costs there."),
    "RCU_BOOST*",
    N_("Readers of RCU that were preempted are boosted, by a thread of real-time priority."),
    "RCU_NOCB* RCU_LAZY",
    N_("Callbacks of RCU can be moved to threads, away from a CPU that must be on time."),
    "RCU_* *_RCU *_RCU_GENERIC",
    N_("How the kernel defers the freeing of memory (RCU), and where that work runs."),
    "HIGH_RES_TIMERS",
    N_("Timers expire at their own time rather than at the next tick."),
    "TIMERLAT_TRACER OSNOISE_TRACER HWLAT_TRACER IRQSOFF_TRACER PREEMPT_TRACER SCHED_TRACER",
    N_("Tracers of latency; those of interrupts and preemption cost a little while they are off."),
    "RT_GROUP_SCHED",
    N_("Real-time tasks share a runtime by control group: a group without one cannot have them."),
    "CGROUP_SCHED FAIR_GROUP_SCHED CFS_BANDWIDTH SCHED_AUTOGROUP UCLAMP* EXT_GROUP_SCHED",
    N_("Ordinary tasks share CPUs by group: longer paths through the scheduler."),
    "SCHED_* SCHEDSTATS",
    N_("Belongs to the scheduler; with SCHED_CORE it looks at a core's siblings at each switch."),
    "CPU_FREQ* X86_*PSTATE* X86_ACPI_CPUFREQ*",
    N_("Who sets the CPU's frequency, and by which rule at first. Not in a guest."),
    "CPU_IDLE* INTEL_IDLE HALTPOLL_CPUIDLE",
    N_("Which idle states are entered, and who chooses them. A guest has hardly any."),
    "KASAN* KCSAN* KMSAN* KFENCE* UBSAN* LOCKDEP* PROVE_* LOCK_STAT DEBUG_LOCK* DEBUG_SPINLOCK "
    "DEBUG_MUTEXES DEBUG_RT_MUTEXES DEBUG_RWSEMS DEBUG_WW_* DEBUG_PREEMPT DEBUG_ATOMIC_SLEEP "
    "DEBUG_OBJECTS* DEBUG_PAGEALLOC* DEBUG_KMEMLEAK* DEBUG_VM* DEBUG_LIST DEBUG_IRQFLAGS SLUB_DEBUG* "
    "PAGE_POISONING PAGE_OWNER INIT_ON_*",
    N_("The kernel checks memory, locks or data at each use: longer paths, some with interrupts off."),
    "FUNCTION_TRACER DYNAMIC_FTRACE* LATENCYTOP PROFILING",
    N_("Built-in tracing and counting: little cost while it is off."),
    "TRANSPARENT_HUGEPAGE*",
    N_("Whether one fault clears 2 MiB, for which another task may have to wait."),
    "COMPACTION NUMA_BALANCING* KSM",
    N_("Pages are moved or merged behind a task's back."),
    "MITIGATION_* CPU_MITIGATIONS SPECULATION_MITIGATIONS PAGE_TABLE_ISOLATION RETPOLINE RETHUNK SLS "
    "CPU_SRSO CPU_IBRS_ENTRY CPU_IBPB_ENTRY CPU_UNRET_ENTRY CALL_DEPTH_TRACKING UNMAP_KERNEL_AT_EL0 "
    "X86_KERNEL_IBT",
    N_("Against weaknesses of CPUs: a cost at each entry of the kernel or each indirect call."),
    "RANDOMIZE_KSTACK_OFFSET* STACKPROTECTOR* FORTIFY_SOURCE HARDENED_USERCOPY* CFI* SHADOW_CALL_STACK "
    "VMAP_STACK",
    N_("Hardening of the kernel's own code: a little at each call or entry."),
    "CC_OPTIMIZE_FOR_* LTO* CC_VERSION_TEXT GCC_VERSION CLANG_VERSION",
    N_("The compiler and its options: in virtual time the number of instructions is the time."),
    "IRQ_FORCED_THREADING*",
    N_("Interrupt handlers can be made threads (threadirqs)."),
    "SOFTLOCKUP_DETECTOR* HARDLOCKUP_DETECTOR* DETECT_HUNG_TASK WQ_WATCHDOG",
    N_("Watchdogs: regular work of their own."),
    "JUMP_LABEL HAVE_STATIC_CALL* HAVE_PREEMPT_DYNAMIC*",
    N_("Branches that are patched in: without them a mode that can be chosen costs a test or a call."),
    "PARAVIRT* HYPERVISOR_GUEST KVM_GUEST",
    N_("Calls that a host may replace."),
)
"""Patterns of options (without CONFIG_), each followed by why these matter. The first match counts."""
MATTERS = [
    (re.compile("|".join(re.escape(word).replace(r"\*", r"\w*") for word in patterns.split())), why)
    for patterns, why in zip(_MATTERS[::2], _MATTERS[1::2], strict=True)
]


class Difference(Struct, frozen=True):
    """One option that is not the same in all kernels."""

    option: str
    values: tuple[str, ...]
    """In the order of the kernels; "n" if it is not set."""
    why: str
    """Why it matters for lateness, in English; "" if it is not known to matter."""


def options_of(text: str) -> dict[str, str]:
    """A kernel's configuration for display: option (without CONFIG_) to value; options that are not set are
    left out."""
    options = parse_config(text).items()
    return {name.removeprefix("CONFIG_"): value.strip('"') for name, value in options if value != "n"}


def why(option: str) -> str:
    """Why an option matters for lateness; "" if it is not known to."""
    return next((reason for pattern, reason in MATTERS if pattern.fullmatch(option)), "")


def differences(configs: Sequence[Mapping[str, str]]) -> list[Difference]:
    """Every option that differs: those that matter first, in the order of MATTERS, the rest by name."""
    names = sorted(set().union(*configs)) if configs else []
    rank = {reason: place for place, (_, reason) in enumerate(MATTERS)}
    differing = []
    for name in names:
        values = tuple(config.get(name, "n") for config in configs)
        if len(set(values)) > 1:
            differing.append(Difference(name, values, why(name)))
    return sorted(differing, key=lambda option: (rank.get(option.why, len(rank)), option.option))


def that_matter(options: Iterable[Difference]) -> list[Difference]:
    return [option for option in options if option.why]


def builds(kernels: Sequence[MeasuredKernel]) -> list[tuple[str, Mapping[str, str]]]:
    """Each configuration once, with the labels that have it: boot parameters change none."""
    labels: dict[int, list[str]] = {}
    configs: list[Mapping[str, str]] = []
    for kernel in kernels:
        if not kernel.config:
            continue
        if kernel.config not in configs:
            configs.append(kernel.config)
        labels.setdefault(configs.index(kernel.config), []).append(kernel.label)
    return [(", ".join(labels[i]), config) for i, config in enumerate(configs)]


def compared(kernels: Sequence[MeasuredKernel]) -> tuple[list[str], list[Difference]]:
    """The compared kernels, and their differences. Only options that all of them know are considered."""
    built = builds(kernels)
    if len(built) < 2:
        return [], []
    return [labels for labels, _ in built], differences([config for _, config in built])
