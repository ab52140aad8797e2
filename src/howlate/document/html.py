"""The report: one HTML file that needs nothing else, below 2 MB whatever the number of samples
(docs/report.md).

The page's policy forbids it to load anything, and to run any script but its own.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path

from howlate.document.doc_links import linked
from howlate.document.document import Document
from howlate.document.document_html import sections_html
from howlate.document.figure_html import script_json
from howlate.document.first_screen.page_room import in_room
from howlate.document.of_runs import document
from howlate.document.report_input import ReportInput, compared, explained
from howlate.document.results import Fit
from howlate.document.sheet import PAGE
from howlate.document.side_charts import over_sides
from howlate.errors import UsageError
from howlate.figures.scale import OWN_AXES, Axes
from howlate.model.loaded import RunContent
from howlate.sides.join import must_be_one_clock
from howlate.words.language import N_, _, spoken

LARGEST = 2_000_000
"""Bytes that a page may have."""
MOST_DRAWN = 8
"""Rows in the charts; the tables have all rows."""
MOST_LISTED = 1000
"""Rows of the table, likewise."""
FEWEST = 8
"""Cells that are shown in any case."""


def write_report(
    runs: Path | Sequence[RunContent],
    out: Path,
    option: str = "",
    axes: Axes = OWN_AXES,
    *,
    published: bool = False,
    by: str = "",
    folder: str = "",
) -> Path:
    """Writes the report of a run folder, or of runs that are read already; returns its path. `option`: the one that
    names another place than the run's own. `folder`: the first run's, as a shell takes it."""
    from howlate.store.files import write_output, write_text
    from howlate.store.loaded import load_run

    contents = [load_run(runs)] if isinstance(runs, Path) else runs
    text = linked(render(contents, axes, published=published, by=by, folder=folder), out)
    if option:
        write_output(out, text, option)
    else:
        write_text(out, text)
    return out


def fits(cells: int, rows: int | None = None) -> Iterator[Fit]:
    """From everything downwards: first coarser courses, then fewer cells in the charts, then in the lists. `rows`: of
    the lists, where there is not one a cell."""
    drawn, listed = min(cells, MOST_DRAWN), min(cells if rows is None else rows, MOST_LISTED)
    for joined in (1, 2, 4, 8, 16):
        yield Fit(joined, drawn, listed)
    while drawn > FEWEST:
        drawn = max(FEWEST, drawn * 3 // 4)
        yield Fit(16, drawn, listed)
    while listed > FEWEST:
        listed = max(FEWEST, listed * 3 // 4)
        yield Fit(16, drawn, listed)


def render(
    runs: Sequence[RunContent],
    axes: Axes = OWN_AXES,
    *,
    published: bool = False,
    by: str = "",
    folder: str = "",
) -> str:
    """The page. Several runs are joined; then a label tells which run, or which kernel, a row is of. `published`:
    also the figures of the study's document. `by`: the label whose values are compared; UsageError where they cannot
    be. Without it kernels are, where there are several."""
    if not runs:
        raise UsageError("there is no run to report on", remedy="name a run folder")
    must_be_one_clock(runs)
    comparison = compared(runs, by)
    charts = list(over_sides(runs, axes, published=published))
    cases = list(map(explained, runs))
    return fitted(
        list(fits(sum(len(content.cells) for content in runs))),
        lambda fit: page(
            document(ReportInput(runs, PAGE, comparison, fit, axes, charts, folder=folder, explained=cases))
        ),
    )


def fitted(steps: Sequence[Fit], render: Callable[[Fit], str]) -> str:
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


SCRIPT_SAYS = (
    N_("1 in {many}"),
    N_("{low} to {high}"),
    N_("later than"),
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
    return (files("howlate.document") / name).read_text(encoding="utf-8")


def page(shown: Document, drawn: Sequence[str] = (), own: str = "") -> str:
    """A document as one file that needs nothing else. `drawn` is put behind its sections, one each; `own`
    names the style and the script that this needs (`own`.css, `own`.js)."""
    body = "\n".join(
        part + more for part, more in zip_longest(sections_html(in_room(shown)), drawn, fillvalue="")
    )
    kinds = ("page", own) if own else ("page",)
    style, script = ("".join(asset(f"{name}.{kind}") for name in kinds) for kind in ("css", "js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"
    return f"""<!DOCTYPE html>
<html lang="{spoken()}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(shown.title)}</title>
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
