"""What happens, on standard error: a line for each slow step."""

from __future__ import annotations

import sys

import click

from howlate.words.language import as_called
from howlate.words.printable import without_controls


def say(text: str) -> None:
    """Print progress on standard error."""
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""  # a line of progress may be there
    click.echo(f"{clear}howlate: {without_controls(as_called(text))}", err=True)
