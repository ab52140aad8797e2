"""The studies' figures drawn of our samples: which cells are in them, and on which axes."""

import pytest
from msgspec.structs import replace

from charts.packed import unpack
from howlate.document.html import render
from howlate.document.pictures import figures_of
from howlate.figures.figure import Figure
from howlate.model.loaded import RunContent
from howlate.published.as_published import published_figures
from howlate.published.load import find_reference
from howlate.published.reference import PublishedTable
from howlate.words.say import text_of
from made_cells import made_cell
from made_sides import Made, Points, at, lab_run

KERNELS = ("6.1[preempt=none]", "6.1-rt")


def table_of(study: str, name: str) -> PublishedTable:
    table = find_reference(study).table(name)
    assert table is not None
    return table


def with_bins(content: RunContent, column: str = "", other: str = "") -> RunContent:
    """Samples for each cell; of tests with two columns the second's are the same."""
    cells = []
    for number, cell in enumerate(content.cells):
        summary, bins, _ = made_cell("cpu:50", 1 + number, 400, 20)
        its = summary.columns["latency_ns"]
        columns = {column or "latency_ns": its, **({other: its} if other else {})}
        if column:
            further = bins.others[:0]
            from howlate.model.bins import ColumnBins

            more = (ColumnBins(other, bins.histogram, bins.scatter, bins.blocks),) if other else further
            bins = replace(bins, column=column, others=more)
        cells.append(replace(cell, bins=bins, summary=replace(cell.summary, columns=columns)))
    return replace(content, cells=tuple(cells))


def of_study(study: str, points: Points, test: str = "cyclic", **bins: str) -> RunContent:
    content = lab_run(dict.fromkeys(KERNELS, points))
    cells = tuple(replace(c, summary=replace(c.summary, test=test)) for c in content.cells)
    run = replace(content.run, study=replace(content.run.study, reference=study))
    return with_bins(replace(content, run=run, cells=cells), **bins)


def figures(content: RunContent) -> dict[str, Figure]:
    found = [drawn.figure for drawn in published_figures([content]) if isinstance(drawn.figure, Figure)]
    return {figure.name: figure for figure in found}


def test_toshiba_s_histograms_stand_on_the_axes_of_the_slide() -> None:
    """0 to 1000 us; counts to the number of samples, as the slide's 1,000,000 of 1,000,000; two in a row."""
    table = table_of("toshiba-2010", "half-300us-histograms")
    points = {
        at(load=table.where["load"][0], period="300us"): [Made()],
        at(load="none", period="1ms"): [Made()],
    }
    found = figures(of_study("toshiba-2010", points))
    assert list(found) == ["published-half-300us-histograms"]
    figure = found["published-half-300us-histograms"]
    assert [text_of(panel.label) for panel in figure.panels] == [
        "2.6.26lenny (user mode): 6.1[preempt=none]",
        "2.6.26.8RT (user mode): 6.1-rt",
    ]
    assert figure.columns == 2
    for panel in figure.panels:
        assert (panel.picture.x.low, panel.picture.x.high, panel.picture.x.log) == (0, 1_000_000, False)
        assert panel.picture.y_ticks[0][1] == "0" and panel.picture.y_ticks[-1] == (1.0, "400")
        assert sum(unpack(panel.data["series"][0]["values"])) == 400
    assert "ends at 1\u202f000\u202f000, for 1\u202f000\u202f000 samples" in text_of(figure.reading)
    assert '"2.6.27Xenomai (kernel mode)"' in text_of(figure.reading)
    assert '"2.6.26preemptive (user mode)"' in text_of(figure.reading)


def test_xenomai_s_axis_is_its_own() -> None:
    """0 to 8 and 0 to 4.5 us: an axis that names a row is for that row alone."""
    for name, end in (("high-300us-histograms", 8), ("half-300us-histograms", 4.5)):
        axes = {axis.rows: axis.end for axis in table_of("toshiba-2010", name).axes if axis.of == "latency"}
        assert axes == {(): 1000, ("2.6.27Xenomai",): end}


def test_toshiba_mem_has_a_grid_of_kernels_and_loads() -> None:
    points = {at(load=load, period="500us"): [Made()] for load in ("none", "cpu:50", "cpu:100")}
    found = figures(of_study("toshiba-mem-2010", points))
    figure = found["published-cpu-500us-histograms"]
    assert figure.columns == 3
    assert [text_of(panel.label) for panel in figure.panels] == [
        f"2.6.31.12-RT · {share}: 6.1-rt" for share in ("0%", "50%", "100%")
    ]


def sh7780() -> RunContent:
    points: Points = {
        at(load=f"hackbench:{n},loops=5", period="1ms", part="latency"): [
            Made(maximum=190 + 2 * n, run_ms=10 * n, column="irq_latency_ns")
        ]
        for n in (1, 10, 20, 40)
    }
    points = {**points, at(load="hackbench:30", period="10ms", part="course"): [Made()]}
    return of_study("sh7780-2008", points, "irq", column="irq_latency_ns", other="wake_latency_ns")


def test_sh7780_has_its_figures_2_to_8_on_linear_axes() -> None:
    found = figures(sh7780())
    assert list(found) == [f"published-figure-{n}" for n in range(2, 9)]
    for figure in found.values():
        assert figure.panels[0].picture.y_ticks[0] == (0.0, "0")
    assert found["published-figure-3"].panels[0].picture.x.high == 20
    lines = [series["name"] for series in found["published-figure-5"].panels[0].data["series"]]
    process, handler = lines
    assert "measuring process: 6.1-rt" in process and "interrupt handler: 6.1-rt" in handler
    assert len(found["published-figure-4"].panels[0].data["series"]) == 4


def test_figures_6_to_8_have_handler_and_process_in_one_picture() -> None:
    found = figures(sh7780())
    for number, kernel in ((6, "without"), (7, "without"), (8, "with")):
        side = KERNELS[kernel == "with"]
        figure = found[f"published-figure-{number}"]
        process, handler = (text_of(key.text) for key in figure.keys)
        assert process.startswith(kernel) and process.endswith(f"process: {side}")
        assert handler.startswith(kernel) and handler.endswith(f"handler: {side}")
        assert figure.panels[0].picture.marks.count("<path") == 2
    assert found["published-figure-7"].panels[0].picture.y_ticks[-1] == (1.0, "300\u202fµs")
    assert "ends at 300" in text_of(found["published-figure-7"].reading)
    assert found["published-figure-6"].panels[0].picture.y_ticks[-1][1] != "300\u202fµs"


def test_page_and_pictures_have_them_where_they_are_asked_for() -> None:
    content = sh7780()
    assert 'id="published-figure-7"' in render([content], published=True)
    assert 'id="published-figure-7"' not in render([content])
    assert "published-figure-7" in dict(figures_of([content], published=True))
    assert "published-figure-7" not in dict(figures_of([content]))


def test_a_study_without_a_document_has_none() -> None:
    content = sh7780()
    run = replace(content.run, study=replace(content.run.study, reference=""))
    assert list(published_figures([replace(content, run=run)])) == []
    assert list(published_figures([replace(content, cells=())])) == []


@pytest.mark.parametrize("study", ["toshiba-2010", "toshiba-mem-2010", "sh7780-2008"])
def test_every_axis_that_the_documents_tell_of_is_one_of_our_charts(study: str) -> None:
    axes = [axis for table in find_reference(study).tables for axis in table.axes]
    assert axes and all(axis.of for axis in axes)
