"""What `howlate lab prove` ends with: the landscapes on one screen, the latest release first, and what is stated of
that one (docs/first-screen.md)."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.document.first_screen.lines import (
    COLUMNS,
    FAINT,
    LEAST_COLUMNS,
    LINES,
    Line,
    fitting,
    height,
    spaced,
    typed,
    under,
)
from howlate.document.first_screen.table import ScreenColumn, ScreenTable
from howlate.prove.document import RULINGS
from howlate.prove.proof import Proof, claim_of
from howlate.words.language import _
from howlate.words.quantities import exact_text
from howlate.words.say import more_rows_text

MOST_ROWS, LEAST_SAID = 12, 6


def prove_screen(proofs: Sequence[Proof], width: int = COLUMNS, *, letters: bool = False) -> list[Line]:
    """`letters`: the terminal has no UTF-8."""
    width = max(LEAST_COLUMNS, min(width, COLUMNS))
    latest_first = sorted(proofs, key=lambda proof: -proof.latest.latency_ns)
    title = list(under("", [_("How late can a single release be?")], width, 2, style="bold"))
    head, *rows = _table(latest_first, width)

    def blocks(count: int, said: int = LEAST_SAID) -> list[list[Line]]:
        more = len(rows) - count
        words = more_rows_text(more)
        left: list[Line] = [((f"  {words}", FAINT),)] if more > 0 else []
        others = _("all tables") + ": --json, -o FILE"
        return [
            [*title, head, *rows[:count], *left],
            list(under("", [claim_of(latest_first[0])], width, said)),
            list(under("", [others], width, 2)) if len(proofs) > 1 else [],
        ]

    fitted = fitting(blocks, MOST_ROWS, width)
    count = sum(any(line == row for line in fitted) for row in rows)
    room = LINES - height(fitted, width)
    return typed(spaced(blocks(count, LEAST_SAID + max(0, room)), width), letters=letters)


def _table(proofs: Sequence[Proof], width: int) -> list[Line]:
    bounds_ns = [proof.conditional_bound_ns for proof in proofs]
    bounds = ["" if ns is None else exact_text(ns) for ns in bounds_ns]
    table = ScreenTable(
        "",
        [f"{proof.of.kernel}, {proof.of.load}" for proof in proofs],
        [
            ScreenColumn(_("found"), [exact_text(proof.latest.latency_ns) for proof in proofs]),
            ScreenColumn(_("bound, if the premises hold"), bounds, 1),
            ScreenColumn(_("result"), [_(RULINGS[proof.ruling]) for proof in proofs], 2, words=True),
            ScreenColumn(_("held by"), [proof.holder for proof in proofs], 3, words=True),
        ],
    )
    head, rows = table.lines(width)
    return [head, *rows]
