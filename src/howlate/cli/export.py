"""Write a run's samples as CSV, Parquet or three-column text."""

from __future__ import annotations

from pathlib import Path

import click

FORMATS = ("csv", "parquet", "text3")


@click.command(epilog="Example: howlate export runs/20260102T030405-check --format csv -o check.csv")
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    required=True,
    help="csv, parquet, or text3: lines of time in "
    "s, wake-up latency in us, interrupt-handler latency in us (nan where the test has no handler).",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Default: RUN.csv (.parquet, .txt) here.",
)
@click.option("--cell", "cells", multiple=True, metavar="ID", help="Only this cell; may be repeated.")
def command(run: Path, form: str, output: Path | None, cells: tuple[str, ...]) -> int:
    """Write the samples of the run folder RUN to a file; its path is printed."""
    from howlate.store import export
    from howlate.store.run_folder import RunFolder

    folder = RunFolder.open(run)
    suffix, write = {
        "csv": (".csv", export.export_csv),
        "parquet": (".parquet", export.export_parquet),
        "text3": (".txt", export.export_text),
    }[form]
    path = output if output is not None else Path(f"{run.resolve().name}{suffix}")
    rows = write(folder, path, cells)
    click.echo(f"{rows:,} samples", err=True)
    click.echo(path)
    return 0
