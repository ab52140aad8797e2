"""The document of searched landscapes (docs/lab/prove.md): a table of kernels and loads, what each landscape states,
and on the page its picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from howlate.document import sheet as sheets
from howlate.document.document import ChartItem, Document, Section, Texts, bar
from howlate.document.flame import flame_html
from howlate.document.html import page as html_page
from howlate.document.sheet import Sheet, Unit
from howlate.model.cause import Lateness
from howlate.prove.chart import draw
from howlate.prove.landscape import Probed
from howlate.prove.proof import SCOPE, Proof, ProofRuling, claim_of, claim_to_json
from howlate.prove.worst_releases import LateRelease
from howlate.system.version import __version__
from howlate.why.late_cases import functions_sheet
from howlate.why.late_json import lateness_json
from howlate.why.late_parts import parts_sheet
from howlate.words.language import N_, _
from howlate.words.quantities import exact_text
from howlate.words.say import english, say, to_json
from howlate.words.statement import message

REPLAYED = message(
    "proof.replayed",
    "Release at {at_ns:exact}, {latency_ns:exact} late; replayed, the same to the nanosecond.",
)
RULINGS = {
    ProofRuling.CONDITIONAL: N_("nothing later found"),
    ProofRuling.WITHIN: N_("bounded, premises accepted"),
    ProofRuling.MET: N_("bounded, premises accepted"),
    ProofRuling.MISSED: N_("deadline missed"),
    ProofRuling.OPEN: N_("open"),
    ProofRuling.BROKEN: N_("premise broken"),
    ProofRuling.WITHHELD: N_("no bound"),
}
COLOURS = {
    ProofRuling.CONDITIONAL: "inconclusive",
    ProofRuling.WITHIN: "pass",
    ProofRuling.MET: "pass",
    ProofRuling.MISSED: "fail",
    ProofRuling.OPEN: "inconclusive",
    ProofRuling.BROKEN: "fail",
    ProofRuling.WITHHELD: "inconclusive",
}
LATENCY, INSTANT = Unit("us", 1_000, 3), Unit("ms", 1_000_000, 6)


Others = Sequence[Sequence[LateRelease]]
"""Of each proof, late releases besides the latest."""


def document(proofs: Sequence[Proof], others: Others = ()) -> Document:
    title = _("How late can a single release be?")
    latest = max(proofs, key=lambda proof: proof.latest.latency_ns)
    sentences = Texts("said", tuple(claim_of(proof) for proof in proofs if proof is not latest))
    sections = (
        bar(
            COLOURS[latest.ruling], _(RULINGS[latest.ruling]), _figures(latest), (claim_of(latest),), (title,)
        ),
        Section(
            "proofs", (sheet(proofs), sentences), _("Latest release, and its bound if the premises hold")
        ),
        Section("landscape", (ChartItem(draw(proofs)),)),
        *whys(proofs, others),
        Section("foot", (Texts("", (f"howlate {__version__}",)),), kind="footer"),
    )
    return Document(sections, f"{_(RULINGS[latest.ruling])} – {title} – howlate")


def _figures(proof: Proof) -> str:
    """What was found, and the bound: what they are true of is said below."""
    found, bound, bound_ns = _("found"), _("bound, if the premises hold"), proof.conditional_bound_ns
    figures = [f"{found} {exact_text(proof.latest.latency_ns)}"]
    if bound_ns is not None:
        figures.append(f"{bound}: {exact_text(bound_ns)}")
    return f"{_name(proof)}: {'; '.join(figures)}"


def whys(proofs: Sequence[Proof], others: Others) -> Iterator[Section]:
    """Where the time of the latest releases went."""
    return (_why(release) for release in _explained(proofs, others))


def page(proofs: Sequence[Proof], others: Others = ()) -> str:
    """One self-contained file, with a flame graph of each latency that was found."""
    shown = document(proofs, others)
    drawn = {f"why-{each.key}": _flame(each) for each in _explained(proofs, others)}
    return html_page(shown, [drawn.get(section.id, "") for section in shown.sections], "flame")


class _Shown(Struct, frozen=True):
    """A release with its place on the page."""

    key: str
    proof: Proof
    probe: Probed
    why: Lateness | None


def _explained(proofs: Sequence[Proof], others: Others) -> Iterator[_Shown]:
    """Of each proof the latest release, then the others."""
    for number, proof in enumerate(proofs):
        more = others[number] if others else ()
        yield _Shown(f"{number}", proof, proof.latest, proof.why)
        for place, other in enumerate(more, 2):
            yield _Shown(f"{number}-{place}", proof, other.probe, other.why)


def _flame(each: _Shown) -> str:
    if each.why is None:
        return ""
    return flame_html(each.why.stacks, f"{_name(each.proof)}, {exact_text(each.probe.latency_ns)}")


def _name(proof: Proof) -> str:
    return f"{proof.of.kernel}, {proof.of.load}"


def _why(each: _Shown) -> Section:
    at_ns = each.proof.of.first_ns + each.probe.at_ns
    replayed = Texts("paragraph", ((REPLAYED(at_ns=at_ns, latency_ns=each.probe.latency_ns),),))
    sheets_of = (
        (parts_sheet(each.why.parts, f"parts-{each.key}"), functions_sheet(each.why, f"functions-{each.key}"))
        if each.why
        else ()
    )
    return Section(f"why-{each.key}", (replayed, *sheets_of), _name(each.proof), "part")


def sheet(proofs: Sequence[Proof]) -> Sheet:
    return Sheet(
        key="proofs",
        title=_("One release in the window: latencies in {latency}, instants in {instant}").format(
            latency=LATENCY.sign, instant=INSTANT.sign
        ),
        columns=(
            sheets.labels("kernel", _("kernel"), (proof.of.kernel for proof in proofs)),
            sheets.labels("load", _("load"), (proof.of.load for proof in proofs)),
            sheets.times("found", _("found"), [proof.latest.latency_ns for proof in proofs], LATENCY),
            sheets.times(
                "bound", _("bound, if the premises hold"), [p.conditional_bound_ns for p in proofs], LATENCY
            ),
            sheets.times(
                "instant", _("instant"), [proof.of.first_ns + proof.latest.at_ns for proof in proofs], INSTANT
            ),
            sheets.labels("holder", _("held by"), (proof.holder for proof in proofs)),
            sheets.times("eps", "eps", [proof.eps_ns for proof in proofs], LATENCY),
            sheets.numbers("probes", _("probes"), [len(proof.probes) for proof in proofs]),
            sheets.numbers("checks", _("check instants"), [proof.checks for proof in proofs]),
            sheets.texts("ruling", _("result"), (_(RULINGS[p.ruling]) for p in proofs), words=True),
        ),
        notes=(say(SCOPE()),),
        kind="proofs",
        of="landscape",
    )


def to_json_value(proofs: Sequence[Proof], others: Others = ()) -> dict[str, Any]:
    """Every landscape with every probe (docs/lab/prove.md)."""
    explained = [*_explained(proofs, others)]
    return {
        "schema": 1,
        "sentence": english(SCOPE()),
        "statements": [to_json(SCOPE())],
        "landscapes": [
            {
                **claim_to_json(proof),
                "why": lateness_json(proof.why) if proof.why else None,
                "others": [_release_json(each) for each in explained if each.proof is proof][1:],
            }
            for proof in proofs
        ],
    }


def _release_json(each: _Shown) -> dict[str, Any]:
    return {
        "at_ns": each.proof.of.first_ns + each.probe.at_ns,
        "latency_ns": each.probe.latency_ns,
        "why": lateness_json(each.why) if each.why else None,
    }
