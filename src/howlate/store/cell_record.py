"""cell.json, decoded: the parts of the stream's header and trailer that a summary needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import DamagedError
from howlate.model.columns import RELEASE
from howlate.model.decode import Table, decoded, known_schema
from howlate.model.disturbances import Others, disturbances, others_in
from howlate.model.facts import parse_cpus
from howlate.model.knowledge import Knowledge
from howlate.model.stated import MEANS, Stated, stated_in
from howlate.model.summary import WATCHED, Accounting, LoadSummary
from howlate.model.units import parse_duration_ns
from howlate.statistics.load_reached import NOT_LOADED, LoadGoal
from howlate.statistics.valid import CellRecord, ClockChanges, LoadRecord, ThreadAccount
from howlate.store.audit import COUNTS, PLACE_CHANGED
from howlate.store.files import read_json
from howlate.store.run_folder import CELL
from howlate.store.stream import is_int
from howlate.words.statement import VERBATIM, Statement

REALTIME = ("fifo", "rr", "deadline")
IN_WHOLE_US = "hwlat"
"""The source of gaps that compares and tells them in whole microseconds (get_sample() of trace_hwlat.c)."""
PAGE_FAULTS = "page-faults"
"""The delays that are page faults of the measuring thread itself."""


class CellFile(Struct, frozen=True):
    """cell.json of one cell's folder."""

    table: Table
    header: Table
    trailer: Table

    @classmethod
    def read(cls, folder: Path) -> CellFile:
        """Read the file; DamagedError if it is missing or not what ingest() writes."""
        path = folder / CELL
        table = Table(read_json(path), str(path), "", DamagedError)
        known_schema(table.values, 1, str(path))
        trailer = table.values.get("trailer")
        empty = Table({}, str(path), "trailer", DamagedError)
        return cls(
            table, table.table("header", required=True), empty if trailer is None else table.table("trailer")
        )

    @property
    def test(self) -> str:
        return self.header.text("test")

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.header.mapping("parameters")

    @property
    def activations(self) -> bool:
        """Whether its samples are activations of a schedule; otherwise they are data points."""
        names = [column.text("name") for table in self._samples() for column in table.tables("columns")]
        return RELEASE in names or not names

    def outcomes(self) -> dict[str, int | float]:
        """The test's own outcomes: passes and failures, other figures."""
        found = self.trailer.mapping("outcomes")
        return {name: value for name, value in found.items() if is_int(value) or isinstance(value, float)}

    def period_ns(self) -> int | None:
        return self._duration_ns("period")

    def swallowed_step_ns(self) -> int | None:
        """The period of a late policy that leaves releases unserved; None where each of them becomes a sample."""
        return self.period_ns() if self.parameters.get("late-policy") == "skip" else None

    def deadline_ns(self) -> int | None:
        return self._duration_ns("deadline")

    def _duration_ns(self, name: str) -> int | None:
        text = self.parameters.get(name)
        try:
            found = parse_duration_ns(text) if isinstance(text, str) and text else None
        except ValueError as error:
            raise self.header.fail("{name}: {reason}", name=name, reason=error) from None
        return found or None

    def accounting(self) -> Accounting:
        """The sum over the measuring threads. Of a thread whose columns stand in several tables, the releases count
        once: the table that has most of them."""
        by_thread: dict[tuple[int, int], Table] = {}
        for entry in self.table.tables("accounting", required=True):
            key = entry.integer("thread", 0), entry.integer("cpu")
            if key not in by_thread or entry.integer("releases") > by_thread[key].integer("releases"):
                by_thread[key] = entry
        sums = {name: sum(entry.integer(name) for entry in by_thread.values()) for name in COUNTS}
        return Accounting(**sums, late_policy=str(self.parameters.get("late-policy", "")))

    def account_of(self, column: str) -> tuple[Table, ...]:
        """The account of each measuring thread, from the table that has this column."""
        tables = {
            table.integer("id", -1)
            for table in self.header.tables("tables")
            if column in [held.text("name") for held in table.tables("columns")]
        }
        entries = self.table.tables("accounting", required=True)
        return tuple(entry for entry in entries if not tables or entry.integer("table", -1) in tables)

    def cpus_of(self, column: str) -> dict[int, int]:
        """The CPU of each measuring thread of this column's table, -1 of one that was not pinned; none where threads
        share a number."""
        entries = self.account_of(column)
        cpus = {entry.integer("thread", 0): entry.integer("cpu") for entry in entries}
        return cpus if len(cpus) == len(entries) else {}

    def answers(self) -> tuple[str, ...] | None:
        """The columns that answer "how late", as the test declares them; None of an older probe, which did not."""
        columns = [column for table in self._samples() for column in table.tables("columns")]
        if not any("answers" in column.values for column in columns):
            return None
        declared = (column.text("name") for column in columns if column.boolean("answers", fallback=False))
        return tuple(dict.fromkeys(declared))

    def _samples(self) -> list[Table]:
        return [table for table in self.header.tables("tables") if table.text("name") == "samples"]

    def stop_reason(self) -> str:
        """The trailer's stop reason; "killed" if the probe died before it wrote one."""
        return self.trailer.text("stop_reason", "killed")

    def clocksource(self) -> dict[str, str]:
        """The clock source before and after; "unknown" if the probe died before it could say."""
        source = self.trailer.table("clocksource")
        facts = self.header.table("facts").values.get("clocksource")
        before = str(facts) if isinstance(facts, str) and facts else "unknown"
        return {"before": source.text("before", before), "after": source.text("after", "unknown")}

    def loads(self) -> tuple[LoadSummary, ...]:
        return tuple(_load_summary(load) for load in self.trailer.tables("loads"))

    def others(self) -> Others | None:
        """The CPU time of others; None if the probe did not measure it, or died before it could say."""
        return others_in(self.trailer)

    def known(self) -> Knowledge:
        """What is known of the samples; everything unless the file says otherwise, or the test waits for what is
        longer than a threshold."""
        known = decoded(Knowledge, self.table.mapping("known"), self.table.file)
        if WATCHED in self.outcomes() and not known.threshold_ns:
            step_ns = 1000 if self.parameters.get("source") == IN_WHOLE_US else 1
            threshold_ns = self._duration_ns("threshold") or 0
            known = replace(known, threshold_ns=threshold_ns, resolution_ns=max(step_ns, known.resolution_ns))
        return known

    def stated(self) -> tuple[Stated, ...]:
        return stated_in(self.header.values, self.header.file)

    def load_cpus(self) -> list[tuple[str, int]]:
        """The name of each load, in the order of the stream's index, and the number of CPUs given to it."""
        found = []
        for load in self.trailer.tables("loads"):
            cpus = parse_cpus(load.text("cpus", ""))
            found.append((load.text("name"), len(cpus) if cpus else 1))
        return found

    def measuring_cpus(self) -> frozenset[int]:
        """The CPUs of the measuring threads: pinned, or restricted by a cpuset; empty if one could run
        anywhere."""
        pinned = {entry.integer("cpu") for entry in self.table.tables("accounting", required=True)}
        free = {cpu for cpu in pinned if cpu < 0}
        if not free:
            return frozenset(pinned)
        cpusets = [
            thread.text("cpuset", "")
            for thread in self.header.table("in_force").tables("threads")
            if thread.integer("cpu", -1) < 0
        ]
        if not cpusets or not all(cpusets):
            return frozenset()
        return frozenset(pinned - free).union(*(parse_cpus(text) or frozenset() for text in cpusets))

    def record(self, samples: int, sampled_cpus: int, *, starvation_expected: bool = False) -> CellRecord:
        """The values that decide whether the cell is valid. `sampled_cpus`: those in the table `cpus`;
        `starvation_expected`: the study says so of its loads."""
        end = self.table.table("end", required=True)
        whole = end.text("kind") == "whole"
        clocksource = self.clocksource()
        if not whole:
            clocksource = dict.fromkeys(clocksource, clocksource["before"])  # nothing is known of a change
        return CellRecord(
            samples=samples,
            unwatched=self._unwatched(),
            warm_up=max(
                (entry.integer("warm_up") for entry in self.table.tables("accounting", required=True)),
                default=0,
            ),
            may_be_empty=not self.activations and self.stop_reason() == "duration",
            end=end.text("kind"),
            end_reason=end.text("reason"),
            stop_reason=self.stop_reason(),
            account_problems=tuple(str(problem) for problem in self.table.items("problems", required=True)),
            threads=tuple(_thread(entry) for entry in self.table.tables("accounting", required=True)),
            clocksource_before=clocksource["before"],
            clocksource_after=clocksource["after"],
            switched_by_design=self.header.boolean("switched_by_design", fallback=False),
            clocks=decoded(ClockChanges, self.trailer.mapping("clocks"), self.table.file),
            realtime=self._policy().startswith(REALTIME),
            pinned=all(entry.integer("cpu") >= 0 for entry in self.table.tables("accounting")),
            faults_by_design=self.header.table("in_force").table("inject").text("kind", "") == PAGE_FAULTS,
            memory_lock=self.header.table("in_force").text("memory_lock", ""),
            steal_ns=self.trailer.integer("steal_ns", 0),
            smi_count=disturbances(self.trailer.values).smi,
            duration_ns=self.trailer.integer("duration_ns", 0),
            cpus=len(self.measuring_cpus()) or max(sampled_cpus, 1),
            as_published=self.parameters.get("late-policy") == "as-published",
            loads=tuple(_load(load) for load in self.trailer.tables("loads")),
            starvation_expected=starvation_expected,
            probe_warnings=self.probe_warnings(),
            known=self.known(),
            stated=(*self.stated(), *stated_in(self.trailer.values, self.trailer.file, MEANS)),
        )

    def probe_warnings(self) -> tuple[Statement, ...]:
        return _warnings(self.trailer)

    def _unwatched(self) -> str:
        """For a test that watches for events and never did: the options that determine how long it watches."""
        if self.outcomes().get(WATCHED) != 0:
            return ""
        named = {name: self.parameters.get(name) for name in ("duration", "window", "width")}
        return ", ".join(f"{name} {text}" for name, text in named.items() if text) or "no time"

    def _policy(self) -> str:
        """The measuring policy in force, in lower case; the requested policy if that is not recorded."""
        threads = self.header.table("in_force").tables("threads")
        policies = [thread.text("policy", "") for thread in threads] or [
            str(self.parameters.get("policy", ""))
        ]
        return policies[0].lower().removeprefix("sched_")


