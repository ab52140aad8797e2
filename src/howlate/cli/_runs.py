"""Commands that are of many runs: which ones, and what they could not read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.places import RUNS

if TYPE_CHECKING:
    from howlate.store.catalogue import Catalogue, LeftOut

runs_argument = click.argument("runs", nargs=-1, type=click.Path(path_type=Path), metavar="[RUN...]")
"""Run folders, or folders that hold some."""
no_index_option = click.option(
    "--index/--no-index", default=True, help="--no-index: read every run anew, and keep no index beside them."
)


def read_runs(places: Sequence[Path], index: bool) -> Catalogue:
    """Those that are named, else all below runs/. What could not be read is named on standard error."""
    from howlate.store.catalogue import read_catalogue

    catalogue = read_catalogue(places or (RUNS,), index)
    name_left_out(catalogue.left_out)
    return catalogue


def name_left_out(left_out: Sequence[LeftOut]) -> None:
    """On standard error."""
    from howlate.words.say import english

    for each in left_out:
        click.echo(f"! {each.place} is left out: {english(each.reason)}", err=True)
