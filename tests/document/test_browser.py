"""The page in a real browser: hover, zoom, widths, light and dark, print; and nothing leaves the page."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from browsing import NEEDS_BROWSER, drag, mouse, printed_pages, shown, size, started, ticks, tip, visit
from howlate.document import html
from howlate.model.bins import CellBins
from howlate.model.loaded import RunContent
from howlate.statistics.bins.histogram import histogram
from howlate.statistics.describe import ValueCounts
from made_cells import blocks_of, column_of, scatter_of, tail_of
from made_points import SWEEP, made_points, virtual_run
from made_runs import five_cells, made_run
from made_trace import late_samples

pytestmark = NEEDS_BROWSER
CELLS = five_cells()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with started(tmp_path_factory.mktemp("browser")) as driver:
        yield driver


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(html.render([made_run(CELLS)]), encoding="utf-8")
    return file


@pytest.fixture
def opened(browser: Any, page: Path) -> Any:
    size(browser, 1400)
    visit(browser, page)
    return browser


def exact(ns: int) -> str:
    for unit, scale in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if ns >= scale:
            return f"{ns / scale:.15g} {unit}"
    return f"{ns} ns"


def test_nothing_is_asked_for_and_nothing_is_complained_of(opened: Any, page: Path) -> None:
    urls = []
    for entry in opened.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] != "Network.requestWillBeSent":
            continue
        if message["params"]["documentURL"] == page.as_uri():  # not the browser's own first page
            urls.append(message["params"]["request"]["url"])
    assert any(url.startswith("file:") and url.endswith("report.html") for url in urls)
    assert all(url.startswith(("file:", "data:")) for url in urls), urls
    assert sum(not url.startswith("data:") for url in urls) == 1
    assert opened.get_log("browser") == []


def test_the_scripts_ticks_are_those_of_the_page_as_written(browser: Any, tmp_path: Path) -> None:
    """Of one cell, whose plots are as wide as the page."""
    size(browser, 1400)
    page, bare = tmp_path / "page.html", tmp_path / "bare.html"
    text = html.render([made_run(CELLS[:1])])
    page.write_text(text, encoding="utf-8")
    begin = text.rindex("<script>")
    bare.write_text(text[:begin] + "</body></html>", encoding="utf-8")
    idents = [f"{name}-0" for name in ("overview", "histogram", "course", "tail", "achieved")]
    visit(browser, bare)
    written = {ident: ticks(browser, ident) for ident in idents}
    visit(browser, page)
    unfold(browser)
    assert {ident: ticks(browser, ident) for ident in idents} == written
    assert all(len(texts) >= 3 for texts in written.values())


def unfold(browser: Any) -> None:
    """Open all that is folded; what is drawn in it is told of that when the event comes."""
    browser.execute_async_script(
        "document.querySelectorAll('details').forEach(e => { e.open = true; }); setTimeout(arguments[0], 0)"
    )


def early_run() -> RunContent:
    """A kernel that wakes its task before the release, and is late too: values of both signs."""
    cells = []
    for summary, _bins in CELLS[:1]:
        rng = np.random.default_rng(2)
        values = np.sort(rng.normal(-900, 90, 3_000).astype(np.int64))
        values[-40:] += rng.pareto(1.0, 40).astype(np.int64) * 1_800
        rng.shuffle(values)
        bins = CellBins(
            "latency_ns",
            histogram(ValueCounts.of(values)),
            blocks_of(values, 0.001, 300),
            tail_of(values),
            (),
            scatter_of(values),
        )
        columns = {"latency_ns": column_of(values, 1_000_000, 0.001)}
        cells.append((replace(summary, columns=columns), bins))
    return made_run(cells)


def test_the_scripts_axis_around_zero_is_the_one_as_written(browser: Any, tmp_path: Path) -> None:
    """Ticks, bars and the places of values, before and after a zoom back."""
    size(browser, 1400)
    page, bare = tmp_path / "page.html", tmp_path / "bare.html"
    text = html.render([early_run()])
    page.write_text(text, encoding="utf-8")
    bare.write_text(text[: text.rindex("<script>")] + "</body></html>", encoding="utf-8")
    idents = [f"{name}-0" for name in ("overview", "histogram", "tail")]
    visit(browser, bare)
    written = {ident: ticks(browser, ident) for ident in idents}
    bars = browser.execute_script("return document.querySelector('#histogram-0 .bars').getBBox().width")
    visit(browser, page)
    assert {ident: ticks(browser, ident) for ident in idents} == written
    assert all("0" in texts and any(t.startswith("-") for t in texts) for texts in written.values())
    zoom, back = "+", "0"
    plot = browser.find_element("css selector", "#histogram-0")
    plot.send_keys(zoom)
    low, high = shown(browser, "histogram-0")
    assert low < high
    plot.send_keys(back)
    drawn = browser.execute_script("return document.querySelector('#histogram-0 .bars').getBBox().width")
    assert drawn == pytest.approx(bars, rel=0.01)
    assert browser.get_log("browser") == []


def test_hover_reads_the_exact_numbers_of_a_block(opened: Any) -> None:
    summary, bins = CELLS[4]
    blocks = bins.blocks
    for block in (0, 137, 500, 999):
        mouse(opened, "course-4", "mouseMoved", (block + 0.5) / 1000)
        said = tip(opened)
        assert said is not None
        assert f"largest {exact(blocks.max_ns[block])}" in said
        assert f"p99 {exact(blocks.p99_ns[block])}" in said
        assert f"median {exact(blocks.median_ns[block])}" in said
        assert f"wake-ups {blocks.counts[block]}" in said
    where = blocks.max_ns.index(summary.columns["latency_ns"].max or 0)
    mouse(opened, "course-4", "mouseMoved", (where + 0.5) / 1000)
    assert f"largest {exact(max(blocks.max_ns))}" in (tip(opened) or "")
    opened.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 2, "y": 2})
    assert tip(opened) is None


def test_hover_on_the_tail_reads_the_maximum_at_its_end(opened: Any) -> None:
    summary, _ = max(CELLS, key=lambda c: c[0].columns["latency_ns"].max or 0)
    mouse(opened, "tail-0", "mouseMoved", 0.99, 0.99)
    said = tip(opened) or ""
    assert summary.labels["load"] in said
    assert exact(summary.columns["latency_ns"].max or 0) in said
    assert "the largest seen" in said


def test_the_histograms_bars_add_up(opened: Any) -> None:
    opened.execute_script("document.getElementById('histogram-1').focus()")
    total = 0
    before = None
    opened.execute_script(
        "press = k => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: k}))"
    )
    for step in range(2000):
        opened.execute_script("press(arguments[0])", "ArrowRight" if step else "Home")
        said = tip(opened)
        assert said is not None
        if said == before:
            break
        total += int(said.rpartition("wake-ups ")[2].replace(" ", ""))
        before = said
    assert total == sum(CELLS[1][1].histogram.counts)


def test_zoom_shows_the_dragged_range_with_labels_of_that_range(opened: Any) -> None:
    before = ticks(opened, "course-2")
    assert shown(opened, "course-2") == pytest.approx((0, 12))
    drag(opened, "course-2", 0.25, 0.5)
    low, high = shown(opened, "course-2")
    assert (low, high) == pytest.approx((3, 6), abs=0.03)
    after = ticks(opened, "course-2")
    assert after != before
    assert all(low <= float(text.removesuffix(" s")) <= high for text in after)
    assert shown(opened, "achieved-2") == pytest.approx((low, high)), "the load of the same cell follows"
    assert shown(opened, "course-1") == pytest.approx((0, 12)), "another cell does not"
    mouse(opened, "course-2", "mouseMoved", 0.5)
    said = tip(opened) or ""
    block = int((low + high) / 2 / 0.012)
    assert f"largest {exact(CELLS[2][1].blocks.max_ns[block])}" in said
    for _ in range(2):
        mouse(opened, "course-2", "mousePressed", 0.5, clicks=2)
        mouse(opened, "course-2", "mouseReleased", 0.5, clicks=2)
    assert shown(opened, "course-2") == pytest.approx((0, 12))
    assert ticks(opened, "course-2") == before


def test_linked_plots_show_the_same_times_where_their_axes_differ(browser: Any, tmp_path: Path) -> None:
    """The load was told of for the first half alone."""
    halves = []
    for summary, bins in CELLS:
        loads = tuple(
            replace(c, time_s=c.time_s[: len(c.time_s) // 2], share=c.share[: len(c.share) // 2])
            for c in bins.loads
        )
        halves.append((summary, replace(bins, loads=loads)))
    (tmp_path / "halves.html").write_text(html.render([made_run(halves)]), encoding="utf-8")
    size(browser, 1400)
    visit(browser, (tmp_path / "halves.html"))
    whole = shown(browser, "achieved-2")
    assert whole[1] < 7
    drag(browser, "course-2", 0.1, 0.25)
    assert shown(browser, "achieved-2") == pytest.approx(shown(browser, "course-2"), abs=0.02)
    drag(browser, "course-2", 0.1, 0.2)
    browser.execute_script("document.querySelector('#achieved-2 .reset').click()")
    assert shown(browser, "achieved-2") == pytest.approx(whole)
    assert shown(browser, "course-2") == pytest.approx((0, 12))


def test_zooming_a_histogram_zooms_all_of_them_and_shows_finer_bins(opened: Any) -> None:
    count = "return document.querySelector('#histogram-3 .bars').getAttribute('d').split('V').length"
    before, low_high = opened.execute_script(count), shown(opened, "histogram-0")
    drag(opened, "histogram-0", 0.1, 0.2)
    expected = tuple(low_high[0] * (low_high[1] / low_high[0]) ** share for share in (0.1, 0.2))
    for ident in ("histogram-0", "histogram-3", "tail-0"):
        assert shown(opened, ident) == pytest.approx(expected, rel=0.05)
    assert opened.execute_script(count) > before
    opened.execute_script("document.querySelector('#histogram-3 .reset').click()")
    assert shown(opened, "histogram-0") == pytest.approx(low_high)
    assert opened.execute_script(count) == before


def test_the_keyboard_zooms_and_resets(opened: Any) -> None:
    press = (
        "const e = document.getElementById('course-0'); e.focus();"
        "e.dispatchEvent(new KeyboardEvent('keydown', {key: arguments[0]}))"
    )
    opened.execute_script(press, "+")
    assert shown(opened, "course-0") == pytest.approx((3, 9))
    opened.execute_script(press, "0")
    assert shown(opened, "course-0") == pytest.approx((0, 12))


def test_every_chart_has_a_name_for_those_who_cannot_see_it(opened: Any) -> None:
    nameless = opened.execute_script(
        "return Array.from(document.querySelectorAll('svg.frame')).filter(s => "
        "!s.getAttribute('aria-labelledby').split(' ')"
        ".every(i => document.getElementById(i) && document.getElementById(i).textContent.length > 3)).length"
    )
    assert nameless == 0


@pytest.mark.parametrize("width", [1400, 800, 390, 320])
@pytest.mark.parametrize("dark", [False, True])
def test_no_width_makes_the_page_scroll_sideways(browser: Any, page: Path, width: int, dark: bool) -> None:
    size(browser, width, dark)
    visit(browser, page)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    rows = browser.execute_script("return document.querySelectorAll('table.summary tbody tr').length")
    assert rows == len(CELLS)


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_lines_stand_out_from_the_paper(browser: Any, page: Path, dark: bool) -> None:
    size(browser, 1400, dark)
    visit(browser, page)
    style = (
        "const s = getComputedStyle(document.documentElement);"
        "return arguments[0].map(n => s.getPropertyValue('--' + n))"
    )
    names = ["paper", "ink", "soft", "max", "p99", "p999", "steal", *(f"c{i}" for i in range(1, 9))]
    paper, *others = (luminance(colour.strip()) for colour in browser.execute_script(style, names))
    assert (paper < 0.1) == dark
    contrast = {
        n: (max(paper, v) + 0.05) / (min(paper, v) + 0.05) for n, v in zip(names[1:], others, strict=True)
    }
    assert all(value >= (4.5 if name in ("ink", "soft") else 3) for name, value in contrast.items()), contrast


def luminance(colour: str) -> float:
    """WCAG's relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.fixture(scope="module")
