"""What a verdict rests on: the facts of a row (a point of the plan with its repetitions), put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.model.columns import LATENCY
from howlate.model.guest_cpus import GUEST, GuestCpus
from howlate.model.knowledge import EVERYTHING, Knowledge
from howlate.model.summary import CellSummary, ColumnSummary, DeadlineSummary, OfCpu
from howlate.model.tail import TailSummary
from howlate.statistics.deadline import together
from howlate.statistics.groups import Group
from howlate.statistics.resolution import resolution_ns
from howlate.statistics.valid import STEAL
from howlate.words.statement import Statement, message

NO_REASON = message("verdict.no-reason", "a repetition is marked as not valid, and no reason is stored.")
UNLIKE_DEADLINES = message(
    "verdict.unlike-deadlines",
    "its repetitions have unlike deadlines, from {least_ns:given} to {most_ns:given}; `howlate verdict RUN "
    "--deadline TIME` holds them against one.",
)
NO_RELEASE = message("verdict.no-release", "CPU {cpu} was measured, and had no release.")
UNCOUNTED = message(
    "verdict.uncounted-repetitions",
    "the releases of {count:count} repetition were not held against the deadline.",
    "the releases of {count:count} repetitions were not held against the deadline.",
    by="count",
)


class Evidence(Struct, frozen=True):
    """One row against one deadline."""

    deadline: DeadlineSummary
    """The valid repetitions together."""
    seconds: float
    """How long they measured."""
    max_ns: int | None
    """The largest answer; None where there was none."""
    name: str = ""
    """The row's; "" where the run has but one."""
    failed_checks: tuple[Statement, ...] = ()
    """Why repetitions are not valid."""
    column: str = LATENCY
    """What is judged."""
    of_several: bool = False
    """The cells have other columns that are judged too."""
    max_by_cpu: Mapping[str, int] = field(default_factory=dict)
    """The largest answer of each CPU, where several measured."""
    seen: DeadlineSummary | None = None
    """Where a check failed: the releases of all repetitions whose misses hold all the same."""
    repetitions: int = 1
    boots: int = 1
    """In how many boots of the machine it was measured."""
    virtual: bool = False
    """In virtual time, where a repetition is a seed and comes out the same each time."""
    lab_resolution_ns: int = 0
    """In a guest of several CPUs: a shorter time may come from the CPUs' turns (statistics/resolution.py)."""
    trials: bool = True
    """Its samples are answers to releases, or data points. False of a test that waits for events: what it counts are
    the events, so a rate of misses has no meaning."""
    threshold_ns: int | None = 0
    """Up to this length a test that waits for gaps sees none; None where nobody says it."""
    rounds: tuple[DeadlineSummary, ...] = ()
    """`deadline` of each valid repetition, in the order in which they were measured."""
    tails: tuple[TailSummary | None, ...] = ()
    """A tail for each valid repetition; None where nobody looked."""
    samples: tuple[int, ...] = ()
    """How many answers each has."""
    known: Knowledge = EVERYTHING
    """What is known of all of them."""
    steal: float = 0.0
    """The largest share of the measuring CPUs' time that a hypervisor took."""
    disturbed: bool = False
    """Others used the CPUs meanwhile."""
    until_decided: bool = False
    """It was looked at after each round, and ended when it was decided."""
    apart: bool = False
    """Its repetitions are rounds far apart, each of them a unit of what is stated."""
    gravity_ns: int = 0
    """By how much a real-time core programs its timers ahead of the release; the largest of its cells."""

    @property
    def by_rounds(self) -> bool:
        """Whether the bounds of its rate are bets on the count of each repetition, whatever happens within."""
        return self.until_decided or self.apart

    @property
    def cpus(self) -> list[str]:
        """Those that measured, in their order, where there are several; also one that answered nothing."""
        return sorted({*self.deadline.by_cpu, *self.max_by_cpu}, key=int)

    def max_of(self, cpu: str) -> int | None:
        """The largest answer of one of them; None where it had none. Where one alone had any, they are not kept
        apart."""
        answering = [name for name, count in self.deadline.by_cpu.items() if count.unserved < count.releases]
        return self.max_ns if not self.max_by_cpu and answering == [cpu] else self.max_by_cpu.get(cpu)

    @property
    def most_ns(self) -> int | None:
        """As large as the largest answer may have been: a coarse value stands for more than itself."""
        return None if self.max_ns is None else self.max_ns + self.known.resolution_ns - 1

    @property
    def bound_ns(self) -> int:
        """What bounds the horizon: nobody looked for a gap below the threshold."""
        most_ns = self.most_ns or 0
        return max(most_ns, self.threshold_ns) if self.threshold_ns else most_ns


def answers_of(summary: CellSummary) -> ColumnSummary | None:
    """The column that a deadline is held against; of several the one with the largest value. None of a test that
    measures no latency."""
    return summary.columns[summary.latest] if summary.judged else None


def misses_without_samples(summary: CellSummary, deadline_ns: int) -> DeadlineSummary | None:
    """The releases against a deadline, where the summary alone says it: it was stated when the cell was measured, or
    nothing was as late. None where the samples must be counted, for each CPU's releases too."""
    stated = summary.deadline
    if stated is not None and stated.deadline_ns == deadline_ns:
        return stated
    known = [counts for counts in (stated, *summary.ladder[-1:]) if counts is not None]
    by_cpu = next((counts.by_cpu for counts in known if counts.by_cpu), {})
    answers, account = answers_of(summary), summary.accounting
    if answers is None or account.overruns or summary.known.overflow != 0:
        return None
    if answers.max is not None and answers.max > deadline_ns:
        return None
    if len(answers.max_by_cpu) > 1 and not by_cpu:
        return None
    of_cpus = {cpu: OfCpu(count.releases) for cpu, count in by_cpu.items()}
    due = known[0].releases if known else account.releases - account.warm_up  # of this column, if it says so
    return DeadlineSummary(deadline_ns, max(due, answers.count or 0), by_cpu=of_cpus)


