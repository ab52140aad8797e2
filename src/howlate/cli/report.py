"""Write runs as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from howlate.cli._measure import material_of
from howlate.cli._named import named_runs, read_named, run_argument, tell_missing
from howlate.cli._options import output_option
from howlate.cli._say import say
from howlate.errors import UsageError
from howlate.model.decode import NOT_WITH, WRONG_OPTION
from howlate.words.printable import printable, shell_path


@click.command(epilog="Example: howlate report runs/20260102T030405-check -o check.html")
@run_argument(several=True, named=True)
@output_option("Default: report.html in the first RUN; for pictures, its folder `pictures`.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "svg", "png"]),
    default="html",
    help="svg or png: write each chart as a separate file, for papers; png needs librsvg2-bin or chromium.",
)
@click.option(
    "--axis",
    "asked",
    multiple=True,
    metavar="NAME=[LOW:HIGH][,linear|log]",
    help="Set an axis of the charts: latency, counts (samples in a bar), time, number (of a load), runtime "
    "(of a load's runs). latency=0:1000us,linear; counts=0:1000000; may be repeated.",
)
@click.option(
    "--axes",
    type=click.Choice(["own", "published"]),
    default="own",
    help="published: also draw the figures of the study's document from these samples, on the document's "
    "axes.",
)
@click.option(
    "--by",
    metavar="LABEL",
    help="The axis to compare on the page, as in `howlate compare --by`: another than kernel, such as timer.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON too, as `howlate show --json`.")
def command(
    runs: tuple[str, ...],
    output: Path | None,
    form: str,
    asked: tuple[str, ...],
    axes: str,
    by: str | None,
    *,
    as_json: bool,
) -> int:
    """Write the run folders RUN... as one self-contained HTML file, or their charts as pictures, and print
    the paths of what was written, with --json on standard error. NAME=RUN gives a run that name."""
    from howlate.document.axes import parse_axes

    if by and form != "html":
        raise UsageError(NOT_WITH(option="--by", other=f"--format {form}"))
    wanted, published = parse_axes(asked), axes == "published"
    named = named_runs(runs)
    contents = read_named(named)
    missing = tell_missing(zip((run for _, run in named), contents, strict=True))
    if published and not any(content.run.study.reference for content in contents):
        raise UsageError(NOT_WITH(option="--axes published", other="a study without published figures"))
    if as_json:
        from howlate.document.of_runs import show_json

        click.echo(show_json(material_of(contents, None, named[0][1])), nl=False)
    if form != "html":
        from howlate.document.pictures import write_pictures

        folder = named[0][1] / "pictures" if output is None else output
        own = is_own(folder, named)
        for picture in write_pictures(contents, folder, form, wanted, published=published, own=own):
            click.echo(picture, err=as_json)
        return missing
    from howlate.document.html import write_report
    from howlate.store.files import OUTPUT

    path = _to_write(output, named[0][1] / "report.html")
    option, of = "" if is_own(path, named) else OUTPUT, shell_path(named[0][1])
    with say.living("writing the page"):
        write_report(contents, path, option, wanted, published=published, by=by or "", folder=of)
    click.echo(printable(str(path)), err=as_json)
    return missing


def is_own(output: Path, named: Sequence[tuple[str, Path]]) -> bool:
    """Whether an output stands in one of the runs, where no link is followed."""
    return any(output.parent.resolve() == run.resolve() for _, run in named)


def _to_write(output: Path | None, otherwise: Path) -> Path:
    """The file to write; UsageError if -o names none ("", "/", "..")."""
    if output is None:
        return otherwise
    if output.name in ("", ".."):
        kind = "the name of a file"
        raise UsageError(WRONG_OPTION(option="-o", kind=kind, given=output, example="report.html"))
    return output
