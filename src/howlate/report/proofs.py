"""The document of proofs (docs/lab/prove.md): a table of kernels and loads, what each landscape states, and on the
page its picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from howlate import __version__
from howlate.analysis.proof import SCOPE, Proof, ProofRuling
from howlate.charts._landscape import draw
from howlate.report import sheet as sheets
from howlate.report.document import Document, Drawn, Section, Texts
from howlate.report.flame import flame_html
from howlate.report.html import page as html_page
from howlate.report.sheet import PAGE, Row, Sheet, Style
from howlate.report.units import Unit
from howlate.report.why import functions_sheet, lateness_json
from howlate.report.why_parts import parts_sheet
from howlate.words.language import N_, _
from howlate.words.quantities import exact_text
from howlate.words.say import english, say, to_json
from howlate.words.statement import rule

FOOT = rule(
    "proof.foot", "This page was made by howlate {version}. It holds all that it shows: it loads nothing."
)
FOUND = rule(
    "proof.found",
    "The release at {at_ns:exact}, {latency_ns:exact} late, played again, the same to the nanosecond.",
)
RULINGS = {
    ProofRuling.WITHIN: N_("bounded"),
    ProofRuling.KEPT: N_("deadline kept"),
    ProofRuling.MISSED: N_("deadline missed"),
    ProofRuling.OPEN: N_("open"),
    ProofRuling.BROKEN: N_("a premise broken"),
    ProofRuling.WITHHELD: N_("no bound claimed"),
}
LATENCY, INSTANT = Unit("us", 1_000, 3), Unit("ms", 1_000_000, 6)


def document(proofs: Sequence[Proof], style: Style) -> Document:
    """What is shown in the terminal, or on the page."""
    title = _("How late can a single release be?")
    return Document(tuple(_sections(proofs, style, title)), f"{title} – howlate")


def _sections(proofs: Sequence[Proof], style: Style, title: str) -> Iterator[Section]:
    if style is PAGE:
        yield Section("head", (Texts("question", (title, "")),), kind="header")
    said = Texts("said", tuple(proof.sentence() for proof in proofs))
    yield Section("proofs", (sheet(proofs), said), _("Found and bounded") if style is PAGE else "")
    if style is PAGE:
        yield Section("landscape", (Drawn(draw(proofs)),))
        yield from (_why(proof, number) for number, proof in enumerate(proofs))
        yield Section("foot", (Texts("", (FOOT(version=__version__),)),), kind="footer")


def page(proofs: Sequence[Proof]) -> str:
    """One self-contained file, with a flame graph of each latency that was found."""
    shown = document(proofs, PAGE)
    drawn = {f"why-{number}": _flame(proof) for number, proof in enumerate(proofs)}
    return html_page(shown, [drawn.get(section.id, "") for section in shown.sections], "flame")


def _flame(proof: Proof) -> str:
    return (
        flame_html(proof.why.stacks, f"{_name(proof)}, {exact_text(proof.found.latency_ns)}")
        if proof.why
        else ""
    )


def _name(proof: Proof) -> str:
    return f"{proof.of.kernel}, {proof.of.load}"


def _why(proof: Proof, number: int) -> Section:
    """Where the time of the worst release went."""
    found = FOUND(at_ns=proof.of.first_ns + proof.found.at_ns, latency_ns=proof.found.latency_ns)
    sheets_of = (
        (parts_sheet(proof.why, f"parts-{number}"), functions_sheet(proof.why, f"functions-{number}"))
        if proof.why
        else ()
    )
    return Section(f"why-{number}", (Texts("paragraph", ((found,),)), *sheets_of), _name(proof), "part")


def sheet(proofs: Sequence[Proof]) -> Sheet:
    """A row a landscape."""
    return Sheet(
        key="proofs",
        title=_("One release in the window: latencies in {latency}, instants in {instant}").format(
            latency=LATENCY.sign, instant=INSTANT.sign
        ),
        columns=(
            sheets.labels("kernel", _("kernel"), (proof.of.kernel for proof in proofs)),
            sheets.labels("load", _("load"), (proof.of.load for proof in proofs)),
            sheets.times("found", _("found"), [proof.found.latency_ns for proof in proofs], LATENCY),
            sheets.times("bound", _("bound"), [_claimed_ns(proof) for proof in proofs], LATENCY, strong=True),
            sheets.times(
                "instant", _("instant"), [proof.of.first_ns + proof.found.at_ns for proof in proofs], INSTANT
            ),
            sheets.labels("holder", _("held by"), (proof.holder for proof in proofs)),
            sheets.times("eps", "eps", [proof.eps_ns for proof in proofs], LATENCY),
            sheets.numbers("probes", _("probes"), [len(proof.probes) for proof in proofs]),
            sheets.numbers("checks", _("check instants"), [proof.checks for proof in proofs]),
            sheets.texts("ruling", _("result"), (_(RULINGS[p.ruling]) for p in proofs), words=True),
        ),
        rows=tuple(Row() for _proof in proofs),
        notes=(say(SCOPE()),),
        kind="proofs",
        of="landscape",
    )


def _claimed_ns(proof: Proof) -> float | None:
    return proof.bound_ns if proof.claims and math.isfinite(proof.bound_ns) else None


def to_json_value(proofs: Sequence[Proof]) -> dict[str, Any]:
    """Every landscape with every probe (docs/lab/prove.md)."""
    return {
        "schema": 1,
        "sentence": english(SCOPE()),
        "statements": [to_json(SCOPE())],
        "landscapes": [
            {**proof.to_json(), "why": lateness_json(proof.why) if proof.why else None} for proof in proofs
        ],
    }
