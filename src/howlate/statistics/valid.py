"""Whether a cell may be used for a statement, and what else its reader must know (docs/statistics.md, "Valid?").

Pure: from what the probe wrote of the cell. A failed check makes the cell invalid; a warning leaves it valid. What
counts is decided here, by `holds`, for screens, pages, JSON and verdicts alike: the largest value, the misses and the
totals of every cell that holds. A cell that is not valid and holds only lacks PASS, bounds and intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from howlate.model.knowledge import EVERYTHING, Knowledge
from howlate.model.stated import Stated
from howlate.model.summary import CellSummary, ColumnSummary
from howlate.statistics.load_reached import NOT_LOADED, LoadGoal, not_loaded
from howlate.words.statement import VERBATIM, Statement, message

LOAD_POINTS = 0.03
"""A load that missed its target by more than this share of its CPUs is named."""

CUT = message(
    "cell.cut", "the probe did not end by itself ({reason}): what follows is up to the last whole batch."
)
DAMAGED = message("cell.damaged", "the stream is damaged ({reason}): what follows is up to the damage.")
FAILED = message("cell.failed", "the measuring thread failed before its end.")
ACCOUNT = message("cell.account", "{problem}.")
UNWATCHED = message(
    "cell.unwatched", "inconclusive: nothing was watched ({options}); give it a duration of several windows."
)
NO_SAMPLE = message("cell.no-sample", "there is no sample outside warm-up.")
DROPPED = message(
    "cell.dropped",
    "incomplete: {count:count} sample dropped because the recorder could not keep up.",
    "incomplete: {count:count} samples dropped because the recorder could not keep up.",
    by="count",
)
_TOOK = "{thread} took {minor:count} minor and {major:count} major page faults while it measured"
FAULTS = message("cell.faults", f"{_TOOK}.")
FAULTS_NOT_LOCKED = message(
    "cell.faults-not-locked",
    f"{_TOOK}; its memory was not all locked: raise `ulimit -l` (memlock) or grant CAP_IPC_LOCK.",
)
CLOCK_SOURCE = message(
    "cell.clock-source", "the clock source changed from {before} to {after} while it was measured."
)
STEAL = message(
    "cell.steal",
    "virtualisation: the hypervisor took {steal_ns:time} ({share:percent} of the measuring CPUs' time); its share "
    "of the latencies cannot be told apart.",
)
OFFLINE = message(
    "cell.cpu-offline",
    "{thread} lost its CPU while it measured: the CPU was taken offline, or the thread's affinity changed.",
)
SUSPENDED = message(
    "cell.suspended",
    "the machine was suspended for {suspended_ns:time} while it was measured: the measurement's clock stood still.",
)
STEPPED = message(
    "cell.clock-stepped",
    "the time of day was set by {stepped_ns:time} while it was measured; latencies are on CLOCK_MONOTONIC, which "
    "does not step.",
)
SLEWED = message(
    "cell.clock-slewed",
    "CLOCK_MONOTONIC was slewed while it was measured ({slewed_ppm:count} ppm against the hardware's clock): periods "
    "and latencies are off by that.",
)
SMI = message(
    "cell.smi",
    "{count:count} system management interrupt came while it was measured.",
    "{count:count} system management interrupts came while it was measured.",
    by="count",
)
SWITCHED_OUT = message(
    "cell.switched-out",
    "{thread} was switched out {count:count} time involuntarily: something of its priority or above ran, or "
    "real-time throttling.",
    "{thread} was switched out {count:count} times involuntarily: something of its priority or above ran, or "
    "real-time throttling.",
    by="count",
)
MIGRATED = message(
    "cell.migrated",
    "{thread} migrated {count:count} time although it was pinned.",
    "{thread} migrated {count:count} times although it was pinned.",
    by="count",
)
STAGE_SWITCHES = message(
    "cell.stage-switches",
    "{thread} left the stage of its real-time core {count:count} time while it measured: its latencies are partly "
    "Linux's.",
    "{thread} left the stage of its real-time core {count:count} times while it measured: its latencies are partly "
    "Linux's.",
    by="count",
)
GRAVITY = message(
    "cell.gravity",
    "the real-time core programs its timers {gravity_ns:time} ahead of the release (its gravity): a latency here is "
    "by about as much smaller than that of a kernel without it, and may be negative. Measure with --set "
    "knob=core_gravity=0 before you compare.",
)
CORE_OVERRUNS = message(
    "cell.core-overruns",
    "{thread} has {count:count} overrun by the real-time core's own count.",
    "{thread} has {count:count} overruns by the real-time core's own count.",
    by="count",
)
AS_PUBLISHED = message(
    "cell.as-published",
    "the loop that the studies print never catches up after a stall: every later latency is too large by the "
    "time that was lost.",
)
ALONE = message(
    "cell.alone",
    "one sample makes the maximum and the deviation of {column}: {sample}. Without it the maximum is "
    "{rest_max_ns:time} and not {max_ns:time}, the deviation {rest_stddev_ns:time} and not {stddev_ns:time}.",
)
UNORDERED = message(
    "cell.unordered",
    "imported without the order of its samples: trends, clusters and times cannot be checked.",
)
UNCOUNTED = message(
    "cell.uncounted",
    "the tool does not count missed releases: a stall may hide late answers that are not here.",
)
BEYOND = message(
    "cell.beyond",
    "{count:count} sample of {from_ns:time} or more lies beyond the histogram: its value is not known.",
    "{count:count} samples of {from_ns:time} or more lie beyond the histogram: not every value is known.",
    by="count",
)
AT_LEAST = message(
    "cell.at-least", "the largest sample is not known: the maximum is at least the value given here."
)
CPUS_DIFFER = message(
    "cell.cpus-differ",
    "{column}: the CPUs or threads differ, with means of {means:all}. The figures here are of all of them together.",
)
DIFFER = 1.5
"""Largest ratio of two means at which the samples of all CPUs are one population."""
FILE_MISSING = message("file.missing", "{file} is missing")
FILE_CHANGED = message("file.changed", "{file} was changed after it was measured")
UNCHECKED = message("cell.unchecked", "{change}: these figures can no longer be checked against it.")
STARVED = message("cell.starved", "starved, as the study expects: {reason}.")
OFF_TARGET = message(
    "load.off-target",
    "the load {load} achieved {achieved:percent} of its CPUs, and its target is {target:percent}.",
)
OF_LOAD = message("load.reports", "the load {load}: {report}")

THREAD_ON_CPU = message("thread.on-cpu", "the measuring thread on CPU {cpu}")
THREAD = message("thread.unpinned", "measuring thread {number}")
SAMPLE = message("sample.index", "sample {index}")
FIRST_SAMPLE = message("sample.first", "sample {index}, the first one (a longer warm-up leaves it out)")


MISSES_HOLD = frozenset(
    {
        *(CUT.id, DROPPED.id, FAULTS.id, FAULTS_NOT_LOCKED.id),
        *("cell.faults-locked", "cell.faults-partly-locked"),  # of older runs
        *(NO_SAMPLE.id, UNWATCHED.id, STAGE_SWITCHES.id, NOT_LOADED.id, OFFLINE.id, SUSPENDED.id),
    }
)
"""Failed checks in spite of which a miss that was seen is a miss."""
NOTHING_HOLDS = frozenset({CLOCK_SOURCE.id, ACCOUNT.id, DAMAGED.id, FAILED.id, UNCHECKED.id})
"""Failed checks after which nothing is certain."""


def holds(cell: CellSummary) -> bool:
    """Whether the largest value and the misses of a cell are certain: it is valid, or they are in spite of each
    failed check. One that is not known here proves nothing, and neither does a text of an older howlate, which did
    not say where they end."""
    if cell.valid:
        return True
    checks = {check.rule for check in cell.failed}
    if cell.failed_checks is None:
        checks |= {told.rule for told in cell.warnings if told.rule in {*NOTHING_HOLDS, VERBATIM}}
    return bool(checks) and checks <= MISSES_HOLD


class ThreadAccount(Struct, frozen=True):
    number: int
    cpu: int = -1
    """Where it was pinned; -1 where it was not."""
    dropped: int = 0
    minor_faults: int = 0
    major_faults: int = 0
    involuntary_switches: int = 0
    migrations: int = 0
    stage_switches: int = 0
    """From the stage of a real-time core to Linux's."""
    gravity_ns: int = 0
    """By how much the core programs its timers ahead."""
    core_overruns: int = 0
    """By the core's own count."""
    place_changed: bool = False
    """The CPUs that it may use changed while it measured."""

    @property
    def name(self) -> Statement:
        return THREAD_ON_CPU(cpu=self.cpu) if self.cpu >= 0 else THREAD(number=self.number)


