"""Measures delays of known kind and size, and judges what the explanations make of them (docs/calibrate.md)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from howlate.errors import ExitCode, NotPossibleError, UsageError
from howlate.measure.execute import Failure, Tally
from howlate.measure.prepare import NO_SETTINGS, PlannedRun, RunRequest
from howlate.model.decode import unknown
from howlate.model.loaded import CellContent, RunContent
from howlate.model.study import PART, Order, Part, Study, Value
from howlate.model.units import parse_duration_ns
from howlate.plan.settings import Settings
from howlate.store.run_folder import RunFolder
from howlate.why.calibrate.calibration import EXPECTED, KindResult, Undisturbed, judged, undisturbed
from howlate.why.calibrate.injected import InjectedCell
from howlate.why.case_events import MachineFacts
from howlate.why.explained_cells import ExplainedCell, explained_cells, machine_facts
from howlate.words.statement import Statement

CALIBRATE = "calibrate"
UNDISTURBED, INJECTED = "undisturbed", "injected"
"""Its parts."""
KIND, ABOVE, ROUND = "inject", "explain-above", "inject-round"
EVERY = 3
"""Releases for one delay."""
UNDISTURBED_SAMPLES = 2000
"""Without a delay, all of them explained: as many as there is room for. The sizes of a thousand delays are held
against the spread of these."""
LEAST_ABOVE = "1us"


def calibration_study(
    kinds: Sequence[str], count: int, above: str, seed: int, events: str, round_ns: int = 0
) -> Study:
    """`count` delays of each kind while a task is measured and explained, and the same without; what is late by
    more than `above` is explained. A release that passes while the task is delayed is served late (`backlog`), so
    that the delay is in a sample. `round_ns`: of the turns of a guest's CPUs, by which delays keep farther apart; 0
    with one CPU and on a machine."""
    settings: dict[str, Value] = {
        "policy": "fifo:80",
        "period": "1ms",
        "dither": True,
        "late-policy": "backlog",
        "explain": True,
        "explain-events": events,
        "explain-worst": "0",
    }
    calm = {**settings, "activations": str(UNDISTURBED_SAMPLES), ABOVE: LEAST_ABOVE}
    delayed = {
        **settings,
        "activations": str(count * EVERY + 1),
        ABOVE: above,
        "inject-every": str(EVERY),
        "inject-seed": str(seed),
        **({ROUND: f"{round_ns}ns"} if round_ns else {}),
    }
    return Study(
        CALIBRATE,
        "Delays of known size",
        "Are delays of known kind and size found, measured and named rightly?",
        parts=(
            Part(UNDISTURBED, "Without a delay", "cyclic", calm),
            Part(INJECTED, "With delays", "cyclic", delayed, {KIND: tuple(kinds)}),
        ),
        order=Order(),
    )


OF_A_CPU = "20us"
"""In virtual time: above the latency of an idle guest with one CPU, and at most the size of the least delay."""
ON_A_MACHINE = "100us"


class CalibrationRequest(Struct, frozen=True):
    kinds: tuple[str, ...] = ()
    """Empty: all of them."""
    count: int = 1000
    above: str = ""
    """"": by the target."""
    seed: int = 1
    events: str = "all"
    """Which of the kernel's events are recorded."""
    settings: Settings = NO_SETTINGS

    def check(self) -> None:
        """UsageError for what no machine could do."""
        for kind in self.kinds:
            if kind not in EXPECTED:
                raise UsageError(unknown("kind of delay", kind, EXPECTED))

    def to_measure(self, cpus: int, round_ns: int = 0) -> RunRequest:
        """The study. `cpus`: of a guest in virtual time, with a round of their turns; 0 on a machine."""
        self.check()
        usual = f"{int(OF_A_CPU.removesuffix('us')) * cpus}us" if cpus else ON_A_MACHINE
        study = calibration_study(
            self.kinds or tuple(EXPECTED), self.count, self.above or usual, self.seed, self.events, round_ns
        )
        return RunRequest(study, seeds=1 if cpus else 0, command="calibrate", settings=self.settings)


