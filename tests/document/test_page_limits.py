"""The page of a run, of every kind: the answer within one screen, the rest within four printed pages, and nothing
that a browser's checker of accessibility finds."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import made_inventory
from browsing import NEEDS_BROWSER, axe, printed_pages, size, started, visit, words
from history.test_screen import MADE as HISTORIES
from howlate import __main__ as entry
from howlate.document import html
from howlate.document.html import page as html_page
from howlate.history.document import document as history_document
from howlate.model.loaded import RunContent
from howlate.model.summary import DeadlineSummary
from howlate.prove.document import page as proofs_page
from howlate.store.loaded import load_run
from howlate.words.statement import Statement
from made_cells import made_cell
from made_points import KERNELS, made_points, virtual_run
from made_runs import FINDINGS, five_cells, made_run
from made_trace import late_samples
from prove.test_document import PROOFS

pytestmark = NEEDS_BROWSER
STORED = (
    *("passed", "failed", "doubtful", "partly", "traced", "histogram", "imported", "ordinary", "real-time"),
    *("timers", "lab", "points"),
)
HIGHEST, MOST_WORDS, MOST_PRINTED, LARGEST = 6_000, 1_500, 4, 600_000
SWEPT = (
    "36 kernels under three loads",
    "nine kernels under four loads",
    "eight CPUs",
    "ordinary",
    "real-time",
)
"""Kinds that take a minute each, or have the same parts as others."""
SCREEN, PHONE = (1280, 1000), (390, 2 * 844)
"""Width, and the height that the answer has room in."""
BOTTOM = "return document.querySelector('.chips').getBoundingClientRect().bottom + scrollY"
WIDE = (
    "return [document.documentElement, ...document.querySelectorAll('.scroll')]"
    ".filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth).map(e => e.className || e.tagName)"
)

COVERED = (
    "const box = e => e.getBoundingClientRect(), seen = e => e.checkVisibility() && e.textContent;"
    "const over = (e, o) => { const a = box(e), b = box(o);"
    " return Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1"
    " && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3; };"
    "const found = [];"
    "for (const frame of document.querySelectorAll('.frame')) {"
    " const texts = Array.from(frame.querySelectorAll('text')).filter(seen);"
    " const marks = frame.querySelectorAll('.note.row ~ .note .marker');"
    " texts.forEach((e, i) => found.push(...[...texts.slice(i + 1), ...(e.closest('.deadline') ? marks : [])]"
    "  .filter(o => over(e, o)).map(o => `${frame.parentElement.id}: ${e.textContent} over ${o.textContent}`))); }"
    "return found"
)
"""What a text covers in the charts: another text, or a mark on a row."""


def rows(count: int) -> RunContent:
    summary, bins, *_ = made_cell("none", 1, 500)
    labels = [{**summary.labels, "load": f"cpu:{n}"} for n in range(count)]
    return made_run([(replace(summary, id=f"c{n}-1", labels=own), bins) for n, own in enumerate(labels)])


def check(deadline_ns: int = 0, cpus: str = "1", *, traced: bool = True) -> RunContent:
    """As `howlate check` measures: five rows, the events of their worst samples, perhaps a deadline."""
    content = made_run(five_cells())
    cells = []
    for cell in content.cells:
        column = cell.summary.columns["latency_ns"]
        count, largest = column.count or 0, column.max or 0
        deadline = (
            DeadlineSummary(deadline_ns, count, 7 * (largest > deadline_ns), 0) if deadline_ns else None
        )
        summary = replace(cell.summary, deadline=deadline, labels={**cell.summary.labels, "cpu": cpus})
        cells.append(replace(cell, summary=summary, trace=late_samples(20) if traced else None))
    return replace(content, cells=tuple(cells))


def many_kernels(count: int, *loads: str) -> RunContent:
    kernels = [f"6.{n}{'-rt' * (n % 3 == 0)}" for n in range(count)]
    return virtual_run(made_points(kernels, loads, 2, 500), kernels)


def busy(content: RunContent) -> RunContent:
    """Two rows are not valid and much else is to be said of each, and the doctor has found a lot."""
    warnings = (
        Statement.verbatim("not loaded: it achieved 16 % CPU"),
        *[Statement.verbatim("told " * 30)] * 3,
    )
    cells = [
        replace(cell, summary=replace(cell.summary, warnings=warnings, valid=place > 1, failed_checks=1))
        for place, cell in enumerate(content.cells)
    ]
    findings = [{**FINDINGS[0], "check": f"check{n}", "why": "word " * 60} for n in range(4)]
    return replace(content, cells=tuple(cells), run=replace(content.run, findings=tuple(findings)))


MADE: Mapping[str, Callable[[], RunContent]] = {
    "judged": partial(check, 200_000),
    "without a deadline": check,
    "without events": partial(check, 200_000, traced=False),
    "eight CPUs": partial(check, 50_000, "0,1,2,3,4,5,6,7"),
    "forty rows": lambda: rows(40),
    "three kernels in the lab": lambda: virtual_run(made_points(KERNELS, ("none", "hackbench"), 3)),
    "36 kernels": lambda: many_kernels(36, "none"),
    "nine kernels under four loads": lambda: many_kernels(9, "none", "hackbench", "disk", "cpu:100"),
    "36 kernels under three loads": lambda: many_kernels(36, "none", "hackbench", "disk"),
    "a busy machine": lambda: busy(check(200_000)),
}


def of_history(kind: str) -> str:
    return html_page(history_document(HISTORIES[kind]))


def of_several(stored: Path, *names: str, by: str = "") -> str:
    return html.render([load_run(stored / name) for name in names], by=by)


def of_late_samples(stored: Path, *options: str) -> str:
    page = stored / "late.html"
    assert entry.main(["why", str(stored / "traced"), *options, "-o", str(page)]) == 0
    return page.read_text(encoding="utf-8")


OTHERS: Mapping[str, Callable[[Path], tuple[str, str]]] = {
    "two runs": lambda stored: (of_several(stored, "ordinary", "real-time"), "FAIL"),
    "ways to sleep": lambda stored: (of_several(stored, "timers", by="timer"), "MEASURED"),
    "thirty runs over time": lambda _: (of_history("thirty"), "2 worse, 2 better"),
    "forty rows over time": lambda _: (of_history("eighty rows"), ""),
    "late samples": lambda stored: (of_late_samples(stored), "MEASURED"),
    "nine late samples": lambda stored: (of_late_samples(stored, "--worst", "9"), "MEASURED"),
    "proofs": lambda _: (proofs_page(PROOFS, [[], []]), "nothing later found"),
}
"""Pages of more than one run, and what they are titled first."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with started(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("inventory") / "runs"
    made_inventory.make_runs(place, STORED)
    return place


