"""Points with their repetitions, as the lab leaves them, for tests of what is said and drawn of them."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from howlate.document.points import Points
from howlate.figures.figure import Subject
from howlate.model.bins import CellBins
from howlate.model.loaded import CellContent, MeasuredKernel, RunContent
from howlate.model.plan import Cell, Plan
from howlate.model.run import Run
from howlate.model.study import Study
from howlate.model.summary import CellSummary
from made_cells import made_cell
from made_runs import FACTS, HEADER

KERNELS = ("6.1[preempt=none]", "6.1[preempt=full]", "6.1-rt")
SWEEP = ("5.10", "5.10-rt", "6.1", "6.1-rt", "6.12", "6.12-rt@arm64", "6.12@arm64", "7.2-rt")

Cells = list[tuple[CellSummary, CellBins]]


def made_points(
    kernels: Sequence[str] = KERNELS,
    loads: Sequence[str] = ("none", "hackbench:10"),
    seeds: int = 4,
    n: int = 2000,
) -> Cells:
    """Every kernel under every load, with so many seeds."""
    found = []
    for k, kernel in enumerate(kernels):
        for load in loads:
            for seed in range(1, seeds + 1):
                summary, bins, _ = made_cell(load, 100 * k + seed, n, 100, {"kernel": kernel})
                found.append((replace(summary, id=cell_id(k, load, seed), repetition=seed), bins))
    return found


def cell_id(kernel: int, load: str, seed: int) -> str:
    return f"k{kernel}-{load.split(':')[0]}-{kernel:02d}{len(load):08x}-{seed}"


def virtual_run(cells: Cells, kernels: Sequence[str] = KERNELS, **changes: Any) -> RunContent:
    """The run of these cells."""
    planned = tuple(
        Cell(s.id, s.test, {}, s.labels, int(s.id.rpartition("-")[2]), 12.0, machine=s.labels["kernel"])
        for s, _ in cells
    )
    study = Study("made", "Kernels", "Which kernel is the least late?", "cyclic")
    run = Run(
        "20260102T030405-made", "2026-01-02T03:04:05Z", study, Plan(planned), "lab:" + ",".join(kernels), FACTS,
        machines=dict.fromkeys(kernels, FACTS), clock="virtual",
    )  # fmt: skip
    described = tuple(
        MeasuredKernel(
            k,
            "6.1.0",
            "#1 SMP",
            "quiet <b>",
            {"HZ": "250", **({"PREEMPT_RT": "y"} if "rt" in k else {})},
            True,
        )
        for k in kernels
    )
    contents = tuple(CellContent(s, b, HEADER, {"duration_ns": 2_000_000_000}) for s, b in cells)
    return RunContent(replace(run, **changes), contents, kernels=described)


def point_subjects(cells: Cells) -> list[Subject]:
    """What a chart of points is given."""
    content = virtual_run(cells)
    points = Points.of([content], content.cells, [c.summary.labels for c in content.cells], [()] * len(cells))
    assert points is not None
    return list(points.subjects(100, 1)["points"])
