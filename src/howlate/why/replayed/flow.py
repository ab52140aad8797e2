"""The worst samples of a lab run, played again and explained (docs/why.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import DamagedError, NotPossibleError, UsageError
from howlate.lab.cache import living, passing
from howlate.lab.debug_info import DebugInfo
from howlate.lab.problems import UNUSABLE
from howlate.lab.targets.lab import LabTarget
from howlate.model.cause import ExplainedCase, Lateness
from howlate.model.decode import unknown
from howlate.model.facts import Facts
from howlate.model.guest_cpus import GuestCpus
from howlate.model.plan import Cell
from howlate.model.run import Run
from howlate.model.trace import TraceCase
from howlate.replay.lateness import lateness_of
from howlate.replay.source_lines import with_places
from howlate.statistics.labels import row_names
from howlate.store.activations import Activation, Activations, recorded_activations
from howlate.store.run_folder import RunFolder
from howlate.why.explained_cells import ExplainedCell, has_idle_states

RELEASES = "cyclic"
"""The test whose samples are latencies of releases."""


class Chosen(Struct, frozen=True):
    """A cell of a run, and its activations that are to be explained."""

    cell: Cell
    activations: Activations
    to_explain: tuple[Activation, ...]


def can_be_replayed(run: Run, wanted: str) -> bool:
    """Whether cells that are named so were measured in virtual time by guests of one CPU, with a test of releases."""
    try:
        is_single = all(guest_of(run, machine).cpus == 1 for machine in run.machines)
    except DamagedError:  # of facts that cannot be read the events know less too
        return False
    return _is_of_the_lab(run) and is_single and bool(_named(_with_releases(run.plan.cells), wanted))


def _with_releases(cells: Iterable[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell.test == RELEASES]


def _named(cells: Sequence[Cell], wanted: str) -> list[Cell]:
    return [cell for cell in cells if cell.id == wanted] or [cell for cell in cells if wanted in cell.id]


def _is_of_the_lab(run: Run) -> bool:
    return run.virtual and bool(run.machines)


def choose(folder: RunFolder, run: Run, wanted: str, worst: int, without: str = "") -> list[Chosen]:
    """The worst activations of the cells that are named by their id or a part of it; of all cells for "". Those
    of the kernel `without` are left out."""
    if not _is_of_the_lab(run):
        raise UsageError(
            "{run} was not measured in the lab's virtual time and cannot be replayed",
            remedy="`howlate why {run:shell} --from events`",
            run=folder.path,
        )
    cells = [cell for cell in _whole_cells(folder, run) if not without or _kernel(cell) != without]
    named = _named(cells, wanted)
    if not named:
        raise UsageError(unknown("whole cell", wanted, {cell.id for cell in cells}))
    return _worst_of(folder, _with_releases(named) or named, worst)


def choose_against(folder: RunFolder, run: Run, one: Cell, kernel: str) -> Chosen:
    """The worst activation of another kernel's cells that are otherwise as this one."""
    cells = _whole_cells(folder, run)
    alike = [cell for cell in cells if _kernel(cell) == kernel and _other_labels(cell) == _other_labels(one)]
    if not alike:
        others = {_kernel(cell) for cell in cells} - {_kernel(one)}
        raise UsageError(unknown("kernel with such a cell", kernel, others))
    return _worst_of(folder, alike, 1)[0]


def _whole_cells(folder: RunFolder, run: Run) -> list[Cell]:
    whole = set(folder.whole_cells(run))
    cells = [cell for cell in run.plan.cells if cell.id in whole]
    for cell in cells:
        if cell.machine not in run.machines:
            raise DamagedError(
                'run.json has cells of "{machine}", and no facts of it',
                remedy="restore run.json from a copy, or measure again into another folder",
                machine=cell.machine,
            )
    return cells


def _kernel(cell: Cell) -> str:
    return cell.labels.get("kernel", cell.machine)


def _other_labels(cell: Cell) -> dict[str, str]:
    return {name: value for name, value in cell.labels.items() if name != "kernel"}


def _worst_of(folder: RunFolder, cells: Sequence[Cell], worst: int) -> list[Chosen]:
    likely = sorted(cells, key=lambda cell: -_largest_ns(folder, cell))[:worst]
    found = {cell.id: recorded_activations(folder.files(cell.id)) for cell in likely}
    ranked = sorted(
        ((each, cell) for cell in likely for each in found[cell.id].worst(worst)),
        key=lambda pair: -pair[0].latency_ns,
    )[:worst]
    return [
        Chosen(cell, found[cell.id], tuple(each for each, owner in ranked if owner is cell))
        for cell in likely
        if any(owner is cell for _each, owner in ranked)
    ]


