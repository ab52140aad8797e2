"""What a screen of lines must be in a terminal of some width."""

from collections.abc import Sequence

from rich.cells import cell_len

from howlate.document.first_screen.lines import LINES, Line


def texts(lines: Sequence[Line]) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


def fits(lines: Sequence[Line], width: int, most: int = LINES, copied: str = "howlate ") -> list[str]:
    """Its texts. A line is longer than the terminal only where a command is copied from it."""
    shown = texts(lines)
    rows = sum(max(1, -(-cell_len(line) // width)) for line in shown)
    whole = "\n".join(shown)
    assert rows <= most, whole
    assert all(cell_len(line) <= width or line.startswith(copied) for line in shown), whole
    assert "\x1b" not in whole
    return shown
