"""The document of proofs: one sheet for terminal and page, and a picture of each landscape."""

from __future__ import annotations

import io

from rich.console import Console

from howlate.analysis.landscape import Goal
from howlate.analysis.premises import Witness
from howlate.charts._data import unpack
from howlate.charts._landscape import draw
from howlate.report.document_terminal import print_document
from howlate.report.html import page
from howlate.report.proofs import document, to_json_value
from howlate.report.sheet import PAGE, TERMINAL
from test_prove import ABOVE, STOPPER, proved, tooth

BOUNDED = proved(tooth, Goal(within=0.1))
WITHHELD = proved(tooth, Goal(within=0.1), Witness(0, 10**6, (STOPPER, ABOVE), (0, 0)))
PROOFS = [BOUNDED, WITHHELD]


def test_the_terminal_has_a_row_a_landscape_and_its_sentence() -> None:
    out = io.StringIO()
    print_document(Console(file=out, width=120), document(PROOFS, TERMINAL))
    text = " ".join(out.getvalue().split())
    assert f"{BOUNDED.found.latency_ns / 1000:.3f} {BOUNDED.bound_ns / 1000:.3f}" in text
    assert "no bound claimed" in text and "exe (FIFO 90)" in text
    assert "Nothing is claimed about other phases" in text


def test_the_page_draws_the_bound_only_where_it_is_claimed() -> None:
    figure = draw(PROOFS)
    reached, bound = (panel["series"] for panel in (figure.panels[0].data, figure.panels[1].data))
    assert unpack(reached[0]["x"]) == sorted({p.at_ns for p in (*BOUNDED.probes, BOUNDED.found)})
    assert unpack(reached[1]["x"]) and not unpack(bound[1]["x"])
    html = page(document(PROOFS, PAGE))
    assert 'data-chart="landscape"' in html and "lab/prove.md" in html


def test_json_has_a_bound_only_where_it_is_claimed() -> None:
    first, second = to_json_value(PROOFS)["landscapes"]
    assert first["bound_ns"] == BOUNDED.bound_ns and second["bound_ns"] is None
    assert len(first["landscape"]) == first["probes"]
