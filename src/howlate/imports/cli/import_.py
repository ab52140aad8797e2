"""Make a run of what was measured by hand or by another tool, or settings of another program's file."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.cli._measure import exit_code_of, write_results
from howlate.cli._options import ListedOption, RunOptions, brief_option, out_option, output_option
from howlate.errors import ExitCode, UsageError
from howlate.model.decode import NOT_A_PAIR, NOT_WITH, read_text, twice
from howlate.words.language import as_called
from howlate.words.printable import is_text, printable

if TYPE_CHECKING:
    from howlate.imports.formats import Importer, Measured

EXAMPLES = {"label": "kernel=vendor", "map": "latency_us=3 or --map unit=ns"}


def _summaries() -> dict[str, str]:
    from howlate.imports.formats import all_importers

    return {importer.name: importer.summary for importer in all_importers()}


@click.command(epilog="Example: howlate import board.stream board-loaded.stream --out runs/board")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--format",
    "form",
    metavar="NAME",
    cls=ListedOption,
    listed=_summaries,
    help="Default: recognised by its content.",
)
@out_option()
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME=TEXT",
    help="A label of every cell, such as kernel=vendor or board=left; may be repeated.",
)
@click.option(
    "--map",
    "maps",
    multiple=True,
    metavar="NAME=VALUE",
    help="A column of a CSV file (latency_us=COLUMN) or the unit of a histogram (unit=ns).",
)
@click.option("--json", "as_json", is_flag=True, help="The run's tables as JSON.")
@brief_option
@output_option(
    "Settings file to write. Default: FILE with the ending .toml in this folder. howlate.toml is read by default."
)
def command(
    files: tuple[Path, ...],
    form: str | None,
    out: Path | None,
    labels: tuple[str, ...],
    maps: tuple[str, ...],
    *,
    as_json: bool,
    brief: bool,
    output: Path | None,
) -> int:
    """Turn FILE... into a run or into settings.

    Streams of the probe (howlate-probe TEST --stream FILE), folders with such streams, and the folder that `howlate
    run STUDY --emit-job` wrote become a run folder (docs/how-to/measure-a-board-by-hand.md), and so do the files of
    cyclictest, rtla, jitterdebugger and other tools (docs/import.md). Another program's configuration becomes
    settings (docs/settings.md). The path of what was written is printed last.
    """
    from howlate.imports.formats import Importer, find_importer, not_together
    from howlate.imports.formats._text import mapped

    mapping = _pairs("map", maps)
    importers = {
        importer.name: importer for importer in (find_importer(file, form, mapping) for file in files)
    }
    if len(importers) > 1:
        raise not_together(f"files of several formats ({', '.join(importers)})")
    importer = next(iter(importers.values()))
    if isinstance(importer, Importer):
        _no(
            ("--out", out),
            ("--label", labels),
            ("--map", maps),
            ("--json", as_json),
            ("--brief", brief),
            what="settings",
        )
        return _settings(importer, files, output)
    _no(("-o", output), what="a run")
    mapped(mapping, files[0], importer.maps)
    measured = importer.read(files, _pairs("label", labels), mapping)
    return _run(measured, out, as_json=as_json, brief=brief)


def _no(*options: tuple[str, object], what: str) -> None:
    for name, value in options:
        if value:
            raise UsageError(NOT_WITH(option=name, other=what))


def _settings(importer: Importer, files: Sequence[Path], output: Path | None) -> int:
    from howlate.imports.formats import not_together
    from howlate.store.files import OUTPUT, write_output

    if len(files) > 1:
        raise not_together("files of settings")
    file = files[0]
    imported = importer.convert(read_text(file, UsageError), str(file))
    path = output if output is not None else Path(f"{file.stem}.toml")
    with suppress(OSError):  # the writer reports what cannot be looked at
        if path.is_file() and path.samefile(file):
            raise UsageError("{path} would overwrite itself", remedy="name another file with -o", path=path)
    write_output(path, imported.text, OUTPUT)
    _notes(imported.notes)
    click.echo(printable(str(path)))
    return 0


def _run(measured: Measured, out: Path | None, *, as_json: bool, brief: bool) -> int:
    from howlate.imports.flow import as_run

    session, tally = as_run(measured, out)
    _notes(measured.notes)
    content = write_results(session, tally, RunOptions(as_json=as_json, brief=brief))
    if measured.damaged:
        return ExitCode.BROKEN
    missing = {failure.exit_code for failure in tally.failures} - {ExitCode.NOT_POSSIBLE}
    unmeasured = missing == {ExitCode.INCONCLUSIVE}
    return exit_code_of(ExitCode.INCONCLUSIVE if unmeasured else tally.exit_code, content)


def _pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value.strip() or not is_text(text):
            reason, example = "it has no name or no value", EXAMPLES[option]
            raise UsageError(NOT_A_PAIR(option=f"--{option}", text=text, reason=reason, example=example))
        if name in values:
            raise UsageError(twice(option, name, "give each name once"))
        values[name] = value
    return values


def _notes(notes: Sequence[str]) -> None:
    for note in notes:
        click.echo(f"note: {printable(as_called(note))}", err=True)  # it names files, as others chose
