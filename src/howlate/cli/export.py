"""Write a run's samples as CSV, Parquet, text, or for gnuplot."""

from __future__ import annotations

from pathlib import Path

import click

from howlate.language import _


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
    "the same of the test irq, as the study prints it; tut2017: that study's listings, of its tests' summaries.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Default: RUN with the format's ending (.csv, .parquet, .gp, .txt), here.",
)
@click.option("--cell", "cells", multiple=True, metavar="ID", help="Only this cell; may be repeated.")
def command(run: Path, form: str, output: Path | None, cells: tuple[str, ...]) -> int:
    """Write the samples of the run folder RUN to a file; its path is printed."""
    from howlate.store.export import find_format
    from howlate.store.run_folder import RunFolder

    folder, chosen = RunFolder.open(run), find_format(form)
    path = output if output is not None else Path(f"{run.resolve().name}{chosen.suffix}")
    rows = chosen.write(folder, path, cells)
    click.echo(_("{rows:,} samples").format(rows=rows), err=True)
    click.echo(path)
    return 0
