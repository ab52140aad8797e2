"""The explained samples of a run's cells, and what their causes sum up to. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from howlate.document.report_input import ReportInput
from howlate.model.cause import ORDINARY, Cause, CausePart, ExplainedCase, Lateness
from howlate.model.disturbances import disturbances
from howlate.model.facts import Facts, guest_if_known
from howlate.model.guest_cpus import MOST_MIPS, GuestCpus
from howlate.model.in_force import knobs_in_force, measuring_cpus, timer_slack_ns
from howlate.model.loaded import CellContent, RunContent
from howlate.model.preemption import preemption_of
from howlate.model.study import KERNEL
from howlate.model.trace import LOSSY, NOTHING_KEPT, CellTrace
from howlate.settings import thp
from howlate.settings.cpu_dma_latency import IDLE_STATES
from howlate.statistics.labels import row_names
from howlate.why.case_events import MachineFacts
from howlate.why.causes import explain_cases

_THREADS = ("ksoftirqd", "ktimers", "kworker", "migration", "rcuc", "rcuop", "rcuog", "cpuhp", "idle_inject")
WEIGHTY = 0.05
"""A cause is worth a remedy if it has this share of all the time, or is the largest in some case."""
OWN_SHARE, OWN_NS, OWN_VIRTUAL_NS = 0.05, 1_000, 2_000
"""Recording may take so much of a wake-up: a share of the median or a time, whichever is larger; another time in a
guest in virtual time, whose nanosecond is an instruction. What takes more is told."""
LONG_IDLE_NS = 10_000
"""Above this leaving idle is worth a remedy, as the doctor has it of idle states."""


class ExplainedCell(Struct, frozen=True):
    """A cell and its explained samples, the worst first."""

    id: str
    name: str
    labels: Mapping[str, str]
    cases: tuple[ExplainedCase, ...]
    samples: int
    absent: tuple[str, ...] = ()
    """Events that this kernel does not have."""
    cases_lost: int = 0
    """Samples that were late enough, and for which there was no room."""
    events_lost: int = 0
    events_missed: int = 0
    """Of the whole run, not of the cases alone."""
    worst: int | None = None
    """Number of the worst of each thread that are kept; None if unknown."""
    above_ns: int | None = None
    """Samples above this are kept too; None: none for that."""
    has_idle_states: bool | None = None
    """Whether its kernel has idle states to choose from; None if nobody knows."""
    median_ns: int | None = None
    """Of all samples, with what recording added; None if they are too few."""
    own_cost_ns: int = 0
    """So much recording took of each wake-up: the least of the cases that are whole. 0 if nobody knows."""
    own_most_ns: int = OWN_NS
    """So much it may take, or OWN_SHARE of the median without it, whichever is larger."""
    preemption: str = ""
    """The model of its kernel; "" if nobody knows."""

    @property
    def own_share(self) -> float:
        return self.own_cost_ns / self.median_ns if self.median_ns else 0.0

    @property
    def is_own_cost_much(self) -> bool:
        if self.median_ns is None:
            return False
        return self.own_cost_ns > max(self.own_most_ns, OWN_SHARE * (self.median_ns - self.own_cost_ns))


class CellCase(Struct, frozen=True):
    cell: ExplainedCell
    case: ExplainedCase

    @property
    def replayed(self) -> Lateness:
        assert self.case.replayed is not None
        return self.case.replayed


class CasePlace(Struct, frozen=True):
    cell: str
    name: str
    """The cell's: unlike ids, names tell the cells of joined runs apart."""
    thread: int
    release: int
    rank: int = 1
    """Among the cell's samples, the worst first."""


class CauseSum(Struct, frozen=True):
    """One cause over several cases."""

    cause: Cause
    name: str
    cases: int
    """The number of samples that have it."""
    largest_in: int
    total_ns: int
    worst_ns: int
    """The most in one case."""
    worst_in: CasePlace
    example: CausePart
    """Its longest part."""
    has_idle_states: bool | None = None
    """The kernel on which it was the worst; None if unknown."""
    preemption: str = ""
    kernel: str = ""
    """That kernel's label."""
    held_ns: int = 0
    """The time of it with interrupts or preemption off (CausePart.held_ns)."""