class ClockChanges(Struct, frozen=True):
    """What happened to the machine's clocks while it was measured, as the probe tells it; else 0."""

    suspended_ns: int = 0
    stepped_ns: int = 0
    slewed_ppm: int = 0


class LoadRecord(Struct, frozen=True):
    name: str
    target_cpu: float | None
    achieved_cpu: float | None
    warnings: tuple[Statement, ...] = ()
    """Its own."""
    goal: LoadGoal | None = None
    """None of a run by a howlate that did not hold loads to one."""

    @property
    def missing(self) -> Statement | None:
        return not_loaded(self.name, self.goal) if self.goal is not None else None

    @property
    def off_target(self) -> float:
        """By what share of its CPUs it missed its target; 0 without one."""
        target, achieved = self.target_cpu, self.achieved_cpu
        return 0.0 if target is None or achieved is None else achieved - target


class CellRecord(Struct, frozen=True):
    """Everything of one cell that decides whether it is valid."""

    samples: int
    """Outside warm-up."""
    switched_by_design: bool = False
    """The test itself has its measuring threads switched out: that is not a disturbance."""
    faults_by_design: bool = False
    """It was told to have page faults (--inject page-faults)."""
    may_be_empty: bool = False
    """A test that waits for something (a gap) may have seen none until its end."""
    end: str = "whole"
    """How the stream ended: whole, cut, damaged."""
    end_reason: str = ""
    stop_reason: str = "activations"
    account_problems: tuple[str, ...] = ()
    threads: tuple[ThreadAccount, ...] = ()
    clocksource_before: str = ""
    clocksource_after: str = ""
    clocks: ClockChanges = field(default_factory=ClockChanges)
    realtime: bool = False
    """Measured under SCHED_FIFO, SCHED_RR or SCHED_DEADLINE."""
    pinned: bool = True
    memory_lock: str = "all"
    """What was locked: all, present (mapped at the start; the limit forbade more), none."""
    steal_ns: int = 0
    smi_count: int | None = None
    """System management interrupts while it was measured; None where they cannot be counted."""
    duration_ns: int = 0
    cpus: int = 1
    """CPUs that `steal_ns` is summed over: those of the measuring threads."""
    as_published: bool = False
    loads: tuple[LoadRecord, ...] = ()
    unwatched: str = ""
    """Of a test that watches for something and never did: the options that it had."""
    alone: Mapping[str, ColumnSummary] = field(default_factory=dict)
    """The columns of which one sample makes maximum and deviation."""
    warm_up: int = 0
    starvation_expected: bool = False
    """The study says that what is measured may starve the load."""
    probe_warnings: tuple[Statement, ...] = ()
    known: Knowledge = EVERYTHING
    stated: Sequence[Stated] = ()
    """Another tool's own figures of each thread."""