def views_of(summary: CellSummary) -> list[CellSummary]:
    """The cell once for each column that is judged, against the deadline that was stated. An older howlate counted
    one column alone: of another that was later than the deadline one miss is certain, and more may be."""
    stated = summary.deadline
    views = [summary.of_column(column) for column in summary.judged]
    if stated is None:
        return views
    return [
        replace(view, deadline=view.deadline or at_deadline(view, stated.deadline_ns, stated.releases))
        for view in views
    ]


def at_deadline(summary: CellSummary, deadline_ns: int, releases: int) -> DeadlineSummary:
    """The releases against a deadline, as far as the summary says: where a cell was later, one miss is certain."""
    if (known := misses_without_samples(summary, deadline_ns)) is not None:
        return known
    answers = answers_of(summary)
    late = int(answers is not None and (answers.max or 0) > deadline_ns)
    return DeadlineSummary(deadline_ns, releases, late, at_least=True)


def evidence_of(
    group: Group,
    deadlines: Mapping[str, DeadlineSummary],
    seconds: Mapping[str, float],
    name: str = "",
    *,
    virtual: bool = False,
    boots: bool = False,
) -> Evidence:
    """The facts of a row. `deadlines` and `seconds` are by the id of a cell. `boots`: each
    repetition had a boot of its own."""
    cells = group.counted
    failed = _failed(group.cells, deadlines)
    counted = together(deadlines[cell.id] for cell in cells if cell.id in deadlines)
    holds = group.seen
    seen = together(deadlines[cell.id] for cell in holds if cell.id in deadlines)
    columns = [answers_of(cell) for cell in holds]
    answers = [column for column in columns if column is not None]
    of_row: dict[str, Any] = {
        "max_ns": max((column.max for column in answers if column.max is not None), default=None),
        "max_by_cpu": _max_by_cpu(answers),
        "name": name,
        "column": max(group.cells, key=_largest).latest,
        "failed_checks": failed,
        "seen": seen,
        "virtual": virtual,
        "lab_resolution_ns": resolution_ns(GuestCpus.parse(group.cells[0].labels.get(GUEST, ""))),
        "trials": not any(cell.waits_for_gaps for cell in group.cells),
    }
    if counted is None:
        return Evidence(DeadlineSummary(), 0.0, **of_row)
    columns = [answers_of(cell) for cell in cells]
    return Evidence(
        counted,
        seconds=sum(seconds.get(cell.id, 0.0) for cell in cells),
        **of_row,
        repetitions=len(cells),
        boots=len(cells) if boots or virtual else 1,
        rounds=tuple(deadlines[cell.id] for cell in cells if cell.id in deadlines),
        threshold_ns=_threshold_ns(cells),
        tails=tuple(cell.tail for cell in cells),
        samples=tuple((column.count or 0) if column is not None else 0 for column in columns),
        known=known_of_all([cell.known for cell in cells]),
        steal=max(map(_steal, cells), default=0.0),
        disturbed=not all(cell.alone for cell in cells),
    )


def _failed(cells: Sequence[CellSummary], deadlines: Mapping[str, DeadlineSummary]) -> tuple[Statement, ...]:
    """Every reason for which a cell of the row does not count, so that none is left out without a word."""
    checks = [check for cell in cells if not cell.valid for check in cell.failed or (NO_REASON(),)]
    uncounted = sum(cell.valid and cell.id not in deadlines for cell in cells)
    of_cpus = [pair for counts in deadlines.values() if counts.releases for pair in counts.by_cpu.items()]
    idle = [NO_RELEASE(cpu=cpu) for cpu, count in of_cpus if not count.releases]
    return tuple(dict.fromkeys([*checks, *idle, *([UNCOUNTED(count=uncounted)] if uncounted else [])]))


def _largest(cell: CellSummary) -> int:
    column = answers_of(cell)
    return (column.max or 0) if column is not None else 0


def _max_by_cpu(columns: Sequence[ColumnSummary]) -> dict[str, int]:
    largest: dict[str, int] = {}
    for column in columns:
        for cpu, value in column.max_by_cpu.items():
            largest[cpu] = max(value, largest.get(cpu, value))
    return largest


def _threshold_ns(cells: Sequence[CellSummary]) -> int | None:
    """The largest threshold of all cells; of one that does not say it its smallest gap, which was not below. A gap in
    whole steps is above a threshold of 10 us from 11 us on."""
    found = []
    for cell in cells:
        column = answers_of(cell)
        smallest = cell.known.threshold_ns
        if smallest is None and column is not None:
            smallest = column.min if column.count else None
        elif smallest:
            smallest += cell.known.resolution_ns - 1
        found.append(smallest)
    known = [threshold for threshold in found if threshold is not None]
    return max(known, default=0) if len(known) == len(found) else None


def known_of_all(known: Sequence[Knowledge]) -> Knowledge:
    overflows = [each.overflow for each in known if each.overflow is not None]
    ends = [each.overflow_from_ns for each in known if each.overflow_from_ns is not None]
    return Knowledge(
        all(each.time_order for each in known),
        all(each.missed_releases for each in known),
        sum(overflows) if len(overflows) == len(known) else None,
        min(ends, default=None),
        all(each.exact_max for each in known),
        max((each.resolution_ns for each in known), default=1),
    )


def _steal(cell: CellSummary) -> float:
    """The share that its warning names."""
    shares = [warning.number("share") for warning in cell.warnings if warning.rule == STEAL.id]
    return max(filter(None, shares), default=0.0)