def lab_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("lab") / "report.html"
    file.write_text(html.render([virtual_run(made_points(SWEEP), SWEEP)]), encoding="utf-8")
    return file


def test_paper_has_what_the_screen_has(browser: Any, page: Path) -> None:
    """What is folded stays so: who wants it on paper opens it first."""
    size(browser, 1400)
    visit(browser, page)
    folded = printed_pages(browser)
    unfold(browser)
    assert 1 <= folded < printed_pages(browser)


@pytest.mark.parametrize("width", [390, 1400])
def test_kernel_versions_keep_their_names_and_tell_their_spread(
    browser: Any, lab_page: Path, width: int
) -> None:
    from selenium.webdriver.common.keys import Keys

    size(browser, width)
    visit(browser, lab_page)
    assert ticks(browser, "versions-0") == ["5.10", "6.1", "6.12", "7.2"]
    plot = browser.find_element("css selector", "#versions-0")
    plot.send_keys(Keys.HOME)
    said = tip(browser)
    assert said is not None and "5.10" in said and " to " in said and "n = 4" in said
    drag(browser, "versions-0", 0.3, 0.7)
    assert ticks(browser, "versions-0") == ["6.1", "6.12"]
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


@pytest.fixture(scope="module")
def sides_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("sides") / "report.html"
    file.write_text(html.render([virtual_run(made_points(n=400))]), encoding="utf-8")
    return file