def check_possible(prepared: PlannedRun) -> None:
    """NotPossibleError if no kind can be made; before a folder is made for it."""
    delayed = [cell for cell in prepared.run.plan.cells if cell.labels.get(PART) == INJECTED]
    if all(cell.impossible for cell in delayed):
        reasons = dict.fromkeys(cell.impossible.rstrip(".") for cell in delayed)
        raise NotPossibleError(
            "no delay can be made and explained here: {reasons:items}",
            remedy="load the module that a kind needs, or measure in the lab: `howlate calibrate --kernels 6.1-rt`",
            reasons=tuple(map(Statement.verbatim, reasons)),
        )


class KernelCalibration(Struct, frozen=True):
    kernel: str
    calm: Undisturbed
    results: tuple[KindResult, ...]


class Calibration(Struct, frozen=True):
    path: Path
    kernels: tuple[KernelCalibration, ...]
    impossible: tuple[Failure, ...]
    """Kinds that cannot be made here."""
    broken: tuple[Failure, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """0: all limits are kept; 1: not; 3: nothing could be injected; 4: a cell broke; 5: without a sample that no
        delay met, there is nothing to compare with."""
        if self.broken:
            return ExitCode.BROKEN
        compared = [kernel for kernel in self.kernels if kernel.calm.samples]
        if not all(
            kernel.calm.keeps_limits and all(result.keeps_limits for result in kernel.results)
            for kernel in compared
        ):
            return ExitCode.FAILED
        if len(compared) < len(self.kernels):
            return ExitCode.INCONCLUSIVE
        return ExitCode.DONE if any(kernel.results for kernel in compared) else ExitCode.NOT_POSSIBLE


def calibration_of(path: Path, tally: Tally) -> Calibration:
    """Judges a run of the study."""
    from howlate.store.loaded import load_run
    from howlate.why.calibrate.injections import injected_cell

    content = load_run(path)
    folder = RunFolder.at(path)
    explained = {cell.id: cell for cell in explained_cells(content)}
    cells = [
        injected_cell(folder.files(cell.summary.id), cell.summary)
        for cell in content.cells
        if cell.summary.id in explained
    ]
    kernels = tuple(
        _of_kernel(kernel, [cell for cell in cells if cell.kernel == kernel], explained, content)
        for kernel in dict.fromkeys(cell.kernel for cell in cells if not cell.kind)
    )
    impossible = [f for f in tally.failures if f.exit_code is ExitCode.NOT_POSSIBLE]
    broken = [f for f in tally.failures if f.exit_code is not ExitCode.NOT_POSSIBLE]
    return Calibration(path, kernels, tuple(impossible), tuple(broken))


def _of_kernel(
    kernel: str, cells: Sequence[InjectedCell], explained: dict[str, ExplainedCell], content: RunContent
) -> KernelCalibration:
    calm_cell = next(cell for cell in cells if not cell.kind)
    calm = undisturbed(
        calm_cell,
        explained[calm_cell.id].cases,
        is_virtual=content.run.virtual,
        excludes_gaps=_facts_of(calm_cell, content).excludes_gaps,
    )
    if not calm.samples:
        return KernelCalibration(kernel, calm, ())
    return KernelCalibration(
        kernel,
        calm,
        tuple(_of_kind(cell, explained[cell.id], calm, content) for cell in cells if cell.kind),
    )


def _of_kind(
    cell: InjectedCell, explained: ExplainedCell, calm: Undisturbed, content: RunContent
) -> KindResult:
    facts, above_ns = _facts_of(cell, content), _above_ns(_measured(cell, content))
    return judged(cell, explained.cases, calm, above_ns, facts.round_ns, excludes_gaps=facts.excludes_gaps)


def _measured(cell: InjectedCell, content: RunContent) -> CellContent:
    return next(each for each in content.cells if each.summary.id == cell.id)


def _facts_of(cell: InjectedCell, content: RunContent) -> MachineFacts:
    return machine_facts(content, _measured(cell, content))


def _above_ns(cell: CellContent) -> int:
    """The instant from which a cell's samples were kept."""
    parameters = cell.header.get("parameters")
    return parse_duration_ns(str(parameters.get(ABOVE, "0ns"))) if isinstance(parameters, dict) else 0
