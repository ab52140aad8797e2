"""Commands that are of many runs: which ones, and what they could not read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.errors import ExitCode
from howlate.system.paths import RUNS
from howlate.words.printable import printable
from howlate.words.say import english

if TYPE_CHECKING:
    from howlate.history.catalogue import Catalogue, LeftOut

runs_argument = click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN...]")
"""Run folders, or folders that hold some."""
no_index_option = click.option(
    "--index/--no-index", default=True, help="--no-index: read every run anew, and keep no index of them."
)


def read_runs(places: Sequence[Path], *, index: bool) -> Catalogue:
    """Those that are named, else all below runs/. What could not be read, what changed, and what of the plans was
    never measured is named on standard error."""
    from howlate.document.missing import UNMEASURED
    from howlate.history.catalogue import SAMPLES_ALTERED, read_catalogue

    catalogue = read_catalogue(places or (RUNS,), index=index)
    name_left_out(catalogue.left_out)
    for run in catalogue.runs:
        for cell in run.cells:
            if cell.altered:
                click.echo(
                    f"! {printable(run.folder)}/cells/{cell.id} is not valid: {english(SAMPLES_ALTERED())}",
                    err=True,
                )
        if run.unmeasured:
            told = english(UNMEASURED(cells=run.unmeasured, count=len(run.unmeasured)))
            click.echo(f"! {printable(run.folder)}: {told}", err=True)
    return catalogue


def code_of(catalogue: Catalogue, left_out: Sequence[LeftOut] = ()) -> ExitCode:
    """Something that was measured is left out or changed, or something was never measured."""
    altered = any(cell.altered for run in catalogue.runs for cell in run.cells)
    if catalogue.left_out or left_out or altered:
        return ExitCode.BROKEN
    unmeasured = any(run.unmeasured for run in catalogue.runs)
    return ExitCode.INCONCLUSIVE if unmeasured else ExitCode.DONE


def name_left_out(left_out: Sequence[LeftOut]) -> None:
    for each in left_out:
        click.echo(f"! {printable(str(each.place))} is left out: {english(each.reason)}", err=True)
