"""Show a run's tables in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.language import _

if TYPE_CHECKING:
    from howlate.store.run_folder import RunFolder


@click.command(epilog="Example: howlate show runs/20260102T030405-check --json")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option("--cells", "every", is_flag=True, help="Every cell, where the tables show repeated points.")
@click.option("--kernels", is_flag=True, help="A lab run's kernels, and how their configurations differ.")
@click.option("--all", "all_", is_flag=True, help="With --kernels: every option that differs.")
@click.option("--verify", is_flag=True, help="Whether every file is as it was measured; exit code 4 if not.")
@click.option("--json", "as_json", is_flag=True, help="As JSON (docs/commands.md).")
def command(
    runs: tuple[Path, ...], every: bool, kernels: bool, all_: bool, verify: bool, as_json: bool
) -> int:
    """Show the tables of the run folder RUN, of several as one set of cells. Where points are repeated (seeds of
    virtual time) a row is a point with the spread over its repetitions."""
    from howlate.cli._measure import print_run
    from howlate.errors import UsageError
    from howlate.session import reopen
    from howlate.store.run_folder import RunFolder

    if all_ and not kernels:
        raise UsageError("--all needs --kernels", "add --kernels, or leave --all out")
    if verify:
        return max([_verify(RunFolder.open(run)) for run in runs])
    if len(runs) > 1:
        return _show_several(runs, every, kernels, as_json)
    folder = RunFolder.open(runs[0])
    if as_json:
        from howlate.report.terminal import show_json

        click.echo(show_json(folder.summaries(), folder.read_run()), nl=False)
        return 0
    if kernels:
        _print_kernels(folder, all_)
        return 0
    print_run(*reopen(folder), every)
    return 0


def _verify(folder: RunFolder) -> int:
    """Every byte of every whole cell against what was noted when it was finished, and cells that are gone."""
    from howlate.errors import ExitCode

    whole = folder.whole_cells()
    wrong = [f"cells/{cell}: {what}" for cell in whole for what in folder.differences(cell)]
    gone = folder.finished_cells() - set(whole)
    wrong += [f"cells/{cell}: " + _("it was whole, and is not any more") for cell in sorted(gone)]
    old = [cell for cell in whole if not folder.has_checksums(cell)]
    for sentence in wrong:
        click.echo(sentence)
    if old:
        said = _("{old} of {cells} cells have no checksums: an older howlate finished them.")
        click.echo(said.format(old=len(old), cells=len(whole)))
    if not folder.run_has_checksum():
        click.echo(_("run.json has no checksum: an older howlate wrote it."))
    if wrong:
        return ExitCode.BROKEN
    click.echo(_("{cells} cells are as they were measured.").format(cells=len(whole) - len(old)))
    return ExitCode.DONE


def _show_several(runs: tuple[Path, ...], every: bool, kernels: bool, as_json: bool) -> int:
    """Runs of one machine's kernels, or of several studies: the label `kernel` or `run` tells them apart."""
    import shlex

    from rich.console import Console

    from howlate.errors import UsageError
    from howlate.report.compare import compare_if_several, labelled
    from howlate.report.content import must_be_one_clock, read_content
    from howlate.report.terminal import print_cells, show_json

    if kernels:
        raise UsageError("--kernels takes one run", "`howlate compare RUN RUN` tells how kernels differ")
    contents = [read_content(run, bins=False) for run in runs]
    must_be_one_clock(contents)
    cells = labelled(contents, compare_if_several(contents))
    if as_json:
        click.echo(show_json(cells, contents[0].run), nl=False)
    else:
        folders = shlex.join(str(run) for run in runs)
        print_cells(Console(highlight=False), cells, None, contents[0].run, every, folders)
    return 0


def _print_kernels(folder: RunFolder, every: bool) -> None:
    from rich.console import Console

    from howlate.errors import UsageError
    from howlate.report.kernels import print_kernels, read_kernels

    run = folder.read_run()
    if not run.machines:
        raise UsageError(
            f"{folder.path} is not of the lab's kernels", "`howlate doctor --run` tells of its machine"
        )
    print_kernels(Console(highlight=False, markup=False), read_kernels(folder, run), every)