def explained_by_row(material: ReportInput) -> list[ExplainedCell]:
    """The cells whose events were recorded, under the names that their rows have."""
    named = zip(material.with_cases, row_names(material.labels), strict=True)
    return [replace(cast("ExplainedCell", cell), name=name) for cell, name in named if cell is not None]


def explained_cells(content: RunContent) -> tuple[ExplainedCell, ...]:
    """The cells that were measured with a trace, in the order of the plan."""
    names = row_names([dict(cell.summary.labels) for cell in content.cells])
    return tuple(
        _explained(content, cell, name)
        for cell, name in zip(content.cells, names, strict=True)
        if cell.trace is not None
    )


def _explained(content: RunContent, cell: CellContent, name: str) -> ExplainedCell:
    """A sample that was not late has no time to explain."""
    assert cell.trace is not None
    facts = machine_facts(content, cell)
    cases = [
        replace(each, steal_permille=_steal_permille(cell, each.case.thread, each.case.stamp_ns))
        for each in explain_cases(cell.trace, facts)
        if each.case.latency_ns > 0
    ]
    trace, column = cell.trace, cell.column
    median_ns = column.quantiles.get("0.5") if column is not None else None
    whole = [each for each in cases if not each.case.state & (LOSSY | NOTHING_KEPT)]
    return ExplainedCell(
        cell.summary.id,
        name,
        cell.summary.labels,
        tuple(sorted(cases, key=lambda case: -case.case.latency_ns)),
        (column.count or 0) if column is not None else 0,
        absent=_missed(trace),
        cases_lost=trace.cases_lost,
        events_lost=trace.events_lost,
        events_missed=trace.events_missed,
        worst=trace.worst,
        above_ns=trace.above_ns,
        has_idle_states=has_idle_states(_facts_of(content, cell)),
        median_ns=median_ns,
        own_cost_ns=min((each.ns_of(Cause.OWN_COST) for each in whole), default=0),
        own_most_ns=OWN_VIRTUAL_NS if content.run.virtual else OWN_NS,
        preemption=facts.preemption,
    )


_OF_OTHERS = {"ipi_entry": "reschedule_entry", "ipi_exit": "reschedule_exit", "irq_vectors": "ipi_entry"}
"""Events of one architecture, and those that another one has in their place."""


def _missed(trace: CellTrace) -> tuple[str, ...]:
    """The events that this kernel does not have, without those that another architecture has in their place."""
    return tuple(event for event in trace.absent if _OF_OTHERS.get(event) not in trace.recorded)


def machine_facts(content: RunContent, cell: CellContent) -> MachineFacts:
    kernel = cell.summary.labels.get("kernel", "")
    captured = _captured(content, cell)
    config = next((each.config for each in content.kernels if each.label == kernel), None)
    facts, knobs = _facts_of(content, cell), knobs_in_force(cell.header)
    guest = GuestCpus.of_facts(facts.values)
    return MachineFacts(
        is_virtual_time=content.run.virtual,
        is_guest=False if content.run.virtual else guest_if_known(facts),
        preemption=preemption_of(captured, config, knobs) if captured is not None else "",
        idle_exit_ns=_idle_exits(facts),
        timer_slack_ns=timer_slack_ns(cell.header),
        round_ns=guest.round_ns if content.run.virtual else 0,
        instruction_ns=MOST_MIPS // guest.mips if content.run.virtual else 1,
        smi=disturbances(cell.trailer).smi,
        may_clear_huge=_may_clear_huge(facts, knobs),
    )


def _captured(content: RunContent, cell: CellContent) -> Mapping[str, Any] | None:
    """What was captured of the machine that measured a cell; None if nothing was."""
    captured = content.run.machines.get(cell.summary.labels.get("kernel", "")) or content.run.facts
    return captured if isinstance(captured, dict) and captured.get("facts") == 1 else None


def _facts_of(content: RunContent, cell: CellContent) -> Facts:
    captured = _captured(content, cell)
    return Facts.from_json(dict(captured)) if captured is not None else Facts({}, {})


def _may_clear_huge(facts: Facts, knobs: Sequence[str]) -> bool:
    return (
        thp.is_on(facts, knobs)
        and re.fullmatch(r"x86_64|i\d86", facts.text("kernel.machine") or "") is not None
    )


