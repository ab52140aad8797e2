"""A screen on the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from howlate.document.first_screen.lines import Line


def print_lines(lines_of: Callable[[int, bool], Sequence[Line]]) -> None:
    """Its lines, `width` columns wide; in letters where the terminal has no UTF-8."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in lines_of(console.width, not console.encoding.lower().startswith("utf")):
        console.print(Text.assemble(*line), soft_wrap=True)
