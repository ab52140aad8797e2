"""The report: one HTML file that needs nothing else, below 2 MB whatever the number of samples
(docs/report.md).

Every text that comes from a run (labels, kernel command line, reasons) is escaped where it is put into the
page. The page's
policy forbids it to load anything, and to run any script but its own.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path

from howlate import __version__
from howlate.charts import Chart, Figure, Subject, all_charts
from howlate.charts._figure import Shows
from howlate.charts._scale import NARROW_SPACE, OWN_AXES, Axes
from howlate.errors import UsageError
from howlate.language import N_, _, retold, spoken
from howlate.model.run import VIRTUAL_TIME, Run
from howlate.report import compare_html, disturbances, findings, machine, prose, tables
from howlate.report.as_published import over_sides
from howlate.report.coarser import coarser
from howlate.report.compare import Comparison, compare, compare_if_several, labels_of
from howlate.report.content import CellContent, RunContent, must_be_one_clock, read_content
from howlate.report.deadline import deadline_sentences
from howlate.report.figure_html import figure_html, script_json
from howlate.report.labels import by_part, policy_in_force, row_names, title_of
from howlate.report.least_late import least_late
from howlate.report.points import Points
from howlate.report.side_charts import Drawn
from howlate.report.threshold import threshold_sentences

LARGEST = 2_000_000
"""Bytes that a page may have."""
MOST_DRAWN = 200
"""Even the coarsest pictures of more cells would not fit."""
MOST_LISTED = 1000
"""Rows of the table, likewise."""
FEWEST_LISTED, MOST_CONTENTS = 3, 40
"""Headings that are worth a list, and how many it has at most."""
FEWEST = 8
"""So many cells are shown in any case."""


def write_report(
    runs: Path | Sequence[RunContent],
    out: Path,
    option: str = "--out",
    axes: Axes = OWN_AXES,
    published: bool = False,
    by: str = "",
) -> Path:
    """Writes the report of a run folder, or of runs that are read already; returns its path. `option`: the one that
    chooses where."""
    from howlate.store.files import write_text

    contents = [read_content(runs)] if isinstance(runs, Path) else runs
    write_text(out, render(contents, axes, published, by), option)
    return out


@dataclass(frozen=True)
class Fit:
    """What a page leaves out so that it stays below LARGEST."""

    joined: int
    """So many blocks of time are drawn as one."""
    drawn: int
    """So many cells, those with the largest latencies, are in the charts."""
    listed: int
    """So many are in the table and in the lists."""


def fits(cells: int) -> Iterator[Fit]:
    """From everything downwards: first coarser courses, then fewer cells in the charts, then in the lists."""
    drawn, listed = min(cells, MOST_DRAWN), min(cells, MOST_LISTED)
    for joined in (1, 2, 4, 8, 16):
        yield Fit(joined, drawn, listed)
    while drawn > FEWEST:
        drawn = max(FEWEST, drawn * 3 // 4)
        yield Fit(16, drawn, listed)
    while listed > FEWEST:
        listed = max(FEWEST, listed * 3 // 4)
        yield Fit(16, drawn, listed)


def render(runs: Sequence[RunContent], axes: Axes = OWN_AXES, published: bool = False, by: str = "") -> str:
    """The page. Several runs are joined; then a label tells which run, or which kernel, a row is of. `published`:
    also the figures of the study's document. `by`: the label whose values are compared; UsageError where they cannot
    be. Without it kernels are, where there are several."""
    if not runs:
        raise UsageError("there is no run to report on", "name a run folder")
    must_be_one_clock(runs)
    comparison = compare(runs, by) if by else compare_if_several(runs)
    drawn = list(over_sides(runs, axes, published))
    return _fitted(
        list(fits(sum(len(content.cells) for content in runs))),
        lambda fit: _render(runs, fit, comparison, drawn, axes),
    )


def _fitted(steps: Sequence[Fit], render: Callable[[Fit], str]) -> str:
    """The first page that is small enough. Each step makes a smaller one than the step before: where the first does
    not, it is sought by halves."""
    page, of = render(steps[0]), 0
    if len(page.encode()) < LARGEST:
        return page
    first, last = 1, len(steps) - 1
    while first < last:
        middle = (first + last) // 2
        tried = render(steps[middle])
        if len(tried.encode()) < LARGEST:
            page, of, last = tried, middle, middle
        else:
            first = middle + 1
    return page if of == first else render(steps[first])


def _render(
    runs: Sequence[RunContent],
    fit: Fit,
    comparison: Comparison | None,
    drawn: Sequence[Drawn],
    axes: Axes,
) -> str:
    """The page with as much of the cells as `fit` says."""
    every, labels = joined(runs, comparison)
    names = row_names(labels)
    first = runs[0].run
    sections = sections_of(runs, comparison)
    listed = _latest(every, fit.listed)
    cells, names = [every[i] for i in listed], [names[i] for i in listed]
    body = [
        _head(
            runs,
            [*(line for section in sections for line in section.answer), *_ways(every), *_deadlines(every)],
        ),
        findings.causes(runs),
        _warnings([*_ended(runs), *prose.cautions(runs, cells, names), *_left_out(fit, len(every))]),
        compare_html.section(comparison, fit.listed) if comparison is not None else "",
        *_over_sides(drawn, first),
        *(text for section in sections for text in section.texts(fit, len(every), axes)),
        findings.section(runs),
        machine.section(runs, cells, names),
        _meaning(any(section.points is not None for section in sections), first.virtual),
        _foot(runs),
    ]
    title = " – ".join(filter(None, (_question(runs), _policy_words(runs), "howlate")))
    head, *rest = [part for part in body if part]
    return _page(title, "\n".join([head, *_with_contents(rest)]))


def _with_contents(parts: Sequence[str]) -> list[str]:
    """The parts, with a list of their headings before the first of them that has one."""
    first = next((i for i, part in enumerate(parts) if "<h2>" in part), len(parts))
    headings = re.findall(r'<section[^>]* id="([^"]+)"[^>]*><h2>(.*?)</h2>', "".join(parts))
    if len(headings) < FEWEST_LISTED:
        return list(parts)
    links = "".join(f'<li><a href="#{ident}">{title}</a></li>' for ident, title in headings[:MOST_CONTENTS])
    contents = f'<nav class="contents" aria-label="{_("Contents")}"><ul>{links}</ul></nav>'
    return [*parts[:first], contents, *parts[first:]]


def _ways(cells: Sequence[CellContent]) -> list[str]:
    """Which way to sleep was the least late, as HTML."""
    return [escape(sentence) for sentence in least_late([cell.summary for cell in cells], "µs")]


def _deadlines(cells: Sequence[CellContent]) -> list[str]:
    """What became of a stated deadline, as HTML."""
    said = deadline_sentences([cell.summary for cell in cells], "µs", NARROW_SPACE)
    return [f"<b>{escape(sentence)}</b>" for sentence in said]


def _ended(runs: Sequence[RunContent]) -> list[str]:
    """Cells that their threshold ended."""
    return [
        sentence
        for content in runs
        for sentence in threshold_sentences([cell.summary for cell in content.cells], content.run, "µs")
    ]


@dataclass(frozen=True)
class Section:
    """The cells of one part of the study, or all of them where it has none."""

    runs: Sequence[RunContent]
    part: str
    cells: Sequence[CellContent]
    labels: Sequence[dict[str, str]]
    names: Sequence[str]
    points: Points | None

    @classmethod
    def of(
        cls,
        runs: Sequence[RunContent],
        part: str,
        cells: Sequence[CellContent],
        labels: Sequence[dict[str, str]],
    ) -> Section:
        return cls(runs, part, cells, labels, row_names(labels), Points.of(runs, cells, labels))

    @property
    def title(self) -> str:
        return retold(title_of(self.part, self.runs[0].run.study))

    @property
    def answer(self) -> list[str]:
        """The short answer, as HTML; under the part's title where there is one."""
        said = (
            prose.answer(self.cells, self.names, machine.hardware(self.runs))
            if self.points is None
            else prose.answer_of_points(self.points.groups, self.runs[0].run)
        )
        return (
            [f"{_('{sentence}.').format(sentence=escape(self.title))} {said[0]}", *said[1:]]
            if self.part
            else said
        )

    def texts(self, fit: Fit, of: int, axes: Axes = OWN_AXES) -> Iterable[str]:
        """Tables and charts. `of`: so many cells share the page's room."""
        if self.part:
            yield (
                f'<section class="part" id="part-{escape(self.part)}"><h2>{escape(self.title)}</h2></section>'
            )
        cells, labels, drawn = self.drawn(fit, of)
        yield from _results(cells, labels, drawn, self.points, self.runs[0].run, self.part, axes)

    def drawn(
        self, fit: Fit, of: int
    ) -> tuple[list[CellContent], list[dict[str, str]], dict[Shows, Sequence[Subject]]]:
        """Cells and labels of the tables, and what each kind of chart draws."""
        drawn_most, listed_most = (
            most if not self.part else max(1, most * len(self.cells) // max(1, of))
            for most in (fit.drawn, fit.listed)
        )
        listed = _latest(self.cells, listed_most)
        cells, labels = [self.cells[i] for i in listed], [self.labels[i] for i in listed]
        names = [self.names[i] for i in listed]
        subjects = [
            Subject(
                names[i] if cells[i].summary.valid else _("{name} (invalid)").format(name=names[i]),
                cells[i].summary,
                coarser(cells[i].bins, fit.joined),
            )
            for i in _latest(cells, drawn_most)
        ]
        drawn: dict[Shows, Sequence[Subject]] = {"cells": subjects, "pooled": subjects, "worst": subjects}
        if self.points is not None:
            drawn = self.points.subjects(drawn_most, fit.joined)
        return cells, labels, drawn


def sections_of(runs: Sequence[RunContent], comparison: Comparison | None) -> list[Section]:
    """The parts of the study, in order; one section where it has none."""
    every, labels = joined(runs, comparison)
    return [
        Section.of(runs, part, [every[i] for i in places], [labels[i] for i in places])
        for part, places in by_part(labels).items()
    ] or [Section.of(runs, "", [], [])]


def _latest(cells: Sequence[CellContent], most: int) -> list[int]:
    """Places of the cells with the largest latencies, so many at most, in the order in which they stand."""
    by_size = sorted(range(len(cells)), key=lambda i: -(((c := cells[i].column) and c.max) or 0))
    return sorted(by_size[:most])


def _left_out(fit: Fit, cells: int) -> list[str]:
    """What is not on the page for want of room."""
    said = []
    if fit.joined > 1:
        said.append(
            _(
                "So many cells leave no room for every block of time: {joined} are joined into one, "
                "with the largest of their maxima, p99 and medians."
            ).format(joined=fit.joined)
        )
    if fit.drawn < cells:
        said.append(
            _(
                "So many cells leave no room for every picture: of the {cells} cells the {drawn} "
                "with the largest latencies are drawn."
            ).format(cells=cells, drawn=fit.drawn)
        )
    if fit.listed < cells:
        said.append(
            _(
                "The table and the lists hold the {listed} cells with the largest latencies; the "
                "answer above is of all {cells}, and `howlate show` lists them all."
            ).format(listed=fit.listed, cells=cells)
        )
    return said


def joined(
    runs: Sequence[RunContent], comparison: Comparison | None = None
) -> tuple[list[CellContent], list[dict[str, str]]]:
    """All cells of all runs with their labels."""
    return [cell for content in runs for cell in content.cells], labels_of(runs, comparison)


def _over_sides(drawn: Sequence[Drawn], run: Run) -> Iterable[str]:
    """The charts that are of the whole page."""
    note = VIRTUAL_TIME if run.virtual else ""
    for figure, part, column in drawn:
        if isinstance(figure, Figure):
            yield figure_html(figure, note, part, column)
        else:
            yield f'<section class="chart"><p class="reading">{escape(figure)}</p></section>'


def _results(
    cells: Sequence[CellContent],
    labels: Sequence[dict[str, str]],
    drawn: Mapping[Shows, Sequence[Subject]],
    points: Points | None,
    run: Run,
    part: str,
    axes: Axes,
) -> Iterable[str]:
    if not cells:
        yield f'<section><p class="lead">{_("No cell of this run is whole yet.")}</p></section>'
        return
    note = VIRTUAL_TIME if run.virtual else ""
    for chart in all_charts():
        for column, subjects in by_column(chart, drawn.get(chart.shows) or ()):
            figure = chart.figure(subjects, axes)
            if isinstance(figure, Figure):
                yield figure_html(figure, note, part, column)
            elif figure:
                yield f'<section class="chart"><p class="reading">{escape(figure)}</p></section>'
        if chart.name == "overview":
            single = tables.summary(cells, labels, note, part)
            single += disturbances.table(cells, row_names(labels), part)
            spread = "" if points is None else tables.spread(points.groups, run, part)
            yield single if points is None else spread + _folded(cells, single)


def by_column(chart: Chart, subjects: Sequence[Subject]) -> Iterator[tuple[str, Sequence[Subject]]]:
    """What a chart draws, once for each column where it is drawn for every one; nothing where there is nothing. The
    first column is told by an empty name."""
    if not subjects:
        return
    yield "", subjects
    if chart.every:
        held = [s.bins for s in subjects if s.bins is not None]
        for name in dict.fromkeys(other.column for bins in held for other in bins.others):
            own = [(s, s.bins.of(name)) for s in subjects if s.bins is not None]
            yield name, [replace(s, bins=bins) for s, bins in own if bins is not None]


def _folded(cells: Sequence[CellContent], single: str) -> str:
    head = _("Every repetition: {count} cells").format(count=len(cells))
    return f'<details class="cells"><summary>{head}</summary>{single}</details>'


def _head(runs: Sequence[RunContent], answer: Sequence[str]) -> str:
    started = ", ".join(dict.fromkeys(content.run.started[:16].replace("T", " ") for content in runs))
    paragraphs = "".join(
        f'<p class="{"answer" if i == 0 else "lead"}">{text}</p>' for i, text in enumerate(answer)
    )
    where = "; ".join(machine.places(runs))
    question = _question(runs).replace("-", "\u2011")  # no line ends inside a word
    studies = ", ".join(dict.fromkeys(content.run.study.id for content in runs))
    return (
        f'<header><p class="eyebrow">howlate · {escape(studies)} · {escape(started)} UTC'
        f"{' · ' + escape(where) if where else ''}</p>"
        f"<h1>{escape(question)}{_policy(runs)}</h1>{paragraphs}</header>"
    )


def _policy_words(runs: Sequence[RunContent]) -> str:
    """What was in force in all cells."""
    return policy_in_force([cell.summary.labels for content in runs for cell in content.cells])


def _policy(runs: Sequence[RunContent]) -> str:
    policy = _policy_words(runs)
    return f' <span class="policy">{escape(policy)}</span>' if policy else ""


def _question(runs: Sequence[RunContent]) -> str:
    """What was asked; of several studies their names."""
    studies = {content.run.study.id: content.run.study for content in runs}
    first = next(iter(studies.values()))
    return (
        _("Studies side by side: {studies}").format(studies=", ".join(studies))
        if len(studies) > 1
        else retold(first.question or first.title)
    )


def _warnings(sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    return (
        f'<aside class="cautions" aria-label="{_("Before you use these numbers")}"><ul>{items}</ul></aside>'
    )


def _meaning(points: bool, virtual: bool) -> str:
    terms = [
        *prose.MEANING,
        *(prose.OF_POINTS if points else ()),
        *(prose.OF_VIRTUAL_TIME if virtual else ()),
    ]
    rows = "".join(f"<dt>{escape(_(term))}</dt><dd>{escape(_(text))}</dd>" for term, text in terms)
    return f'<section id="meaning"><h2>{_("What the numbers mean")}</h2><dl class="meaning">{rows}</dl></section>'


def _foot(runs: Sequence[RunContent]) -> str:
    versions: dict[str, str] = {}
    for content in runs:
        for name, version in content.run.versions.items():
            if version not in versions.setdefault(name, version).split(", "):
                versions[name] += f", {version}"
    measured = ", ".join(f"{name} {version}" for name, version in versions.items())
    ids = ", ".join(content.run.id for content in runs)
    return (
        "<footer><p>"
        + _(
            "Run {ids}. Measured with {versions}; this page was made by howlate {version}. It holds all that it "
            "shows: it loads nothing."
        ).format(
            ids=escape(ids), versions=escape(measured or _("an unknown version")), version=escape(__version__)
        )
        + "</p></footer>"
    )


SCRIPT_SAYS = (
    N_("1 in {many}"),
    N_("{low} to {high}"),
    N_("later than"),
    N_("wake-ups"),
    N_("{part} of {whole}"),
    N_("share"),
    N_("none: the largest seen"),
    N_("Show all"),
)
"""What page.js says of its own accord."""


def _words() -> str:
    """For the script, where the page is not English: the same script runs on every page, by its hash."""
    own = {text: _(text) for text in SCRIPT_SAYS if _(text) != text}
    return f'<script type="application/json" id="words">{script_json(own)}</script>\n' if own else ""


@cache
def asset(name: str) -> str:
    return (files("howlate.report") / name).read_text(encoding="utf-8")


def _page(title: str, body: str) -> str:
    style, script = asset("page.css"), asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"
    return f"""<!DOCTYPE html>
<html lang="{spoken()}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
<div id="tip" role="status" aria-live="polite" hidden></div>
{_words()}<script>{script}</script>
</body>
</html>
"""