@pytest.mark.parametrize("width", [320, 1400])
def test_sides_stand_beside_each_other_and_are_read(browser: Any, sides_page: Path, width: int) -> None:
    from selenium.webdriver.common.keys import Keys

    size(browser, width)
    visit(browser, sides_page)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    rules = browser.execute_script(
        "return Array.from(document.querySelectorAll('#compare .said li'), e => e.dataset.rule)"
    )
    assert {"typical", "largest"} <= {rule.partition(".")[0] for rule in rules}
    lefts = browser.execute_script(
        "return Array.from(document.querySelectorAll('#multiples .panel'), e => e.getBoundingClientRect().left)"
    )
    assert len(set(lefts)) == (3 if width == 1400 else 1)
    browser.find_element("css selector", "#matrix-0").send_keys(Keys.HOME)
    assert " to " in (tip(browser) or "")
    drag(browser, "matrix-0", 0.1, 0.6)
    middles = browser.execute_script(
        "return Array.from(document.querySelectorAll('#matrix-0 text.mid'), e => getComputedStyle(e).textAnchor)"
    )
    assert middles and set(middles) == {"middle"}, "numbers stay in the middle of their fields"
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


def test_the_tail_of_data_points_counts_no_wake_ups(browser: Any, tmp_path: Path) -> None:
    summary, bins = CELLS[0]
    summary = replace(summary, columns={"cs1_ns": summary.columns["latency_ns"]})
    run = made_run([(summary, replace(bins, column="cs1_ns"))])
    (tmp_path / "points.html").write_text(html.render([run]), encoding="utf-8")
    size(browser, 1400)
    visit(browser, (tmp_path / "points.html"))
    mouse(browser, "tail-0", "mouseMoved", 0.99, 0.99)
    said = tip(browser) or ""
    assert "data points" in said and "wake-ups" not in said


