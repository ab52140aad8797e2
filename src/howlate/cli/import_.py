"""Make a run of what was measured by hand, or settings of another program's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.language import _, retold

if TYPE_CHECKING:
    from howlate.importers import Importer, RunImporter


@click.command(epilog="Example: howlate import board.stream board-loaded.stream --out runs/board")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--format", "form", metavar="NAME", help="stream, job or tut-ini (default: found by the content)."
)
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="The run folder: new, or one to go on with."
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME=TEXT",
    help="A label of every cell, such as kernel=vendor or board=left; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="The run's tables as JSON.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Of settings. Default: FILE with the ending .toml, here. Settings that are to hold here are called "
    "howlate.toml.",
)
def command(
    files: tuple[Path, ...],
    form: str | None,
    out: Path | None,
    labels: tuple[str, ...],
    as_json: bool,
    output: Path | None,
) -> int:
    """Turn FILE... into a run or into settings.

    Streams of the probe (howlate-probe TEST --stream FILE), folders with such streams, and the folder that `howlate
    run STUDY --emit-job` wrote become a run folder (docs/how-to/measure-a-board-by-hand.md). Another program's
    configuration becomes settings (docs/settings.md). The path of what was written is printed last.
    """
    from howlate.errors import UsageError
    from howlate.importers import Importer, find_importer

    found = {importer.name: importer for importer in (find_importer(file, form) for file in files)}
    if len(found) > 1:
        raise UsageError(
            f"these are of several formats: {', '.join(found)}", "import the files of one format at a time"
        )
    importer = next(iter(found.values()))
    if isinstance(importer, Importer):
        _no(("--out", out), ("--label", labels), ("--json", as_json), what="settings")
        return _settings(importer, files, output)
    _no(("-o", output), what="a run")
    return _run(importer, files, out, labels, as_json)


def _no(*options: tuple[str, object], what: str) -> None:
    from howlate.errors import UsageError

    for name, value in options:
        if value:
            raise UsageError(f"{name} is not for {what}", f"leave {name} out")


def _settings(importer: Importer, files: Sequence[Path], output: Path | None) -> int:
    from howlate.errors import UsageError
    from howlate.model.decode import read_text
    from howlate.store.files import OUTPUT, write_text

    if len(files) > 1:
        raise UsageError("several files cannot become one file of settings", "import one after the other")
    file = files[0]
    imported = importer.convert(read_text(file, UsageError), str(file))
    path = output if output is not None else Path(f"{file.stem}.toml")
    if path.exists() and path.is_file() and file.exists() and path.samefile(file):
        raise UsageError(f"{path} would be overwritten by itself", "name another file with -o")
    write_text(path, imported.text, OUTPUT)
    _notes(imported.notes)
    click.echo(path)
    return 0


def _run(
    importer: RunImporter, files: Sequence[Path], out: Path | None, labels: Sequence[str], as_json: bool
) -> int:
    from howlate.cli._measure import tell
    from howlate.errors import ExitCode
    from howlate.imported import as_run

    measured = importer.read(files, _labels(labels))
    session, tally = as_run(measured, out)
    _notes(measured.notes)
    tell(session, tally, as_json)
    if measured.damaged:
        return ExitCode.BROKEN
    missing = {failure.exit_code for failure in tally.failures} - {ExitCode.NOT_POSSIBLE}
    return ExitCode.INCONCLUSIVE if missing == {ExitCode.INCONCLUSIVE} else tally.exit_code


def _labels(texts: Sequence[str]) -> dict[str, str]:
    from howlate.errors import UsageError

    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name or not value.strip():
            raise UsageError(
                f'"{text}" is not a label', "write --label NAME=TEXT, such as --label kernel=vendor"
            )
        if name in found:
            raise UsageError(f"the label {name} is given twice", "give each label once")
        found[name] = value
    return found


def _notes(notes: Sequence[str]) -> None:
    for note in notes:
        click.echo(_("note: {note}").format(note=retold(note)), err=True)
