"""The page: small, whole, well-formed, escaped, and true to the summaries."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace

from howlate.document import html
from howlate.document.cautions import AS_PUBLISHED, MISSING, NOT_RECORDED, NOT_YET, OF_ROWS
from howlate.document.coarser import coarser
from howlate.document.report_input import JOINED, NO_CELL
from howlate.document.results import NO_ANSWER, NO_VALUE, NOT_LOADED, answer
from howlate.errors import UsageError
from howlate.model.bins import CellBins
from howlate.model.summary import WATCHED, CellSummary
from howlate.statistics.statistics import STATISTICS
from howlate.words.say import say, text_of
from howlate.words.statement import Caption, Statement
from made_cells import invalid, made_cell
from made_runs import FACTS, FINDINGS, HEADER, five_cells, made_run

VOID = {"meta", "link", "br", "rect", "path", "line", "circle", "input", "img", "hr"}
HOSTILE = "\"><script>alert('x')</script><img src=x onerror=alert(1)>&amp;</title>"

JOINED_BLOCKS = [say(JOINED(joined=joined)) for joined in (2, 4, 8, 16)]


class Page(HTMLParser):
    """Keeps the elements and their text; fails on what is not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        assert len(dict(attrs)) == len(attrs), f"an attribute of <{tag}> stands twice"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open and self.open[-1] == tag, f"</{tag}> inside {self.open[-3:]}"
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def words(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.text))