def keeps_limits(browser: Any, page: Path, largest: int = LARGEST, *, of_a_run: bool = False) -> None:
    """Its size, and what is seen of it on a screen, on a phone and on paper. The phone's is the last. That of one run
    has its answer at once."""
    assert page.stat().st_size < largest
    for (width, height), dark in ((SCREEN, False), (PHONE, True)):
        size(browser, width, dark)
        visit(browser, page)
        assert not of_a_run or browser.execute_script(BOTTOM) <= height
        assert browser.execute_script(WIDE) == browser.execute_script(COVERED) == []
        assert axe(browser) == []
        if width == SCREEN[0]:
            assert browser.execute_script("return document.documentElement.scrollHeight") <= HIGHEST
            assert words(browser) <= MOST_WORDS
    assert printed_pages(browser) <= MOST_PRINTED


@pytest.mark.parametrize("kind", OTHERS)
def test_a_page_of_several_runs_keeps_the_same_limits(
    browser: Any, stored: Path, tmp_path: Path, kind: str
) -> None:
    text, first = OTHERS[kind](stored)
    page = tmp_path / "page.html"
    page.write_text(text, encoding="utf-8")
    keeps_limits(browser, page)
    assert browser.title.startswith(first) and browser.title.endswith("– howlate")
    assert len(browser.find_elements("css selector", "h1 .sign path")) == 1


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=[pytest.mark.sweep] * (kind in SWEPT)) for kind in (*MADE, *STORED)],
)
def test_a_page_of_every_kind_keeps_its_limits(browser: Any, stored: Path, tmp_path: Path, kind: str) -> None:
    content = MADE[kind]() if kind in MADE else load_run(stored / kind)
    page = tmp_path / "report.html"
    page.write_text(html.render([content], folder="runs/20260102T030405-check"), encoding="utf-8")
    largest = html.LARGEST if len(content.cells) > 40 else LARGEST
    keeps_limits(browser, page, largest, of_a_run=True)
    word = browser.execute_script("return document.querySelector('h1 b').textContent")
    assert word in ("PASS", "FAIL", "INCONCLUSIVE", "MEASURED") and browser.title.startswith(word)
    assert browser.execute_script("return document.querySelectorAll('h1 .sign path').length") == 1


def test_each_row_says_its_verdict_and_each_cause_has_a_command(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(html.render([check(200_000)], folder="runs/1"), encoding="utf-8")
    size(browser, SCREEN[0])
    visit(browser, page)
    read = "return Array.from(document.querySelectorAll(arguments[0]), e => e.textContent)"
    ends = [text for text in browser.execute_script(read, "#overview .note.row text") if "missed" in text]
    assert len(ends) == 5 and all(text.endswith(("PASS", "FAIL", "INCONCLUSIVE")) for text in ends)
    shares = browser.execute_script(read, ".shares li b")
    commands = browser.execute_script(read, ".shares .copied")
    assert 1 <= len(commands) == len(shares) - 1 <= 3 and all(
        each.startswith("howlate ") for each in commands
    )
    assert not set(commands) & set(browser.execute_script(read, ".shares code:not(.copied)"))
    bar = browser.execute_script(
        "return Array.from(document.querySelectorAll('.shares-bar span'), e => e.offsetWidth)"
    )
    assert len(bar) == len(shares) and bar[:-1] == sorted(bar[:-1], reverse=True)


def test_a_chip_opens_its_notes_without_a_script(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    text = html.render([check(200_000)])
    page.write_text(text[: text.rindex("<script>")] + "</body></html>", encoding="utf-8")
    size(browser, SCREEN[0])
    visit(browser, page)
    for chip in browser.find_elements("css selector", ".chip"):
        notes = chip.find_element("css selector", ".cautions")
        assert not notes.is_displayed()
        chip.find_element("css selector", "summary").click()
        assert notes.is_displayed() and len(notes.text) > 20