def has_idle_states(facts: Facts) -> bool | None:
    """Whether the kernel has idle states to choose from; None if nobody knows."""
    rows = facts.table(IDLE_STATES)
    if rows is not None:
        return bool(rows)
    return False if IDLE_STATES in facts.absent else None


def _idle_exits(facts: Facts) -> dict[int, int]:
    """By the number of the state; the longest of all CPUs."""
    found: dict[int, int] = {}
    for row in facts.table(IDLE_STATES) or ():
        state, latency_us = row.get("state"), row.get("latency_us")
        if isinstance(state, int) and isinstance(latency_us, int):
            found[state] = max(found.get(state, 0), latency_us * 1000)
    return found


def _steal_permille(cell: CellContent, thread: int, at_ns: int) -> int | None:
    """Of the thread's CPU, in the second in which something happened."""
    cpu = measuring_cpus(cell.header).get(thread)
    if cpu is None or cell.bins is None:
        return None
    share = cell.bins.load_at(f"cpu {cpu} steal", at_ns / 1e9)
    return None if share is None else round(share * 1000)


@lru_cache(maxsize=1024)
def common_name(name: str) -> str:
    """A task's name without the number of its CPU: kworker/1:2 and kworker/0:1 are of one kind."""
    first = name.partition("/")[0]
    return first if first in _THREADS else name


def cause_sums(cells: Iterable[ExplainedCell]) -> list[CauseSum]:
    """The causes with the most time first, over all cases."""
    sums: dict[tuple[Cause, str], CauseSum] = {}
    for cell in cells:
        for rank, case in enumerate(cell.cases, 1):
            _add(sums, cell, case, rank)
    return sorted(sums.values(), key=lambda each: (-each.total_ns, each.cause, each.name))


def _add(
    sums: dict[tuple[Cause, str], CauseSum], cell: ExplainedCell, case: ExplainedCase, rank: int
) -> None:
    own: Counter[tuple[Cause, str]] = Counter()
    held: Counter[tuple[Cause, str]] = Counter()
    longest: dict[tuple[Cause, str], CausePart] = {}
    for part in case.parts:
        key = part.cause, common_name(part.key[1])
        own[key] += part.ns
        held[key] += part.held_ns
        longest[key] = max(longest.get(key, part), part, key=lambda each: each.ns)
    largest = own.most_common(1)[0][0]
    place = CasePlace(cell.id, cell.name, case.case.thread, case.case.release, rank)
    for key, ns in own.items():
        before = sums.get(key)
        is_largest = int(key == largest)
        if before is None:
            sums[key] = CauseSum(
                *key,
                1,
                is_largest,
                ns,
                ns,
                place,
                longest[key],
                has_idle_states=cell.has_idle_states,
                preemption=cell.preemption,
                kernel=cell.labels.get(KERNEL, ""),
                held_ns=held[key],
            )
            continue
        is_worst = ns > before.worst_ns
        sums[key] = replace(
            before,
            cases=before.cases + 1,
            largest_in=before.largest_in + is_largest,
            total_ns=before.total_ns + ns,
            worst_ns=max(ns, before.worst_ns),
            worst_in=place if is_worst else before.worst_in,
            example=longest[key] if is_worst else before.example,
            has_idle_states=cell.has_idle_states if is_worst else before.has_idle_states,
            preemption=cell.preemption if is_worst else before.preemption,
            kernel=cell.labels.get(KERNEL, "") if is_worst else before.kernel,
            held_ns=before.held_ns + held[key],
        )


def weighty_causes(sums: Sequence[CauseSum]) -> list[CauseSum]:
    """Those that something should be done about, the weightiest first. Leaving idle is part of every wake-up, and
    worth a remedy where it took long."""
    whole_ns = sum(each.total_ns for each in sums)
    return [
        each
        for each in sums
        if (each.largest_in or each.total_ns >= WEIGHTY * whole_ns)
        and (each.cause not in ORDINARY or (each.cause is Cause.IDLE and each.worst_ns > LONG_IDLE_NS))
    ]


def worst_cases(cells: Sequence[ExplainedCell], most: int | None = None) -> list[CellCase]:
    """The worst of all cells, the worst first; all for None."""
    every = [CellCase(cell, case) for cell in cells for case in cell.cases]
    return sorted(every, key=lambda one: -one.case.case.latency_ns)[:most]
