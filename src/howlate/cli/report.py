"""Write runs as one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(epilog="Example: howlate report runs/20260102T030405-check -o check.html")
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Default: report.html in the first RUN.",
)
def command(runs: tuple[Path, ...], output: Path | None) -> int:
    """Write the run folders RUN... as one HTML file that needs nothing else; its path is printed."""
    from howlate.report.html import write_report
    from howlate.store.run_folder import RunFolder

    path = output if output is not None else runs[0] / "report.html"
    write_report([RunFolder.open(run).path for run in runs], path, "-o")
    click.echo(path)
    return 0
