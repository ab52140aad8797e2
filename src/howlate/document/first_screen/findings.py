"""What `howlate doctor` shows on one screen of 20 lines: each finding on a line with its remedy, what makes late
first (docs/first-screen.md). English, as the findings are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from howlate.document.findings import briefly
from howlate.document.first_screen.lines import (
    COLUMNS,
    COPIED,
    LEAST_COLUMNS,
    Line,
    copied,
    cut,
    fitting,
    typed,
)
from howlate.document.text import wrapped
from howlate.model.facts import Finding
from howlate.words.language import as_called

LINES = 20
LEAST_FOUND = 24
"""Columns that must be left for a remedy next to its finding."""
STYLES = {"late": "bold red"}


def findings_screen(
    findings: Sequence[Finding], every: str, width: int = COLUMNS, *, letters: bool = False
) -> list[Line]:
    """`every`: the command that shows all; `letters`: the terminal has no UTF-8."""
    width = max(LEAST_COLUMNS, min(width, COLUMNS))
    shown = [finding for finding in findings if finding.level in ("late", "note")]
    late = [finding for finding in shown if finding.level == "late"]
    if late:
        count = f"{len(late)} things make" if len(late) > 1 else "1 thing makes"
        head = f"{count} this machine late:"
    else:
        head = "Nothing was found that makes this machine late."

    def blocks(rows: int) -> list[list[Line]]:
        lines = [
            [line for one in part[:most] for line in _finding(one, width)] for part, most in _parts(rows)
        ]
        left = len(shown) - sum(min(len(part), most) for part, most in _parts(rows))
        more = f"{left} more, and why each matters" if left else "Why each matters, and what is in order"
        notes: list[Line] = [(("Worth knowing:", "bold"),), *lines[1]] if lines[1] else []
        return [[((cut(head, width), "bold"),), *lines[0]], notes, list(copied(more, every, width))]

    def _parts(rows: int) -> tuple[tuple[Sequence[Finding], int], ...]:
        notes = [finding for finding in shown if finding.level == "note"]
        return (late, rows), (notes, max(0, rows - len(late)))

    return typed(fitting(blocks, max(1, len(shown)), width, LINES), letters=letters)


def _finding(finding: Finding, width: int) -> Iterator[Line]:
    """Remedy next to the finding if the whole title has room there, else below it; a command is never cut."""
    about = f" ({', '.join(finding.machines)})" if finding.machines else ""
    title = f"{finding.title}{about}"
    found = as_called(f"{title}: {' '.join(finding.text.split())}").replace("`", "")
    change = as_called(briefly(finding.change))
    remedy = change.replace("`", "")
    style = STYLES.get(finding.level, "")
    room = width - 2 - cell_len(remedy) - 2 if remedy else width - 2
    if room < min(max(LEAST_FOUND, cell_len(title) + 1), cell_len(found)):
        yield (("  ", ""), (cut(found, width - 2), style))
        is_whole = all(cell_len(command) <= width - 4 for command in re.findall("`[^`]+`", change))
        for line in wrapped(change, width - 4) if is_whole else [remedy]:
            yield (("    " + line.replace("`", ""), COPIED),)
    elif remedy:
        yield (("  ", ""), (set_cell_size(cut(found, room), room), style), (f"  {remedy}", COPIED))
    else:
        yield (("  ", ""), (cut(found, room), style))
