"""The document of proofs: one sheet for terminal and page, and a picture of each landscape."""

import io
from collections.abc import Sequence
from itertools import pairwise, takewhile

import pytest
from msgspec.structs import replace
from rich.console import Console

from charts.packed import unpack
from howlate.document.document import Document
from howlate.document.document_terminal import print_document
from howlate.document.html import page
from howlate.figures.strip import plain
from howlate.prove.chart import draw
from howlate.prove.document import document, to_json_value, whys
from howlate.prove.document import page as whole_page
from howlate.prove.landscape import Goal
from howlate.prove.proof import Proof, claim_of
from howlate.prove.screen import prove_screen
from howlate.prove.worst_releases import LateRelease, latest_of
from howlate.replay.premises import Witness
from howlate.words.quantities import exact_text
from howlate.words.say import english
from made_prober import STOPPER, proved, tooth
from prove.test_flow import ABOVE
from screens import fits

BOUNDED = proved(tooth, Goal(within=0.1))
WITHHELD = proved(tooth, Goal(within=0.1), Witness(0, 10**6, (STOPPER, ABOVE), (0, 0)))
PROOFS = [BOUNDED, WITHHELD]


def test_the_screen_has_a_row_a_landscape_the_latest_first_and_what_is_stated_of_it() -> None:
    less = replace(BOUNDED, of=replace(BOUNDED.of, kernel="6.1-rt"), latest=min(BOUNDED.probes))
    many = [replace(less, of=replace(less.of, load=f"cpu:{n}")) for n in range(30)]
    for width in (80, 60, 40):
        for proofs in (PROOFS, [less, *PROOFS], [WITHHELD], [*many, BOUNDED]):
            lines = fits(prove_screen(proofs, width), width)
            latest = max(proofs, key=lambda proof: proof.latest.latency_ns)
            table = takewhile(lambda line: "Only for" not in line, lines)
            rows = [line for line in table if line_ns(proofs, line) > 0]
            found = [line_ns(proofs, line) for line in rows]
            assert found == sorted(found, reverse=True) and found[0] == latest.latest.latency_ns
            assert " ".join(line.strip() for line in lines).count("this phase") == 1
            assert any("--json" in line for line in lines) == (len(proofs) > 1)
    lines = fits(prove_screen([BOUNDED]), 80)
    assert plain(exact_text(BOUNDED.bound_ns)) in lines[2]
    text = " ".join(line.strip() for line in lines)
    assert english(claim_of(BOUNDED))[:200].replace("µ", "u") in text
    assert "no bound" in " ".join(fits(prove_screen([WITHHELD]), 80))


def line_ns(proofs: Sequence[Proof], line: str) -> int:
    """What a row says was found."""
    every = sorted({proof.latest.latency_ns for proof in proofs}, reverse=True)
    return next((ns for ns in every if f" {plain(exact_text(ns))}" in line and ", " in line), -1)


@pytest.mark.parametrize(
    ("ahead_ns", "armed"), [((None, 4_990_000), ""), ((4_990_000, 4_997_000), "4.990000 ms")]
)
def test_each_sentence_says_what_it_does_not_cover_and_how_far_ahead_its_releases_are_armed(
    ahead_ns: tuple[int | None, ...], armed: str
) -> None:
    said = tuple(Witness(0, 10**6, (), (), ahead_ns=each) for each in ahead_ns)
    (value,) = to_json_value([replace(BOUNDED, witnesses=said)])["landscapes"]
    assert value["sentence"].count(". ") == 0 and value["sentence"].endswith(").")
    for part in ("other phases", "latest found", armed):
        assert part in value["sentence"]
    assert ("armed" in value["sentence"]) is bool(armed)
    assert value["armed_ahead_ns"] == (4_990_000 if armed else None)


def test_other_late_releases_are_explained_too_each_of_another_tooth() -> None:
    """The landscape has four teeth, and two are searched to the end at least."""
    probes = latest_of(BOUNDED, 3)
    assert probes[0] == BOUNDED.latest and len(probes) == 3
    assert all(one.start_ns <= later.at_ns for one, later in pairwise(sorted(probes)))
    assert latest_of(BOUNDED, 0) == latest_of(BOUNDED, 1) == [BOUNDED.latest]
    assert BOUNDED.why is not None
    others = [[LateRelease(probe, BOUNDED.why) for probe in probes[1:]], []]
    first, second = to_json_value(PROOFS, others)["landscapes"]
    assert [each["latency_ns"] for each in first["others"]] == [probe.latency_ns for probe in probes[1:]]
    assert first["others"][0]["why"] and not second["others"]
    text = whole_page(PROOFS, others)
    assert all(f'id="{key}"' in text for key in ("why-0", "why-0-2", "why-0-3", "why-1"))
    out = io.StringIO()
    print_document(Console(file=out, width=120), Document(tuple(whys(PROOFS, others))))
    assert out.getvalue().count(": in work") == 4


def test_the_page_draws_a_bound_only_where_there_is_one() -> None:
    figure = draw(PROOFS)
    reached, bound = (panel["series"] for panel in (figure.panels[0].data, figure.panels[1].data))
    assert unpack(reached[0]["x"]) == sorted({p.at_ns for p in (*BOUNDED.probes, BOUNDED.latest)})
    assert unpack(reached[1]["x"]) and not unpack(bound[1]["x"])
    html = page(document(PROOFS))
    assert 'data-chart="landscape"' in html and "lab/prove.md" in html


def test_json_has_a_bound_only_where_it_is_claimed_by_whoever_asked() -> None:
    first, second = to_json_value(PROOFS)["landscapes"]
    assert first["conditional_bound_ns"] == BOUNDED.bound_ns and second["conditional_bound_ns"] is None
    accepted = to_json_value([replace(proof, accepted=True) for proof in PROOFS])["landscapes"]
    assert [each["bound_ns"] for each in (first, second, *accepted)] == [None, None, BOUNDED.bound_ns, None]
    assert len(first["landscape"]) == first["probes"]
