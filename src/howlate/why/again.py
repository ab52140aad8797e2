"""The command that measures late rows again, here and with the events that name their causes."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.document.first_screen.rows import ScreenRow, screen_rows, totalled
from howlate.document.report_input import ReportInput
from howlate.figures.strip import plain
from howlate.model.run import BY_HAND
from howlate.model.summary import CellSummary
from howlate.words.language import called
from howlate.words.printable import shell_line
from howlate.words.quantities import given_text

MOST_LOADS = 3
SSH = "ssh:"


def again(material: ReportInput) -> str:
    """`howlate check` with the period, policy, loads and deadline as far as the run says them; "" for a test that it
    does not make."""
    content = material.runs[0]
    found = screen_rows(material.runs, labels=material.labels)
    rows = totalled(found.rows)
    late = [row for row in rows if row.later] or rows
    planned = {cell.id: cell for cell in content.run.plan.cells}
    cells = [cell for row in late for cell in row.cells if cell.id in planned]
    by_hand = content.run.target == BY_HAND
    if not cells or not all(_is_like_check(cell, planned[cell.id].test, by_hand=by_hand) for cell in cells):
        return ""
    words = ["check"]
    if found.deadline_ns:
        words += ["--deadline", plain(given_text(found.deadline_ns)).replace(" ", "")]
    for name in ("period", "policy"):
        told = [str(planned[cell.id].parameters.get(name) or cell.labels.get(name, "")) for cell in cells]
        if len({*told}) == 1 and told[0]:
            words += [f"--{name}", told[0]]
    if loads := _loads(late):
        words += ["--load", ",".join(loads)]
    if content.run.target.startswith(SSH):
        words += ["--target", content.run.target]
    return f"{called()} {shell_line(words)}"


def _is_like_check(cell: CellSummary, test: str, *, by_hand: bool) -> bool:
    return test == "cyclic" or (by_hand and bool(cell.judged) and not cell.waits_for_gaps)


def _loads(rows: Sequence[ScreenRow]) -> list[str]:
    """Of the worst rows; none where one does not say its load."""
    loads = list(dict.fromkeys(row.labels.get("load", "") for row in rows))
    return loads[:MOST_LOADS] if all(loads) else []
