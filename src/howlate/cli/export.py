"""Write a run's samples as CSV, Parquet, text, or for gnuplot."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from howlate.cli._named import damaged_where, run_argument, tell_cells_missing
from howlate.cli._options import ListedOption, output_option
from howlate.cli._say import say
from howlate.errors import UsageError
from howlate.model.decode import NOT_WITH, WRONG_OPTION
from howlate.rooms import plugins
from howlate.words.printable import printable

if TYPE_CHECKING:
    from howlate.store.export import Format
    from howlate.store.run_folder import RunFolder


class Formats(click.Choice[str]):
    """The formats of store/export, listed when they are needed."""

    def __init__(self) -> None:
        super().__init__(list(plugins("howlate.store.export")))


def _summaries() -> dict[str, str]:
    from howlate.store.export import find_format, names

    return {name: find_format(name).summary for name in names()}


@click.command(epilog="Example: howlate export runs/20260102T030405-check --format csv -o check.csv")
@run_argument()
@click.option(
    "--format",
    "form",
    type=Formats(),
    required=True,
    cls=ListedOption,
    listed=_summaries,
    help="Output format; those of the published studies write only cells of the tests that they name.",
)
@output_option(
    "Default: RUN with the format's ending (.csv, .parquet, .gp, .txt), in this folder. `-`: standard output, for "
    "formats that are one text file.",
    dash=True,
)
@click.option(
    "--with-parameters",
    is_flag=True,
    help="csv and parquet: add a column for each parameter under which a cell was measured.",
)
@click.option("--cell", "cells", multiple=True, metavar="ID", help="Only this cell; may be repeated.")
def command(
    run: Path, form: str, output: Path | None, *, with_parameters: bool, cells: tuple[str, ...]
) -> int:
    """Write the samples of the run folder RUN to a file and print its path, or write them to standard output."""
    from howlate.store.export import find_format
    from howlate.store.files import OUTPUT
    from howlate.store.run_folder import RunFolder, spare

    folder, chosen = RunFolder.open(run), find_format(form)
    if with_parameters:
        chosen = _with_parameters(chosen)
    code = tell_cells_missing(folder, folder.read_run())
    if output == Path("-"):
        with damaged_where(code), say.living("reading the run"):
            rows = _to_stdout(folder, chosen, cells)
        click.echo(f"{rows:,} samples", err=True)
        return code
    path = output if output is not None else Path(f"{run.resolve().name}{chosen.suffix}")
    spare(path, OUTPUT)
    with damaged_where(code), say.living(f"writing {printable(str(path))}"):
        rows = chosen.write(folder, path, cells)
    click.echo(f"{rows:,} samples", err=True)
    click.echo(printable(str(path)))
    return code


def _with_parameters(chosen: Format) -> Format:
    if chosen.write_with_parameters is None:
        raise UsageError(NOT_WITH(option="--with-parameters", other=f"--format {chosen.name}"))
    return replace(chosen, write=chosen.write_with_parameters)


def _to_stdout(run: RunFolder, form: Format, cells: Sequence[str]) -> int:
    """Write the whole file or nothing: a failure on the way leaves no output."""
    from tempfile import TemporaryDirectory

    if not form.one_text:
        kind = f"a file for --format {form.name}"
        raise UsageError(WRONG_OPTION(option="-o", kind=kind, given="standard output", example="FILE"))
    with TemporaryDirectory(prefix="howlate-export-") as folder:
        made = Path(folder) / "out"
        rows = form.write(run, made, cells)
        with made.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
    return rows
