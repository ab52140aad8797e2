"""What a command says that was interrupted while it measured: what is kept, what could not be put back, and how to go
on. What was measured until then decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from howlate.errors import ExitCode
from howlate.words.language import as_called, called
from howlate.words.printable import printable, shell_path

if TYPE_CHECKING:
    from howlate.measure.session import Session


def tell_interrupted(session: Session, interrupt: KeyboardInterrupt, again: str, restored: str = "") -> int:
    """Say it, print the folder, and return the exit code. `again`: how to go on. `restored`: what is as it was
    before, said where nothing is known to be left changed."""
    left = [str(note) for note in getattr(interrupt, "__notes__", ())]
    for note in left:
        click.echo(f"howlate: {as_called(note)}", err=True)
    whole, cells = len(session.folder.whole_cells()), len(session.run.plan.cells)
    kept = f"interrupted with {whole} of {cells} cells complete" + (", which are kept" if whole else "")
    also = f"; {restored}" if restored and not left else ""
    click.echo(f"howlate: {kept}{also}. To go on: {again}", err=True)
    click.echo(printable(str(session.folder.path)))
    return ExitCode.INCONCLUSIVE


def same_command(session: Session) -> str:
    return f"the same command with --out {shell_path(session.folder.path)}"


def shown_by(session: Session) -> str:
    return f"`{called()} show {shell_path(session.folder.path)}`"
