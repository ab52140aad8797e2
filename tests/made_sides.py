"""Runs of stated figures, for tests of what is compared and said of them: no samples, no bins."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.model.loaded import CellContent, RunContent
from howlate.model.plan import Cell, Plan
from howlate.model.preemption import CORES
from howlate.model.run import Run
from howlate.model.study import Order, Study, Value
from howlate.model.summary import (
    Accounting,
    CellSummary,
    ColumnSummary,
    DeadlineSummary,
    LargestAlone,
    LoadSummary,
)
from howlate.statistics.statistics import QUANTILES
from howlate.statistics.valid import GRAVITY
from howlate.words.statement import Statement

US = 1000


class Made(Struct, frozen=True):
    """One cell's figures, in microseconds."""

    median: float = 4.0
    maximum: float = 10.0
    deviation: float = 1.0
    minimum: float = 3.0
    overruns: int = 0
    exceeded: int = 0
    valid: bool = True
    run_ms: float | None = None
    """What a run of the load took."""
    column: str = "latency_ns"
    rest: float | None = None
    """The maximum without the one sample that makes it, and the deviation."""
    gravity_ns: int = 0
    """Of the real-time core that served it."""
    misses: int | None = None
    """Of a deadline of 5 us."""


class Machine(Struct, frozen=True):
    """Where a run was measured."""

    release: str = "6.1.0"
    version: str = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.1-1"
    preempt: str = "none"
    cpu: str = "An ordinary processor"
    config: Mapping[str, str] = field(default_factory=lambda: {"HZ": "250"})
    core: str = ""
    """The real-time core that runs beside Linux."""

    def facts(self) -> dict[str, Any]:
        return {
            "facts": 1,
            "values": {
                "kernel.release": self.release,
                "kernel.version": self.version,
                "kernel.cmdline": f"quiet preempt={self.preempt}",
                "kernel.preempt_mode": f"({self.preempt})",
                "cpu.model": self.cpu,
                "cpu.online": "0-1",
                "kernel.config": dict(self.config),
                **({fact: "3" for core, fact in CORES.items() if core == self.core}),
                **({f"{self.core}.state": "running"} if self.core else {}),
            },
            "missing": {},
        }


NONE, RT = Machine(), Machine("6.1.0-rt", "#1 SMP PREEMPT_RT Debian 6.1.1-1", "full")


def summary_of(cell: Cell, made: Made, kernel: str, clock: str = "tsc") -> CellSummary:
    """The summary of a cell with these figures."""
    quantiles: dict[str, int | None] = dict.fromkeys(QUANTILES)
    quantiles |= {"0.5": round(made.median * US), "0.99": round(made.median * 2 * US)}
    column = ColumnSummary(
        1000, round(made.minimum * US), made.median * US * 1.1, round(made.maximum * US), made.deviation * US,
        made.exceeded, quantiles, 0.5,
        None if made.rest is None else LargestAlone(0, round(made.rest * US), made.deviation * US / 3),
    )  # fmt: skip
    loads = (
        ()
        if made.run_ms is None
        else (LoadSummary("hackbench", None, None, {"run_ns_mean": made.run_ms * 1e6}),)
    )
    return CellSummary(
        cell.id, cell.test, {**cell.labels, "kernel": kernel, "cpu": "0"},
        Accounting(1000 + made.overruns, 1000, made.overruns, 0, 0, 0, 0, "skip"),
        "activations", {"before": clock, "after": clock}, made.valid, {made.column: column},
        loads=loads, repetition=cell.repetition,
        deadline=None if made.misses is None else DeadlineSummary(5 * US, 1000, made.misses),
        warnings=(
            *(() if made.valid else (Statement.verbatim("it was made invalid"),)),
            *((GRAVITY(gravity_ns=made.gravity_ns),) if made.gravity_ns else ()),
        ),
    )  # fmt: skip


def planned(
    labels: Mapping[str, str], repetition: int = 1, test: str = "cyclic", kernel: str = "",
    parameters: Mapping[str, Value] | None = None,
) -> Cell:  # fmt: skip
    """A cell of a plan, with an id as plans make it."""
    digest = hashlib.sha256(repr((sorted(labels.items()), test, kernel)).encode()).hexdigest()[:10]
    machine = kernel
    named = {**labels, **({"kernel": kernel} if kernel else {})}
    asked: dict[str, Value] = {"activations": "1000", **labels, **(parameters or {})}
    return Cell(f"{test}-{digest}-{repetition}", test, asked, named, repetition, 1.0, machine=machine)


Points = Mapping[tuple[tuple[str, str], ...], Sequence[Made]]
"""By labels, the repetitions' figures."""


def at(**labels: str) -> tuple[tuple[str, str], ...]:
    return tuple(labels.items())


def real_run(points: Points, machine: Machine = NONE, run_id: str = "run-a", **changes: Any) -> RunContent:
    """A run of this machine's."""
    settings = changes.pop("settings", {})
    test = changes.pop("test", "cyclic")
    cells = []
    for labels, repetitions in points.items():
        for number, made in enumerate(repetitions, 1):
            cell = planned(dict(labels), number, test, parameters=settings)
            cell = replace(cell, labels={**cell.labels, "kernel": machine.release})
            cells.append((cell, summary_of(cell, made, machine.release)))
    run = Run(
        run_id, "2026-01-02T03:04:05Z", Study("made", "Made", "Which is steadier?", test, order=Order("interleaved")),
        Plan(tuple(cell for cell, _ in cells)), "local", machine.facts(), versions={"howlate": "0.1", "probe": "0.1"},
    )  # fmt: skip
    return RunContent(replace(run, **changes), tuple(CellContent(s, None) for _, s in cells))


def lab_run(kernels: Mapping[str, Points], clock: str = "virtual", **changes: Any) -> RunContent:
    """A run of the lab's: points by kernel; repetitions are seeds, the same for all."""
    cells = []
    for kernel, points in kernels.items():
        for labels, repetitions in points.items():
            for number, made in enumerate(repetitions, 1):
                cell = planned(dict(labels), number, kernel=kernel, parameters={"first": f"{number}us"})
                cells.append((cell, summary_of(cell, made, kernel)))
    machines = {k: (RT if "rt" in k else NONE).facts() for k in kernels}
    run = Run(
        "lab-run", "2026-01-02T03:04:05Z", Study("made", "Made", "Which is steadier?", "cyclic"),
        Plan(tuple(cell for cell, _ in cells)), "lab:" + ",".join(kernels), next(iter(machines.values())),
        machines=machines, clock=clock, versions={"howlate": "0.1", "probe": "0.1"},
    )  # fmt: skip
    return RunContent(replace(run, **changes), tuple(CellContent(s, None) for _, s in cells))
