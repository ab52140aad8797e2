"""`run --emit-job`: the plan as a folder for a machine that is measured by hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from howlate.errors import ExitCode, UsageError
from howlate.model.decode import unknown
from howlate.system.paths import ARCHITECTURES, built_probe, probe_path
from howlate.words.language import as_called
from howlate.words.printable import printable
from howlate.words.quantities import clock
from howlate.words.say import english

if TYPE_CHECKING:
    from howlate.measure.prepare import PlannedRun, RunRequest
    from howlate.model.plan import Cell


README = (
    "1. Copy this folder to the machine that is to be measured. There, as root and in the folder: "
    "./{probe} job {job} --out {results}\n"
    "2. That takes about {time}. Ctrl-C ends it in order, and what is measured is kept. To begin again name another "
    "folder: --out {results}-2\n"
    "3. Copy the folder back with its times (cp -a, scp -pr, tar), and make the run of it: howlate import FOLDER\n"
)


def emit(asked: RunRequest, job: Path, arch: str | None, out: Path | None) -> int:
    """Write the folder and say what to do with it; print its path last."""
    from howlate.measure.prepare import defaults_of, prepare
    from howlate.plan.options import arguments, default_values
    from howlate.store.elsewhere import JOB
    from howlate.store.job_folder import PROBE, RESULTS, JobFolder
    from howlate.targets import open_by_hand

    machine = _machine(arch)
    prepared = prepare(asked, open_by_hand(probe_path()))
    cells = _missing(prepared, out)
    lines = [
        (cell, [PROBE, *arguments(cell.test, cell.parameters), "--stream=stream", "--quiet"])
        for cell in cells
    ]
    probe = built_probe(machine)
    time = clock(sum(cell.expected_s for cell in cells))
    readme = README.format(probe=PROBE, job=JOB, results=RESULTS, time=time)
    run = replace(prepared.run, stream_place="disk")
    by_test = {cell.test: default_values(cell.test, prepared.can) for cell in run.plan.cells}
    JobFolder.write(job, run, lines, defaults_of(run.study, prepared.can), probe, readme, by_test)
    if probe is None:
        note = (
            f"note: the probe for {_folder(machine)} is not built; in a checkout, "
            f"`./dev cross {_folder(machine)}` builds it. Copy it to {printable(str(job / PROBE))}"
        )
        click.echo(note, err=True)
    for warning in (*map(english, run.warnings), *prepared.notes):
        click.echo(f"! {as_called(warning)}", err=True)
    readme_path = printable(str(job / "README.txt"))
    click.echo(
        f"{len(cells)} cells, about {time} on the machine; {readme_path} says what to do. Nothing was measured.",
        err=True,
    )
    click.echo(printable(str(job)))
    return ExitCode.DONE


def _missing(prepared: PlannedRun, out: Path | None) -> tuple[Cell, ...]:
    """All cells that are possible; with a run folder, only those that it does not have."""
    from howlate.measure.session import check_goes_on
    from howlate.plan.resume import still_to_measure
    from howlate.store.run_folder import RunFolder

    whole: list[str] = []
    if out is not None:
        folder = RunFolder.open(out)
        check_goes_on(folder.read_run(), prepared.run, out)
        whole = folder.whole_cells()
    cells = still_to_measure(prepared.run.plan, whole)
    if not cells:
        raise UsageError(
            "{out} already has all {count} cells",
            remedy="leave out --out to measure all of them anew",
            count=len(whole),
            out=out,
        )
    return cells


def _machine(arch: str | None) -> str:
    """The architecture under the name that `uname -m` prints."""
    name = arch or os.uname().machine
    if name in ARCHITECTURES:
        return name
    machines = [machine for machine, folder in ARCHITECTURES.items() if folder == name]
    if not machines:
        known = {*ARCHITECTURES, *ARCHITECTURES.values()}
        raise UsageError(unknown("architecture", name, known))
    return machines[0]


def _folder(machine: str) -> str:
    return ARCHITECTURES[machine]
