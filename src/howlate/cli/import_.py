"""Turn a file of another program into howlate's own form."""

from __future__ import annotations

from pathlib import Path

import click

from howlate.language import _, retold


@click.command(epilog="Example: howlate import config.ini --format tut-ini -o howlate.toml")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--format", "form", metavar="NAME", help="tut-ini (default: found by the content).")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="OUT",
    help="Default: FILE with the ending .toml, here. Settings that are to hold here are called howlate.toml.",
)
def command(file: Path, form: str | None, output: Path | None) -> int:
    """Turn FILE into settings (docs/settings.md); the path of what was written is printed."""
    from howlate.errors import UsageError
    from howlate.importers import find_importer
    from howlate.model.decode import read_text
    from howlate.store.files import OUTPUT, write_text

    text = read_text(file, UsageError)
    imported = find_importer(text, str(file), form).convert(text, str(file))
    path = output if output is not None else Path(f"{file.stem}.toml")
    if path.exists() and path.is_file() and file.exists() and path.samefile(file):
        raise UsageError(f"{path} would be overwritten by itself", "name another file with -o")
    write_text(path, imported.text, OUTPUT)
    for note in imported.notes:
        click.echo(_("note: {note}").format(note=retold(note)), err=True)
    click.echo(path)
    return 0
