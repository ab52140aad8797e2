"""Write runs as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from howlate.charts._scale import Axes
    from howlate.store.run_folder import RunFolder


@click.command(epilog="Example: howlate report runs/20260102T030405-check -o check.html")
@click.argument("runs", nargs=-1, required=True, metavar="[NAME=]RUN...")
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
@click.option(
    "--axis",
    "asked",
    multiple=True,
    metavar="NAME=[LOW:HIGH][,linear|log]",
    help="An axis of the charts: latency, counts (samples in a bar), time, number (of a load), runtime (of a load's "
    "runs). latency=0:1000us,linear; counts=0:1000000; may be repeated.",
)
@click.option(
    "--axes",
    type=click.Choice(["own", "published"]),
    default="own",
    help="published: also the figures of the study's document, drawn of these samples on the document's axes.",
)
@click.option(
    "--by",
    metavar="LABEL",
    help="Whose values the page compares, as `howlate compare --by` does: another axis than kernel, such as timer.",
)
def command(
    runs: tuple[str, ...], output: Path | None, form: str, asked: tuple[str, ...], axes: str, by: str | None
) -> int:
    """Write the run folders RUN... as one HTML file that needs nothing else, or their charts as pictures; what was
    written is printed. NAME=RUN calls a run by that name."""
    from howlate.cli._named import named_runs, read_named
    from howlate.errors import UsageError
    from howlate.report.axes import parse_axes
    from howlate.store.run_folder import RunFolder

    if by and form != "html":
        raise UsageError("--by applies to the HTML page only", "leave out --format or --by")
    wanted, published = parse_axes(asked), axes == "published"
    named = named_runs(runs)
    folders = [RunFolder.open(path) for _name, path in named]
    if published:
        _must_be_published(folders)
    if form != "html":
        return _pictures(named, output, form, wanted, published)
    from howlate.report.html import write_report

    path = _to_write(output, folders[0].path / "report.html")
    write_report(read_named(named), path, "-o", wanted, published, by or "")
    click.echo(path)
    return 0


def _to_write(output: Path | None, otherwise: Path) -> Path:
    """The file to write; UsageError where -o names none ("", "/", "..")."""
    from howlate.errors import UsageError

    if output is None:
        return otherwise
    if output.name in ("", ".."):
        raise UsageError(f'-o: "{output}" is not the name of a file', "name one, such as -o report.html")
    return output


def _must_be_published(folders: Sequence[RunFolder]) -> None:
    from howlate.errors import UsageError

    if not any(folder.read_run().study.reference for folder in folders):
        raise UsageError(
            "no published figures belong to this study, so it has no published axes",
            "choose axes with --axis, such as --axis latency=0:1000us,linear",
        )


def _pictures(
    runs: Sequence[tuple[str, Path]], output: Path | None, form: str, axes: Axes, published: bool
) -> int:
    from howlate.cli._named import read_named
    from howlate.report.pictures import write_pictures

    folder = output if output is not None else runs[0][1] / "pictures"
    for path in write_pictures(read_named(runs), folder, form, axes, published):
        click.echo(path)
    return 0
