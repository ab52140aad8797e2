"""A screen on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from howlate.model.decode import json_text

if TYPE_CHECKING:
    from rich.console import Console

    from howlate.document.document import Document, Item
    from howlate.document.first_screen.lines import Line


def terminal() -> Console:
    """Standard output, where texts are what they are."""
    from rich.console import Console

    return Console(highlight=False, markup=False)


def print_document(document: Document) -> None:
    from howlate.document import document_terminal

    document_terminal.print_document(terminal(), document)


def print_items(items: Iterable[Item]) -> None:
    from howlate.document import document_terminal

    document_terminal.print_items(terminal(), items)


def print_json(value: Mapping[str, Any]) -> None:
    click.echo(json_text(value), nl=False)


def print_lines(lines_of: Callable[[int, bool], Sequence[Line]]) -> None:
    """Its lines, `width` columns wide; in letters where the terminal has no UTF-8."""
    from rich.text import Text

    console = terminal()
    for line in lines_of(console.width, not console.encoding.lower().startswith("utf")):
        console.print(Text.assemble(*line), soft_wrap=True)