LINK = (
    "const l = document.querySelector(arguments[0] + ' .notes a');"
    "const lens = document.querySelector(arguments[0] + ' .lens'); lens.scrollIntoView({block: 'center'});"
    "const a = l.getBoundingClientRect(), b = lens.getBoundingClientRect();"
    "return [l.getAttribute('href'), (a.left + a.width / 2 - b.left) / b.width,"
    " (a.top + a.height / 2 - b.top) / b.height]"
)


def follow(browser: Any, ident: str) -> str:
    """A click on the first link of a plot, through what lies above the picture; returns where it leads."""
    target, x, y = browser.execute_script(LINK, f"#{ident}")
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        mouse(browser, ident, kind, x, y, clicks=int(kind != "mouseMoved"))
    return str(target)


@pytest.fixture
def late_page(browser: Any, tmp_path: Path) -> Any:
    """A page with a bar and a point for each of six late samples."""
    run = made_run(CELLS)
    traced = replace(run, cells=(replace(run.cells[0], trace=late_samples(6)), *run.cells[1:]))
    (tmp_path / "late.html").write_text(html.render([traced]), encoding="utf-8")
    size(browser, 1400)
    visit(browser, (tmp_path / "late.html"))
    return browser


def test_a_late_sample_and_its_bar_lead_to_each_other(late_page: Any) -> None:
    for ident in ("course-0", "causes-0"):
        target = follow(late_page, ident)
        assert late_page.execute_script("return location.hash") == target
        assert late_page.execute_script("return document.querySelector(':target') !== null")


def test_a_jump_to_a_point_outside_of_the_zoomed_range_shows_all_again(late_page: Any) -> None:
    """Also a second jump there, which does not change the address, and the browser's way back."""
    from selenium.webdriver.support.wait import WebDriverWait

    visible = (
        "const b = document.querySelector(':target path').getBoundingClientRect();"
        "return b.width > 0 && b.top >= 0 && b.bottom <= innerHeight"
    )
    for _ in range(2):
        drag(late_page, "course-0", 0.5, 0.9)
        assert shown(late_page, "course-0")[0] > 5, "the samples are in the first second"
        follow(late_page, "causes-0")
        assert late_page.execute_script(visible)
        assert shown(late_page, "course-0") == pytest.approx((0, 12))
    late_page.execute_script("location.hash = 'head'")
    drag(late_page, "course-0", 0.5, 0.9)
    late_page.back()
    WebDriverWait(late_page, 30).until(lambda page: page.execute_script(visible))