def table_of(page: str) -> dict[str, dict[str, tuple[str, str]]]:
    """Cell id -> statistic -> (exact value, as written)."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for row in re.findall(r'<tr class="[^"]*" data-cell="([^"]*)">(.*?)</tr>', page):
        found[row[0]] = {
            name: (value, text)
            for name, value, text in re.findall(
                r'data-of="([^"]*)"><data value="([^"]*)">([^<]*)</data>', row[1]
            )
        }
    return found


@pytest.fixture(scope="module")
def page() -> str:
    return html.render([made_run(five_cells())])


def test_the_page_is_well_formed_and_says_its_question(page: str) -> None:
    parsed = Page(page)
    assert made_run(five_cells()).run.study.question in parsed.words
    idents = [a["id"] for _, a in parsed.elements if "id" in a]
    assert len(idents) == len(set(idents))


def test_the_page_asks_for_nothing_outside_itself(page: str) -> None:
    elements = Page(page).elements
    places = {f"#{attributes['id']}" for _, attributes in elements if "id" in attributes}
    for tag, attributes in elements:
        for name in ("src", "href", "action", "data", "poster", "srcset", "xlink:href"):
            asked = attributes.get(name)
            pictured = tag == "image" and str(asked).startswith("data:image/png;base64,")
            documented = tag == "a" and "source" in str(attributes.get("class")).split()  # by a click
            known = asked in (None, "data:,") or asked in places
            assert known or pictured or documented, (tag, attributes)
    assert "@import" not in page and not re.search(r"url\(", page)
    assert "default-src 'none'" in page


def test_every_number_in_the_table_is_the_summarys(page: str) -> None:
    cells = [summary for summary, _ in five_cells()]
    table = table_of(page)
    assert list(table) == [summary.id for summary in cells]
    for summary in cells:
        row = table[summary.id]
        column = summary.columns["latency_ns"]
        for name, value in ((s.name, s.of(column)) for s in STATISTICS if s.heading):
            if value is None:
                assert name not in row
                continue
            exact, text = row.pop(name)
            assert float(exact) == value
            written = float(text.replace("\u202f", ""))
            decimals = len(text.partition(".")[2])
            assert written == pytest.approx(value / 1000, abs=0.5 * 10**-decimals + 1e-9)
        assert int(row.pop("period_exceeded")[0]) == column.period_exceeded
        assert int(row.pop("overruns")[0]) == summary.accounting.overruns
        assert not row


def many_cells(count: int) -> list[tuple[CellSummary, CellBins]]:
    """Cells of 60,000 samples with heavy tails; eight different ones, again and again."""
    made = [made_cell("hackbench:10", seed, 60_000)[:2] for seed in range(8)]
    return [
        (
            replace(made[i % 8][0], id=f"cell-{i}", labels=made[i % 8][0].labels | {"kernel": f"6.{i}"}),
            made[i % 8][1],
        )
        for i in range(count)
    ]


def test_forty_cells_of_a_thousand_blocks_stay_below_two_megabytes() -> None:
    cells = many_cells(40)
    page = html.render([made_run(cells)])
    assert len(page.encode()) < 2_000_000
    assert not any(said in Page(page).words for said in JOINED_BLOCKS)
    assert len(table_of(page)) == 40


def test_a_page_without_room_draws_coarser_and_keeps_the_maxima(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = many_cells(56)
    room = 600_000
    monkeypatch.setattr(html, "LARGEST", room)
    page = html.render([made_run(cells)])
    assert len(page.encode()) < room
    assert any(said in Page(page).words for said in JOINED_BLOCKS)
    for summary, bins in cells:
        coarse = coarser(bins, 4)
        assert coarse is not None
        assert max(coarse.blocks.max_ns) == summary.columns["latency_ns"].max
        assert sum(coarse.blocks.counts) == sum(bins.blocks.counts)


@pytest.mark.parametrize("count", [120, pytest.param(1100, marks=pytest.mark.sweep)])
def test_no_number_of_cells_makes_a_page_too_large_and_the_latest_are_on_it(count: int) -> None:
    cells = [
        (invalid(summary, f"a check of cell {i} failed.") if i % 3 == 0 else summary, bins)
        for i, (summary, bins) in enumerate(many_cells(count))
    ]
    page = html.render([made_run(cells)])
    assert len(page.encode()) < 2_000_000
    assert f" of {count} cells " in page
    rows = table_of(page)
    assert len(rows) == min(
        count, int(match[1]) if (match := re.search(r"hold the (\d+) of ", page)) else count
    )
    latest = max(c.columns["latency_ns"].max or 0 for c, _ in cells)
    assert any(float(row["max"][0]) == latest for row in rows.values())


def test_hostile_texts_stay_texts() -> None:
    summary, bins, _ = made_cell("none", labels={"load": HOSTILE})
    summary = replace(invalid(summary, HOSTILE), clocksource={"before": HOSTILE, "after": HOSTILE})
    hostile = {"check": "x", "level": "late", "weight": 1} | dict.fromkeys(
        ("title", "found", "why", "change"), HOSTILE
    )
    run = made_run(
        [(summary, bins)],
        f"r{HOSTILE}",
        findings=(hostile,),
        versions={"howlate": HOSTILE},
        warnings=(Statement.verbatim(HOSTILE),),
    )
    facts = {"facts": 1, "values": {"kernel.cmdline": HOSTILE, "kernel.release": HOSTILE}, "missing": {}}
    study = replace(run.run.study, question=HOSTILE)
    cells = [
        replace(
            run.cells[0], header={"parameters": {HOSTILE: HOSTILE}, "in_force": {HOSTILE: {HOSTILE: HOSTILE}}}
        )
    ]
    page = html.render(
        [
            replace(
                run,
                run=replace(run.run, facts=facts, study=study),
                cells=cells,
                failed={HOSTILE: {"message": HOSTILE}},
            )
        ]
    )
    parsed = Page(page)
    assert not parsed.all("img")
    assert len(parsed.all("script")) == page.count('type="application/json"') + 1
    assert not any(name.startswith("on") for _, attributes in parsed.elements for name in attributes)
    assert HOSTILE in parsed.words


def test_the_short_answer_leaves_invalid_cells_out_and_says_why() -> None:
    cells = five_cells()
    worst = max(range(5), key=lambda i: cells[i][0].columns["latency_ns"].max or 0)
    why = "the clock source changed from tsc to hpet"
    cells[worst] = (invalid(cells[worst][0], why), cells[worst][1])
    parsed = Page(html.render([made_run(cells)]))
    assert f"{cells[worst][0].labels['load']} (invalid): {why}." in parsed.words
    run = made_run(cells)
    largest = answer(run.cells, [c.summary.labels["load"] for c in run.cells])
    valid = [summary for summary, _ in cells if summary.valid]
    assert largest.values["largest_ns"] == max(each.columns["latency_ns"].max or 0 for each in valid)
    assert cells[worst][0].labels["load"] not in text_of(largest.values["row"])
    assert largest.values["span"] == "48 s"


def test_a_headline_about_gaps_names_the_time_that_was_watched() -> None:
    """Of 12 s a CPU was watched for 6 s: a gap in the rest was not looked for."""
    summary, bins, _ = made_cell("none")
    run = made_run([(replace(summary, outcomes={WATCHED: 6 * 10**9}), bins)])
    assert answer(run.cells, ["none"]).values["span"] == "6 s"
    page = html.render([run])
    assert page.count("6\u202fs per cell") == 2 and "12\u202fs per cell" not in page


def test_the_reasons_of_an_invalid_cell_are_one_sentence() -> None:
    """No small letter follows a full stop."""
    summary, bins, _ = made_cell("none")
    two = replace(invalid(summary, "not loaded: gone.", "another task."), failed_checks=2)
    page = html.render([made_run([(two, bins)])])
    assert page.count("loaded: gone; another task") == 1
    assert "gone. another" not in page


def test_valid_cells_that_answer_nothing_say_why() -> None:
    """One that watched and found no gap has no value; one whose load was starved as the study expects has values, but
    none under load."""
    summary, bins, _ = made_cell("none")
    column = summary.columns["latency_ns"]
    empty = replace(column, count=0, min=None, max=None, mean=None)
    found_none = replace(summary, columns={**summary.columns, "latency_ns": empty})
    run = made_run([(found_none, bins)])
    assert answer(run.cells, ["none"]) == NO_ANSWER(why=NO_VALUE)
    run = made_run([(replace(summary, starved=True), bins)])
    assert answer(run.cells, ["none"]) == NO_ANSWER(why=NOT_LOADED)


def test_no_number_is_called_a_bound_or_a_worst_case(page: str) -> None:
    words = Page(page).words.lower()
    for phrase in ("worst case", "worst-case", "guarantee", "upper bound", "at most"):
        assert phrase not in words
    assert "largest" in words and "seen" in words


def test_dropped_samples_mark_a_row_incomplete() -> None:
    summary, bins, _ = made_cell("none")
    account = replace(summary.accounting, releases=summary.accounting.releases + 7, dropped=7)
    parsed = Page(html.render([made_run([(replace(summary, accounting=account), bins)])]))
    not_recorded = NOT_RECORDED(count=7, things=Caption("wake-ups"))
    assert say(OF_ROWS(rows=("none",), what=not_recorded)) in parsed.words
    assert {"class": "bad"} in parsed.all("span")


def test_the_published_loop_is_named_as_defective() -> None:
    summary, bins, _ = made_cell("none")
    account = replace(summary.accounting, late_policy="as-published")
    page = html.render([made_run([(replace(summary, accounting=account), bins)])])
    assert say(AS_PUBLISHED()) in Page(page).words


def test_findings_say_what_why_and_how_to_change(page: str) -> None:
    words = Page(page).words
    for finding in FINDINGS:
        for part in ("title", "found", "why", "change"):
            assert str(finding[part]) in words
    assert words.index(FINDINGS[0]["title"]) < words.index(FINDINGS[1]["title"])


def test_parameters_in_force_are_there(page: str) -> None:
    words = Page(page).words
    for text in ("clock_nanosleep", "fifo:80", "42", "tsc, tsc", "on a CPU of its own", "isolcpus=1", "HZ"):
        assert text in words
    assert "This is a virtual machine" in words
    assert HEADER["in_force"]["recorder"]["record"] in words


def test_runs_of_one_study_are_joined_and_told_apart() -> None:
    first, second = made_run(five_cells(), "run-a"), made_run(five_cells(), "run-b")
    page = html.render([first, second])
    parsed = Page(page)
    assert page.count("data-cell=") == 10
    assert "run-a · none" in parsed.words and "run-b · hackbench:10" in parsed.words


def test_runs_of_different_studies_are_joined_under_both_names() -> None:
    first, second = made_run(five_cells()), made_run(five_cells(), "other")
    other = replace(second, run=replace(second.run, study=replace(second.run.study, id="timers")))
    page = html.render([first, other])
    assert ": check, timers" in page[: page.index("</header>")]
    assert page.count("data-cell=") == 10
    with pytest.raises(UsageError):
        html.render([])


def test_a_run_without_a_whole_cell_has_a_page() -> None:
    empty = replace(made_run(five_cells()), cells=())
    words = Page(html.render([empty])).words
    assert say(NO_CELL()) in words and say(NOT_YET(count=5)) in words


def test_a_cell_of_one_sample_has_a_page() -> None:
    summary, bins, _ = made_cell("none", n=1)
    Page(html.render([made_run([(summary, bins)])]))


def test_a_cell_without_samples_has_a_page() -> None:
    summary, bins, _ = made_cell("none", n=10)
    column = replace(
        summary.columns["latency_ns"],
        count=0,
        min=None,
        mean=None,
        max=None,
        stddev=None,
        quantiles={},
        max_at_s=None,
    )
    nothing = replace(
        bins, scatter=None, histogram=type(bins.histogram)((), (), ()), tail=type(bins.tail)((), ())
    )
    nothing = replace(nothing, blocks=type(bins.blocks)((), 0.0, (), (), (), ()), loads=())
    Page(html.render([made_run([(replace(summary, columns={"latency_ns": column}), nothing)])]))


def test_a_failed_cell_is_named_with_its_reason() -> None:
    failed = {"disk-0004": {"message": "the probe ended with code 4", "remedy": "run it again"}}
    run = replace(made_run(five_cells()), failed=failed)
    missing = MISSING(cells=("disk-0004",), count=1, why="the probe ended with code 4. Run it again.")
    assert say(missing) in Page(html.render([run])).words


def test_a_report_is_made_of_a_run_folder(tmp_path: Path) -> None:
    from howlate.store.files import write_json
    from howlate.store.run_folder import BINS, CELL, RunFolder, write_summary

    made = made_run(five_cells())
    folder = RunFolder.create(tmp_path / "run", made.run)
    for cell in made.cells:
        part = folder.start_cell(cell.summary.id)
        assert cell.bins is not None
        write_json(part / BINS, cell.bins.to_json())
        write_json(part / CELL, {"header": dict(cell.header), "trailer": dict(cell.trailer)})
        write_summary(part, cell.summary)
        folder.finish_cell(cell.summary.id)
    out = html.write_report(folder.path, tmp_path / "report.html")
    assert table_of(out.read_text(encoding="utf-8")) == table_of(html.render([made]))


def test_two_kernels_of_one_machine_are_one_machine() -> None:
    values = {**FACTS["values"], "kernel.release": "6.1.0-18-amd64", "kernel.version": "#1 SMP Debian"}
    runs = [made_run(five_cells(200)), made_run(five_cells(200), "b", facts={**FACTS, "values": values})]
    head = html.render(runs).partition("</header>")[0]
    assert "6.1.0-18-amd64" in head and "6.1.0-18-rt-amd64" in head


def test_a_report_of_two_machines_names_both() -> None:
    values = {**FACTS["values"], "cpu.model": "Another CPU"}
    runs = [made_run(five_cells()), made_run(five_cells(), "other", facts={**FACTS, "values": values})]
    head = html.render(runs).partition("</header>")[0]
    assert "Another CPU" in head and str(FACTS["values"]["cpu.model"]) in head


def test_the_page_begins_with_the_answer_then_the_rows_then_the_notes() -> None:
    page = html.render([made_run(five_cells(1_000), warnings=(Statement.verbatim("measured at night"),))])
    order = (
        '<header class="measured">',
        'id="overview"',
        'class="chips"',
        'class="cautions"',
        'id="histogram"',
    )
    places = [page.index(text) for text in order]
    assert places == sorted(places)
    assert "measured at night" in page[places[2] : places[4]]


def test_every_point_at_once_is_drawn_of_a_matrix_alone() -> None:
    """One kernel and one axis is a list, which the table has; two axes are a matrix of their values."""
    one_axis = html.render([made_run(five_cells(500))])
    assert 'data-chart="matrix"' not in one_axis.replace('[data-chart="matrix"]', "")
    cells = [
        made_cell(load, seed, 500, labels={"timer": timer})[:2]
        for seed, (load, timer) in enumerate(
            (load, timer) for load in ("none", "cpu:50") for timer in ("futex", "spin", "ppoll")
        )
    ]
    page = html.render([made_run(cells)])
    chart = page[page.index('<section class="chart" data-chart="matrix"') :].partition("</section>")[0]
    assert '"names":["none","cpu:50"]' in chart
    assert all(timer in chart for timer in ("futex", "spin", "ppoll"))


def test_the_largest_is_the_first_number_of_a_row() -> None:
    page = html.render([made_run(five_cells(1_000))])
    heads = re.findall(
        r"<th scope=\"col\"[^>]*>(.*?)</th>", page[page.index('data-sheet="table-latency_ns"') :]
    )
    assert [re.sub("<[^>]*>", "", head) for head in heads[:3]] == ["load", "max", "median"]
