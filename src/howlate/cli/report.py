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
    help="Default: report.html in the first RUN; of pictures its folder `pictures`.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "svg", "png"]),
    default="html",
    help="svg or png: each chart as a file of its own, for papers; png needs librsvg2-bin or chromium.",
)
def command(runs: tuple[Path, ...], output: Path | None, form: str) -> int:
    """Write the run folders RUN... as one HTML file that needs nothing else, or their charts as pictures; what was
    written is printed."""
    if form != "html":
        return _pictures(runs, output, form)
    from howlate.report.html import write_report
    from howlate.store.run_folder import RunFolder

    path = output if output is not None else runs[0] / "report.html"
    write_report([RunFolder.open(run).path for run in runs], path, "-o")
    click.echo(path)
    return 0


def _pictures(runs: tuple[Path, ...], output: Path | None, form: str) -> int:
    from howlate.report.content import read_content
    from howlate.report.pictures import write_pictures

    folder = output if output is not None else runs[0] / "pictures"
    for path in write_pictures([read_content(run) for run in runs], folder, form):
        click.echo(path)
    return 0
