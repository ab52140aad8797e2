"""Whether a cell may be used for a statement, and what else its reader must know (STATISTICS: "Valid?").

Pure: from what the probe wrote of the cell. A failed check makes the cell invalid; a warning leaves it valid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from howlate.model.summary import ColumnSummary
from howlate.stats.loaded import NOT_LOADED, LoadGoal, not_loaded

LOAD_POINTS = 0.03
"""A load that missed its target by more than this share of its CPUs is named."""


@dataclass(frozen=True)
class ThreadAccount:
    """What is looked at of one measuring thread."""

    name: str
    dropped: int = 0
    minor_faults: int = 0
    major_faults: int = 0
    involuntary_switches: int = 0
    migrations: int = 0


@dataclass(frozen=True)
class LoadRecord:
    """What is looked at of one load."""

    name: str
    target_cpu: float | None
    achieved_cpu: float | None
    warnings: tuple[str, ...] = ()
    goal: LoadGoal | None = None
    """None of a run by a howlate that did not hold loads to one."""

    @property
    def missing(self) -> str:
        """Why the cell was not under this load; "" where it was."""
        return not_loaded(self.name, self.goal) if self.goal is not None else ""


@dataclass(frozen=True)
class CellRecord:
    """What is looked at of one cell."""

    samples: int
    """Outside warm-up."""
    switched_by_design: bool = False
    """The test itself has its measuring threads switched out: that is no disturbance."""
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
    activations: bool = True
    """Its samples are activations of a schedule; else data points."""
    warm_up: int = 0
    starvation_expected: bool = False
    """The study says that what is measured may starve the load."""
    probe_warnings: tuple[str, ...] = field(default=())


_FAULTS = {
    "all": " although its memory was locked: the kernel may have moved pages (compaction, NUMA balancing, KSM); "
    "measure again",
    "present": "; only what was mapped at the start was locked: raise `ulimit -l` (memlock) or grant CAP_IPC_LOCK",
    "none": "; its memory was not locked: raise `ulimit -l` (memlock) or grant CAP_IPC_LOCK",
}


def missing_loads(cell: CellRecord) -> list[str]:
    """A sentence for each load that was not there."""
    return [load.missing for load in cell.loads if load.missing]


def starved(cell: CellRecord) -> bool:
    """A load was not there, and the study expects that: a valid cell of which nothing is said "under load"."""
    return cell.starvation_expected and bool(missing_loads(cell))


def failures(cell: CellRecord) -> list[str]:
    """Why the cell is not valid: one sentence a failed check; empty if it is."""
    found = [] if cell.starvation_expected else missing_loads(cell)
    if cell.end == "cut":
        found.append(
            f"the probe did not end by itself ({cell.end_reason}): "
            "what follows is up to the last whole batch."
        )
    elif cell.end != "whole":
        found.append(f"the stream is damaged ({cell.end_reason}): what follows is up to the damage.")
    if cell.stop_reason == "failed":
        found.append("the measuring thread failed before its end.")
    found += [f"{_sentence(problem)}" for problem in cell.account_problems]
    if cell.unwatched:
        found.append(
            f"inconclusive: nothing was watched ({cell.unwatched}); give it a duration of several windows."
        )
    if cell.samples == 0 and not cell.may_be_empty:
        found.append("there is no sample outside warm-up.")
    dropped = sum(thread.dropped for thread in cell.threads)
    if dropped:
        found.append(
            f"incomplete: {_many(dropped, 'sample')} dropped because the recorder could not keep up."
        )
    for thread in cell.threads:
        if thread.minor_faults or thread.major_faults:
            found.append(
                f"{thread.name} took {_many(thread.minor_faults, 'minor')} and "
                f"{_many(thread.major_faults, 'major')} page faults while it measured"
                f"{_FAULTS.get(cell.memory_lock, '')}."
            )
    if cell.clocksource_before != cell.clocksource_after:
        found.append(
            f"the clock source changed from {cell.clocksource_before or 'unknown'} to "
            f"{cell.clocksource_after or 'unknown'} while it was measured."
        )
    return found


def warnings(cell: CellRecord) -> list[str]:
    """What a reader must know of a cell that may yet be valid: one sentence each."""
    found = []
    if cell.steal_ns > 0:
        share = (
            100 * cell.steal_ns / (cell.duration_ns * cell.cpus) if cell.duration_ns and cell.cpus else 0.0
        )
        found.append(
            f"virtualisation: the hypervisor took {cell.steal_ns / 1e6:.1f} ms ({share:.2g} % of the "
            "measuring CPUs' time); its share of the latencies cannot be told apart."
        )
    if cell.smi_count:
        found.append(f"{_many(cell.smi_count, 'system management interrupt')} came while it was measured.")
    for thread in cell.threads:
        if cell.realtime and thread.involuntary_switches and not cell.switched_by_design:
            found.append(
                f"{thread.name} was switched out {_many(thread.involuntary_switches, 'time')} against "
                "its will: something of its priority or above ran, or real-time throttling."
            )
        if cell.pinned and thread.migrations:
            found.append(f"{thread.name} migrated {_many(thread.migrations, 'time')} although it was pinned.")
    if cell.as_published:
        found.append(
            "the loop that the studies print never finds back after a stall: latencies after one are too "
            "large by the time that was lost."
        )
    found += [_alone(cell, name, column) for name, column in cell.alone.items()]
    if cell.starvation_expected:
        found += [f"starved, as the study expects: {s.removeprefix(NOT_LOADED)}" for s in missing_loads(cell)]
    for load in cell.loads:
        if (
            not load.missing
            and load.target_cpu is not None
            and load.achieved_cpu is not None
            and abs(load.target_cpu - load.achieved_cpu) > LOAD_POINTS
        ):
            found.append(
                f"the load {load.name} achieved {100 * load.achieved_cpu:.0f} % of its CPUs, "
                f"{100 * load.target_cpu:.0f} % were asked for."
            )
        found += [_sentence(f"the load {load.name}: {text}") for text in load.warnings]
    # Which loads were not there is decided here, from the numbers; the probe says it to who uses it by hand.
    of_probe = [text for text in cell.probe_warnings if not text.startswith(NOT_LOADED)]
    return found + [_sentence(text) for text in of_probe]


def _alone(cell: CellRecord, name: str, column: ColumnSummary) -> str:
    its = column.alone
    assert its is not None and column.max is not None and column.stddev is not None
    one = "activation" if cell.activations else "data point"
    first = its.index <= cell.warm_up
    which = "" if not first else ", the first of all" if not cell.warm_up else ", the first after the warm-up"
    remedy = ""
    if first and not cell.warm_up:
        remedy = " A start is not a latency: give it a warm-up (--set warm-up=5)."
    return (
        f"one sample makes the maximum and the deviation of {name.removesuffix('_ns')}: {one} {its.index}{which}. "
        f"Without it the maximum is {_time(its.max)} and not {_time(column.max)}, the deviation {_time(its.stddev)} "
        f"and not {_time(column.stddev)}.{remedy}"
    )


def _time(ns: float) -> str:
    """Three digits, in the unit that fits."""
    size = abs(ns)
    factor, unit = (
        (1, "ns") if size < 1e3 else (1e3, "us") if size < 1e6 else (1e6, "ms") if size < 1e9 else (1e9, "s")
    )
    return f"{ns / factor:.3g} {unit}"


def _many(count: int, of_what: str) -> str:
    plural = "" if count == 1 or of_what in ("minor", "major") else "s"
    return f"{count:,} {of_what}{plural}"


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else text + "."
