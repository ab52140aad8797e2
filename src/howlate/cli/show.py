"""Show a run in the terminal: the answer, or all of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.cli._measure import material_of, print_brief, print_runs, print_screen
from howlate.cli._named import run_argument, tell_cells_missing, tell_missing
from howlate.cli._options import brief_option, histogram_option
from howlate.cli._screen import print_document
from howlate.errors import ExitCode, UsageError
from howlate.model.decode import NOT_WITH

if TYPE_CHECKING:
    from howlate.store.run_folder import RunFolder


@click.command(epilog="Example: howlate show runs/20260102T030405-check --json")
@run_argument(several=True)
@click.option(
    "--cells", "every", is_flag=True, help="Show every cell, also where the tables show repeated points."
)
@histogram_option
@click.option(
    "--configs",
    "kernels",
    is_flag=True,
    help="Show the kernels of a run in the lab, and how their configurations differ.",
)
@click.option(
    "--all",
    "all_",
    is_flag=True,
    help="Show all tables, causes and notes, not the first screen. With --configs: every option that differs.",
)
@brief_option
@click.option(
    "--verify", is_flag=True, help="Check that every file is as it was measured; exit code 4 if not."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/commands.md).")
def command(
    runs: tuple[Path, ...],
    *,
    every: bool,
    histogram: bool,
    kernels: bool,
    all_: bool,
    brief: bool,
    verify: bool,
    as_json: bool,
) -> int:
    """Show the run folder RUN on one screen (docs/first-screen.md), with --all in all its tables; or several as one
    set of cells, in tables. If points are repeated (seeds of virtual time), a row is a point with its repetitions."""
    from howlate.store.run_folder import RunFolder

    if verify:
        return max([_verify(RunFolder.open(run)) for run in runs])
    if (kernels or brief) and len(runs) > 1:
        raise UsageError(NOT_WITH(option="--configs" if kernels else "--brief", other="several runs"))
    if kernels:
        _print_kernels(runs[0], every=all_)
    else:
        return _show(runs, every=every, histogram=histogram, all_=all_, brief=brief, as_json=as_json)
    return 0


def _show(
    runs: tuple[Path, ...], *, every: bool, histogram: bool, all_: bool, brief: bool, as_json: bool
) -> int:
    """Of several runs (of one machine's kernels, or of several studies) the label `kernel` or `run` tells the rows
    apart."""
    from howlate.sides.join import must_be_one_clock
    from howlate.store.loaded import load_run

    whole = as_json or all_ or every or histogram or len(runs) > 1
    contents = [
        load_run(run, bins=histogram or not whole, kernels=False, intervals=whole, is_strict=whole)
        for run in runs
    ]
    must_be_one_clock(contents)
    missing = tell_missing(zip(runs, contents, strict=True))
    if as_json:
        from howlate.document.of_runs import show_json

        click.echo(show_json(material_of(contents, None, runs[0], histograms=histogram)), nl=False)
        return missing
    from howlate.document.report_input import answered

    tally = None
    if len(runs) == 1 and len(contents[0].cells) < len(contents[0].run.plan.cells):
        from howlate.measure.session import reopen
        from howlate.store.run_folder import RunFolder

        tally = reopen(RunFolder(runs[0]), contents[0])[1]
    material = material_of(contents, tally, runs[0], every=every, histograms=histogram)
    if not brief and (whole or answered(material)):
        print_runs(material)
        if len(runs) == 1:
            print_brief(material)
    else:
        print_screen(material, brief=brief)
    return missing


def _verify(folder: RunFolder) -> int:
    """Compare every byte of every whole cell with its checksums, compute its figures from the samples again, and find
    missing cells."""
    from howlate.store.checksums import CHECKSUMS
    from howlate.store.verified import differences

    run = folder.read_run()
    whole = folder.whole_cells(run)
    wrong = [f"cells/{cell}: {what}" for cell in whole for what in differences(folder, run, cell)]
    gone = folder.finished_cells() - set(whole)
    wrong += [f"cells/{cell}: it was whole, and is not any more" for cell in sorted(gone)]
    old = [cell for cell in whole if not folder.has_checksums(cell)]
    if folder.run_has_checksum():  # who wrote that one wrote those of the cells too
        wrong += [f"cells/{cell}: {CHECKSUMS} is missing" for cell in old]
        old = []
    for sentence in wrong:
        click.echo(sentence)
    if old:
        click.echo(f"{len(old)} of {len(whole)} cells have no checksums: an older howlate finished them.")
    if not folder.run_has_checksum():
        click.echo("run.json has no checksum: an older howlate wrote it.")
    if wrong:
        return ExitCode.BROKEN
    missing = tell_cells_missing(folder, run)
    click.echo(f"{len(whole) - len(old)} cells are as they were measured.")
    return missing


def _print_kernels(path: Path, *, every: bool) -> None:
    from howlate.document.kernels import document
    from howlate.store.loaded import read_kernels
    from howlate.store.run_folder import RunFolder

    folder = RunFolder.at(path)
    run = folder.read_run()
    if not run.machines:
        raise UsageError(
            "{run} was not measured on the lab's kernels",
            remedy="`howlate doctor --run {run:shell}` examines its machine",
            run=path,
        )
    print_document(document(read_kernels(folder, run), every=every))