def _missing_loads(cell: CellRecord) -> list[Statement]:
    return [missing for load in cell.loads if (missing := load.missing) is not None]


def starved(cell: CellRecord) -> bool:
    """A load was not there, and the study expects that: a valid cell without statements "under load"."""
    return cell.starvation_expected and bool(_missing_loads(cell))


def failures(cell: CellRecord) -> list[Statement]:
    """Why the cell is not valid: a statement for each failed check; empty if it is."""
    failed = [] if cell.starvation_expected else [NOT_LOADED(reason=why) for why in _missing_loads(cell)]
    if cell.end == "cut":
        failed.append(CUT(reason=cell.end_reason))
    elif cell.end != "whole":
        failed.append(DAMAGED(reason=cell.end_reason))
    if cell.stop_reason == "failed":
        failed.append(FAILED())
    failed += [ACCOUNT(problem=problem.rstrip(". ")) for problem in cell.account_problems]
    if cell.unwatched:
        failed.append(UNWATCHED(options=cell.unwatched))
    if cell.samples == 0 and not cell.may_be_empty:
        failed.append(NO_SAMPLE())
    if dropped := sum(thread.dropped for thread in cell.threads):
        failed.append(DROPPED(count=dropped))
    faults = FAULTS_NOT_LOCKED if cell.memory_lock in ("present", "none") else FAULTS
    failed += [
        faults(thread=thread.name, minor=thread.minor_faults, major=thread.major_faults)
        for thread in cell.threads
        if (thread.minor_faults or thread.major_faults) and not cell.faults_by_design
    ]
    failed += [
        STAGE_SWITCHES(thread=thread.name, count=thread.stage_switches)
        for thread in cell.threads
        if thread.stage_switches
    ]
    failed += [OFFLINE(thread=thread.name) for thread in cell.threads if thread.place_changed]
    if cell.clocks.suspended_ns:
        failed.append(SUSPENDED(suspended_ns=cell.clocks.suspended_ns))
    if cell.clocksource_before != cell.clocksource_after:
        before, after = cell.clocksource_before or "unknown", cell.clocksource_after or "unknown"
        failed.append(CLOCK_SOURCE(before=before, after=after))
    return failed


