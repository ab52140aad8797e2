"""Write a run's samples as CSV, Parquet, text, or for gnuplot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.language import _

if TYPE_CHECKING:
    from howlate.store.export import Format
    from howlate.store.run_folder import RunFolder


class Formats(click.Choice[str]):
    """The formats of store/export, looked for when they are asked for."""

    def __init__(self) -> None:
        import pkgutil

        folder = Path(__file__).parents[1] / "store" / "export"
        found = sorted(m.name for m in pkgutil.iter_modules([str(folder)]) if not m.name.startswith("_"))
        super().__init__(found)


@click.command(epilog="Example: howlate export runs/20260102T030405-check --format csv -o check.csv")
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
@click.option(
    "--format",
    "form",
    type=Formats(),
    required=True,
    help="csv or parquet: every column of every sample; gnuplot: a script and, beside it, its data; text3: lines of "
    "time in s, wake-up latency in us, interrupt-handler latency in us (nan where the test has no handler); sh7780: "
    "the same of the test irq, as the study prints it; sh7780data: a folder with the data files of that "
    "study's figures 2 to 5; tut2017: that study's listings, of its tests' summaries.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="Default: RUN with the format's ending (.csv, .parquet, .gp, .txt), here. `-`: standard output, for "
    "formats that are one text file.",
)
@click.option(
    "--with-parameters",
    is_flag=True,
    help="csv and parquet: also a column for each parameter that a cell was measured under.",
)
@click.option("--cell", "cells", multiple=True, metavar="ID", help="Only this cell; may be repeated.")
def command(run: Path, form: str, output: Path | None, with_parameters: bool, cells: tuple[str, ...]) -> int:
    """Write the samples of the run folder RUN to a file, whose path is printed, or to standard output."""
    from howlate.store.export import find_format
    from howlate.store.run_folder import RunFolder

    folder, chosen = RunFolder.open(run), find_format(form)
    if with_parameters:
        chosen = _with_parameters(chosen)
    if output == Path("-"):
        click.echo(_("{rows:,} samples").format(rows=_to_stdout(folder, chosen, cells)), err=True)
        return 0
    path = output if output is not None else Path(f"{run.resolve().name}{chosen.suffix}")
    rows = chosen.write(folder, path, cells)
    click.echo(_("{rows:,} samples").format(rows=rows), err=True)
    click.echo(path)
    return 0


def _with_parameters(chosen: Format) -> Format:
    from dataclasses import replace

    from howlate.errors import UsageError

    if chosen.write_with_parameters is None:
        raise UsageError(
            f"--format {chosen.name} has no place for parameters", "leave --with-parameters out, or take csv"
        )
    return replace(chosen, write=chosen.write_with_parameters)


def _to_stdout(run: RunFolder, form: Format, cells: Sequence[str]) -> int:
    """The whole file or nothing of it: what fails on the way has written nothing."""
    import shutil
    import sys
    from tempfile import TemporaryDirectory

    from howlate.errors import UsageError

    if not form.one_text:
        raise UsageError(
            f"--format {form.name} is not one text file, so it cannot go to standard output",
            "name a file: -o FILE",
        )
    with TemporaryDirectory(prefix="howlate-export-") as folder:
        made = Path(folder) / "out"
        rows = form.write(run, made, cells)
        with made.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer, 1 << 20)
    return rows