def _largest_ns(folder: RunFolder, cell: Cell) -> int:
    column = folder.files(cell.id).summary().columns.get("latency_ns")
    return column.max or 0 if column is not None else 0


def kernel_of(run: Run, machine: str) -> str:
    """The label that permanently means the kernel of a machine."""
    return Facts.from_json(dict(run.machines[machine])).text("lab.kernel_label") or machine


def guest_of(run: Run, machine: str) -> GuestCpus:
    values = Facts.from_json(dict(run.machines[machine])).values
    return GuestCpus.of_facts(values)


def explain_all(
    folder: RunFolder,
    run: Run,
    chosen: Sequence[Chosen],
    opened: Callable[[Sequence[str], GuestCpus], LabTarget],
    say: Callable[[str], None],
    debug: Sequence[DebugInfo] = (),
) -> list[ExplainedCell]:
    """Play each cell once, and explain its chosen activations, with lines of source where a kernel's debug
    information is given; each cell's worst first."""
    found: list[ExplainedCell] = []
    names = _names(run)
    sources = _sources(run, chosen, opened, debug)
    for each in chosen:
        label = kernel_of(run, each.cell.machine)
        target = opened([label], guest_of(run, each.cell.machine))
        _check_guest(folder.path, run, each.cell.machine, target, label)
        passing(say, f"playing {each.cell.id} again")
        cell = replace(each.cell, machine=label)
        cases: list[ExplainedCase] = []
        with living(say):
            for done in target.replay(cell, each.activations, each.to_explain):
                passing(
                    say,
                    f"following {done.activation.latency_ns / 1000:,.1f} us from release {done.activation.release}",
                )
                lateness = lateness_of(
                    done.execution, done.release_ns, done.activation.latency_ns, done.stamp
                )
                if (source := sources.get(label)) is not None:
                    lateness = with_places(lateness, done.execution, done.release_ns, source.lines)
                cases.append(_case(done.activation, lateness))
        cases.sort(key=lambda case: -case.case.latency_ns)
        own, samples = each.cell, len(each.activations.each)
        found.append(
            ExplainedCell(
                own.id,
                names[own.id],
                dict(own.labels),
                tuple(cases),
                samples,
                has_idle_states=has_idle_states(Facts.from_json(dict(run.machines[own.machine]))),
            )
        )
    return found


def _case(activation: Activation, lateness: Lateness) -> ExplainedCase:
    release_ns, end_ns = activation.release_ns, activation.release_ns + activation.latency_ns
    case = TraceCase(
        activation.thread, activation.release, release_ns, activation.latency_ns, release_ns, end_ns
    )
    return ExplainedCase(case, lateness.parts, replayed=lateness)


def _sources(
    run: Run,
    chosen: Sequence[Chosen],
    opened: Callable[[Sequence[str], GuestCpus], LabTarget],
    debug: Sequence[DebugInfo],
) -> dict[str, DebugInfo]:
    """The debug information of each kernel that has one, by its label; UsageError if one is of none of them."""
    found: dict[str, DebugInfo] = {}
    machines = {kernel_of(run, each.cell.machine): each.cell.machine for each in chosen} if debug else {}
    for label, machine in machines.items():
        image = opened([label], guest_of(run, machine)).kernel_image(label)
        found.update((label, each) for each in debug if each.is_of(image))
    for each in debug:
        if each not in found.values():
            reason = f"its build id {each.build_id} is of another kernel than {', '.join(machines)}"
            hint = "name the debug package of the same version"
            raise UsageError(UNUSABLE(what=each.path, reason=reason, hint=hint))
    return found


def _names(run: Run) -> dict[str, str]:
    cells = run.plan.cells
    points = {cell.point: dict(cell.labels) for cell in cells}
    named = dict(zip(points, row_names(list(points.values())), strict=True))
    repeated = any(cell.repetition > 1 for cell in cells)
    return {cell.id: named[cell.point] + (f" · {cell.repetition}" if repeated else "") for cell in cells}


def _check_guest(path: Path, run: Run, machine: str, target: LabTarget, label: str) -> None:
    measured = Facts.from_json(dict(run.machines[machine])).text("lab.guest")
    if measured and measured != target.guest_key(label):
        raise NotPossibleError(
            "{run} was measured in another guest of {kernel}: by another build of the probe, of QEMU or of "
            "the kernel, or with other modules",
            remedy="name the modules of your own that it was measured with (--module DIR); measure it "
            "again; or `howlate why {run:shell} --from events`",
            run=path,
            kernel=machine,
        )