def warnings(cell: CellRecord) -> list[Statement]:
    """What a reader must know of a cell that may yet be valid."""
    told = []
    if cell.steal_ns > 0:
        measured_ns = cell.duration_ns * cell.cpus
        told.append(STEAL(steal_ns=cell.steal_ns, share=cell.steal_ns / measured_ns if measured_ns else 0.0))
    if cell.clocks.stepped_ns:
        told.append(STEPPED(stepped_ns=cell.clocks.stepped_ns))
    if cell.clocks.slewed_ppm:
        told.append(SLEWED(slewed_ppm=cell.clocks.slewed_ppm))
    if cell.smi_count:
        told.append(SMI(count=cell.smi_count))
    if gravity_ns := max((thread.gravity_ns for thread in cell.threads), default=0):
        told.append(GRAVITY(gravity_ns=gravity_ns))
    for thread in cell.threads:
        if cell.realtime and thread.involuntary_switches and not cell.switched_by_design:
            told.append(SWITCHED_OUT(thread=thread.name, count=thread.involuntary_switches))
        if cell.pinned and thread.migrations:
            told.append(MIGRATED(thread=thread.name, count=thread.migrations))
        if thread.core_overruns:
            told.append(CORE_OVERRUNS(thread=thread.name, count=thread.core_overruns))
    if cell.as_published:
        told.append(AS_PUBLISHED())
    told += [_alone(cell, name, column) for name, column in cell.alone.items()]
    if cell.starvation_expected:
        told += [STARVED(reason=why) for why in _missing_loads(cell)]
    for load in cell.loads:
        told += _of_load(load)
    told += [*_limits(cell.known), *_unlike(cell.stated)]
    # Which loads were not there, and who left a stage, is decided here, from the numbers; the probe tells it to those
    # who run it by hand.
    own = (NOT_LOADED.id, "probe.stage-switches")
    return told + [warning for warning in cell.probe_warnings if warning.rule not in own]


def _unlike(stated: Sequence[Stated]) -> list[Statement]:
    """Columns of which another tool states each CPU's mean, and these are far apart."""
    means: dict[str, list[tuple[str, float]]] = {}
    for entry in stated:
        mean = entry.ns("mean") if entry.sound else None
        if mean is not None:
            who = f"CPU {entry.cpu}" if entry.cpu >= 0 else f"thread {entry.thread}"
            means.setdefault(entry.column, []).append((who, mean))
    return [
        CPUS_DIFFER(column=column, means=[f"{mean / 1000:.4g} us ({who})" for who, mean in _ends(each)])
        for column, each in means.items()
        if _apart([mean for _, mean in each], max(entry.unit_ns for entry in stated))
    ]


def _apart(means: Sequence[float], unit_ns: int) -> bool:
    """Whether means differ by more than the digits that the tool cuts off."""
    low, high = min(means), max(means)
    return high > low * DIFFER and high - low > 2 * unit_ns


def _ends(means: Sequence[tuple[str, float]]) -> Sequence[tuple[str, float]]:
    ordered = sorted(means, key=lambda each: each[1])
    return ordered if len(ordered) <= 8 else [*ordered[:4], *ordered[-4:]]


def _limits(known: Knowledge) -> list[Statement]:
    told = [UNORDERED()] if not known.time_order else []
    if not known.missed_releases:
        told.append(UNCOUNTED())
    if known.overflow and known.overflow_from_ns is not None:
        told.append(BEYOND(count=known.overflow, from_ns=known.overflow_from_ns))
    if not known.exact_max:
        told.append(AT_LEAST())
    return told


def _of_load(load: LoadRecord) -> list[Statement]:
    told = []
    if load.missing is None and abs(load.off_target) > LOAD_POINTS:
        told.append(OFF_TARGET(load=load.name, achieved=load.achieved_cpu, target=load.target_cpu))
    return told + [OF_LOAD(load=load.name, report=warning) for warning in load.warnings]


def _alone(cell: CellRecord, name: str, column: ColumnSummary) -> Statement:
    rest = column.alone
    assert rest is not None and column.max is not None and column.stddev is not None
    return ALONE(
        column=name.removesuffix("_ns"),
        sample=(FIRST_SAMPLE if rest.index <= cell.warm_up else SAMPLE)(index=rest.index),
        rest_max_ns=rest.max,
        max_ns=column.max,
        rest_stddev_ns=rest.stddev,
        stddev_ns=column.stddev,
    )
