"""How late a single release is by its instant: what the probes say from below, and the bound above it
(docs/lab/prove.md). Between two probes the lateness lies between both lines. `howlate lab prove` draws it; the
report's charts are of cells, so the underscore keeps it out of their list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from howlate.figures.figure import Figure, Key, Note, Panel
from howlate.figures.frame import Piece, exact_of, from_bottom, picture_of
from howlate.figures.scale import Scale, from_zero
from howlate.figures.svg import el, line_path, pack
from howlate.prove.landscape import Probed, ReleaseWindow, divided, stretches
from howlate.prove.proof import Proof, claim_of
from howlate.words.quantities import exact_text
from howlate.words.statement import Caption

WIDTH = 20_000.0
"""Fine enough to zoom into a microsecond."""
HEIGHT = 220
FOUND, BOUND = "c-max", "c-median"

Line = list[tuple[float, float]]
"""Instants and latencies, in ns."""


def draw(proofs: Sequence[Proof]) -> Figure:
    """A panel a landscape; all have the same axes."""
    largest_ns = max(latency_ns for proof in proofs for _, latency_ns in [*_reached(proof), *_bound(proof)])
    y = from_zero(largest_ns, "ns")
    return Figure(
        name="landscape",
        title=Caption("Lateness of a single release, by its instant"),
        reading=Caption(
            "Each tooth of the lower line begins with a release that was tried; after it the lateness falls by one "
            "nanosecond per nanosecond at most. No release is later than the upper line if the premises hold that "
            "were sampled, not watched; where one was seen to fail, there is no such line."
        ),
        x_title=Caption("Instant of the release, after the start of the cell"),
        y_title=Caption("Latency"),
        panels=tuple(_panel(proof, y) for proof in proofs),
        keys=(
            Key(FOUND, Caption("reached, by the probes"), series=0),
            Key(BOUND, Caption("bound, if the premises hold"), series=1),
        ),
        columns=1,
    )


def _panel(proof: Proof, y: Scale) -> Panel:
    first_ns, found = proof.of.first_ns, proof.latest
    x = Scale(first_ns + proof.window.first_ns, first_ns + proof.window.end_ns, log=False, kind="ns")
    note = Note(
        x.at(first_ns + found.at_ns), y.at(found.latency_ns), exact_text(found.latency_ns), "circle", FOUND
    )
    pieces = [
        _piece(
            _shifted(_reached(proof), first_ns), 3, FOUND, Caption("reached"), x, y, [note], _holders(proof)
        ),
        _piece(_shifted(_bound(proof), first_ns), 2, BOUND, Caption("bound, if the premises hold"), x, y, []),
    ]
    return Panel(
        label=f"{proof.of.kernel}, {proof.of.load}",
        picture=picture_of(pieces, x, y.ticks(5), WIDTH, 2.0 * HEIGHT),
        height=HEIGHT,
        summary=claim_of(proof),
        data=exact_of(pieces),
        link="landscape",
    )


def _shifted(line: Line, by_ns: int) -> Line:
    return [(by_ns + at_ns, latency_ns) for at_ns, latency_ns in line]


def _piece(
    line: Line,
    every: int,
    classes: str,
    name: Caption,
    x: Scale,
    y: Scale,
    notes: Sequence[Note],
    more: Sequence[str] = (),
) -> Piece:
    """`every`: which points hovering tells; `more`: what it tells with each."""
    told = line[::every]
    words = more or [""] * len(told)
    points = [(x.at(at_ns) * WIDTH, (1 - y.at(latency_ns)) * 2 * HEIGHT) for at_ns, latency_ns in line]
    series = {
        "name": name,
        "key": classes,
        "names": [exact_text(at_ns) for at_ns, _ in told],
        "says": [
            f"{exact_text(latency_ns)} {word}".strip()
            for (_, latency_ns), word in zip(told, words, strict=True)
        ],
        "per": 1,
        "x": pack(round(at_ns) for at_ns, _ in told),
        "y": pack(from_bottom(y.at(latency_ns)) for _, latency_ns in told),
    }
    return Piece(el("path", {"class": f"line {classes}", "d": line_path(points)}), notes, series)


def _inside(proof: Proof) -> Iterator[tuple[ReleaseWindow, list[Probed]]]:
    for tile, probes in divided(proof.tiles, sorted({*proof.probes, proof.latest})):
        yield tile, [probe for probe in probes if tile.holds(probe.at_ns)]


def _holders(proof: Proof) -> list[str]:
    return [probe.path.holder if probe.path else "" for _, inside in _inside(proof) for probe in inside]


def _reached(proof: Proof) -> Line:
    """The probes, and how their lateness falls until the next one or until nothing is left: three points a probe."""
    line: Line = []
    for tile, inside in _inside(proof):
        ends = [*(probe.at_ns for probe in inside[1:]), tile.end_ns]
        for probe, end_ns in zip(inside, ends, strict=True):
            falls_ns = min(end_ns - probe.at_ns, probe.latency_ns)
            least_ns = probe.latency_ns - falls_ns
            line += [(probe.at_ns, probe.latency_ns), (probe.at_ns + falls_ns, least_ns), (end_ns, least_ns)]
    return line


def _bound(proof: Proof) -> Line:
    """What no release before a probe exceeds, two points an interval; nothing where there is no bound."""
    if not proof.is_bounded:
        return []
    line: Line = []
    for tile, probes in divided(proof.tiles, proof.probes):
        for stretch in stretches(tile, probes, proof.eps_ns):
            last_ns = stretch.bound_ns - stretch.length_ns
            line += [(stretch.first_ns, stretch.bound_ns), (stretch.end_ns, last_ns)]
    return line