def _warnings(table: Table) -> tuple[Statement, ...]:
    """The probe's warnings, under the ids that it gave; older probes give none."""
    texts = [str(text) for text in table.items("warnings")]
    rules = [str(rule) for rule in table.items("warning_rules")]
    if len(rules) != len(texts):
        rules = [NOT_LOADED.id if text.startswith("not loaded: ") else VERBATIM for text in texts]
    return tuple(
        Statement.verbatim(f"{text.strip().rstrip('.')}.", rule)
        for text, rule in zip(texts, rules, strict=True)
    )


def _thread(entry: Table) -> ThreadAccount:
    return ThreadAccount(
        number=entry.integer("thread", 0),
        cpu=entry.integer("cpu"),
        dropped=entry.integer("dropped"),
        minor_faults=entry.integer("minor_faults"),
        major_faults=entry.integer("major_faults"),
        involuntary_switches=entry.integer("involuntary_switches"),
        migrations=entry.integer("migrations"),
        stage_switches=entry.integer("stage_switches", 0),
        gravity_ns=entry.integer("gravity_ns", 0),
        core_overruns=entry.integer("core_overruns", 0),
        place_changed=bool(entry.integer(PLACE_CHANGED, 0)),
    )


def _load(load: Table) -> LoadRecord:
    return LoadRecord(
        load.text("spec", load.text("name")),
        _share(load, "target_cpu"),
        _share(load, "achieved_cpu"),
        _warnings(load),
        _goal(load),
    )


def _goal(load: Table) -> LoadGoal | None:
    """The goal; None for a run by a howlate that did not hold loads to one."""
    if "goal" not in load.values:
        return None
    goal = load.table("goal")
    return LoadGoal(
        goal.text("unit", ""),
        _share(goal, "target"),
        _share(goal, "reference"),
        goal.real("achieved"),
        goal.text("deed", ""),
        goal.integer("deeds"),
        load.integer("duration_ns", 0),
    )


def _load_summary(load: Table) -> LoadSummary:
    name, spec = load.text("name"), load.text("spec", "")
    target, achieved = _share(load, "target_cpu"), _share(load, "achieved_cpu")
    results = {"unit": load.text("unit", ""), "units": load.integer("units", 0), **load.mapping("results")}
    goal = _goal(load)
    if goal is None:
        return LoadSummary.of_share(name, target, achieved, results, spec)
    return LoadSummary(
        name,
        target,
        achieved,
        results,
        spec,
        unit=goal.unit,
        target=goal.target,
        reference=goal.reference,
        achieved=goal.achieved,
        share=goal.share,
    )


def _share(load: Table, name: str) -> float | None:
    return None if load.values.get(name) is None else load.real(name)
