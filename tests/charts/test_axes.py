"""Axes that somebody asks for: values stand where they belong, and what lies outside is counted and said."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from charts.packed import unpack
from howlate.charts import all_charts
from howlate.charts.histogram import binned_on
from howlate.charts.scatter import cells_on, own_scale
from howlate.document.axes import parse_axes
from howlate.figures.bars import MARK, ClippedHistogram, width_on
from howlate.figures.figure import Figure, Subject
from howlate.figures.scale import AXES, AxisRange, Scale, with_range
from howlate.model.bins import Tail, TimeBlocks
from howlate.words.say import text_of
from made_cells import blocks_of, histogram_of, made_cell, scatter_of

US, MS = 1_000, 1_000_000
CHARTS = {chart.name: chart for chart in all_charts()}


def subject(values: list[int]) -> Subject:
    """A cell of these latencies."""
    summary, bins, _ = made_cell("none", 1, 100)
    held = np.array(values, np.int64)
    column = replace(summary.columns["latency_ns"], max=max(values), min=min(values), count=len(values))
    blocks = blocks_of(held, 0.001, min(10, len(values)))
    made = replace(
        bins,
        histogram=histogram_of(np.sort(held)),
        blocks=blocks,
        tail=Tail((), ()),
        scatter=scatter_of(held),
    )
    return Subject("made", replace(summary, columns={"latency_ns": column}), made)


def drawn(name: str, some: list[Subject], *texts: str) -> Figure:
    figure = CHARTS[name].figure(some, parse_axes(texts))
    assert isinstance(figure, Figure)
    return figure


def bars_of(marks: str, kind: str) -> list[tuple[float, float]]:
    """Left edge and height in pixels of each bar of a class."""
    path = re.search(rf'class="{kind}" d="([^"]*)"', marks)
    found = re.findall(r"M([\d.]+),(\d+)V(\d+)H", path[1] if path else "")
    return [(float(left), (int(foot) - int(top)) / 2) for left, foot, top in found]


def test_a_histogram_stands_on_the_axes_of_the_studies() -> None:
    """0 to 1000 us and 0 to 1,000,000, both linear: a bar of half a million is half as high, and a single sample, of
    which a millionth of the height would be nothing, is a mark."""
    values = [10 * US] * 500_000 + [500 * US] * 250_000 + [900 * US]
    figure = drawn("histogram", [subject(values)], "latency=0:1000us,linear", "counts=0:1000000,linear")
    panel = figure.panels[0]
    assert (panel.picture.x.low, panel.picture.x.high, panel.picture.x.log) == (0, MS, False)
    assert [text for _, text in panel.picture.y_ticks] == ["0", "500k", "1M"]
    tall, few = bars_of(panel.picture.marks, "bars"), bars_of(panel.picture.marks, "few")
    assert [left for left, _ in tall] == [pytest.approx(8, abs=4), pytest.approx(500, abs=4)]
    assert tall[0][1] == pytest.approx(panel.height / 2, abs=1)
    assert tall[1][1] == pytest.approx(panel.height / 4, abs=1)
    assert [height for _, height in few] == [MARK] and few[0][0] == pytest.approx(900, abs=4)
    counts = unpack(panel.data["series"][0]["values"])
    assert counts == [500_000, 250_000, 1], "the pointer tells the counts themselves"
    assert "too low to" in text_of(figure.reading) and "beyond" not in text_of(panel.aside)


def test_samples_outside_of_an_axis_are_counted_and_said() -> None:
    values = [10 * US] * 50 + [28 * MS, 29 * MS]
    panel = drawn("histogram", [subject(values)], "latency=0:1000us").panels[0]
    assert text_of(panel.aside) == "52 wake-ups; 2 beyond 1.00\u202fms, up to 29.0\u202fms"
    assert "beyond the axis" in text_of(panel.picture.notes[1].text)
    assert sum(unpack(panel.data["series"][0]["values"])) == 50
    below = drawn("histogram", [subject(values)], "latency=20us:").panels[0]
    assert "50 below 20.0\u202fµs" in text_of(below.aside)


def test_bars_that_go_on_above_the_axis_are_said() -> None:
    panel = drawn("histogram", [subject([10 * US] * 50 + [20 * US] * 7)], "counts=0:10").panels[0]
    assert text_of(panel.aside).endswith(" 10: 1, up to 50")
    assert max(height for _, height in bars_of(panel.picture.marks, "bars")) == panel.height


@given(
    st.lists(st.integers(0, 50 * MS), min_size=1, max_size=200),
    st.integers(0, MS),
    st.integers(1, 20 * MS),
    st.booleans(),
)
def test_no_sample_is_lost_to_an_axis(values: list[int], low: int, size: int, log: bool) -> None:
    histogram = histogram_of(np.sort(np.array(values, np.int64)))
    x = Scale(float(max(low, 1)) if log else float(low), float(low + size + 1), log, "ns")
    within = ClippedHistogram.of(histogram, x)
    assert sum(within.inside.counts) + within.below + within.beyond == len(values)
    assert sum(binned_on(histogram, x).counts) == sum(within.inside.counts)
    assert width_on(Scale(0.0, float(MS), False, "ns")) == 4 * US


def test_a_scatter_without_a_bend_has_sizes_where_they_belong() -> None:
    """The bent axis has 500 us and 1 ms hardly apart; on a linear one the height is in proportion."""
    values = [10 * US + i % 3 for i in range(1000)]
    values[500], values[700] = 500 * US, MS
    scatter = scatter_of(np.array(values, np.int64))
    assert scatter is not None and scatter.rows > scatter.linear
    y = own_scale([scatter], AxisRange(0.0, 1_000_000.0, False))
    cells, outside = cells_on(scatter, y, 100)
    assert outside == 0 and sum(cells.values()) == 1000
    assert {row for (column, row) in cells if column == 500 // scatter.per_column} == {1, 50}
    assert {row for (column, row) in cells if column == 700 // scatter.per_column} == {1, 99}
    figure = drawn("scatter", [subject(values)], "latency=0:600us")
    assert "1 outside of 0\u202fns to 600" in text_of(figure.panels[0].aside).replace(
        "of 0 to", "of 0\u202fns to"
    )
    assert "dashed" not in text_of(figure.reading) and "knee" not in figure.panels[0].picture.marks


def test_a_course_on_a_linear_axis_is_in_proportion() -> None:
    values = [100 * US] * 500 + [200 * US] * 499 + [2 * MS]
    panel = drawn("course", [subject(values)], "latency=0:400us,linear").panels[0]
    assert [place for place, _ in panel.picture.y_ticks][-1] == 1.0
    assert "values beyond 400\u202fµs: 1" in text_of(panel.aside)
    assert panel.picture.notes[0].y == 1.0
    later = drawn("course", [subject(values)], "time=0:0.5s".replace("0.5s", "500ms")).panels[0]
    assert later.picture.x.high == 0.5


def test_what_is_not_asked_for_is_as_the_chart_has_it() -> None:
    some = [subject([3 * US, 4 * US, 90 * US])]
    for chart in CHARTS.values():
        assert set(chart.axes) <= set(AXES)
    own, other = (CHARTS["histogram"].figure(some, axes) for axes in ({}, {"time": AxisRange(0, 1)}))
    assert own == other == CHARTS["histogram"].draw(some)


@pytest.mark.parametrize(
    ("axis", "low", "high", "log"),
    [
        (None, 10, 1000, True),
        (AxisRange(log=False), 0, 1000, False),
        (AxisRange(0, 500), 0, 500, False),  # the logarithm has no 0
        (AxisRange(5, None), 5, 1000, True),
        (AxisRange(5, 50, False), 5, 50, False),
    ],
)
def test_an_axis_is_what_was_asked_for_and_else_the_data_s(
    axis: AxisRange | None, low: float, high: float, log: bool
) -> None:
    found = with_range(Scale(10.0, 1000.0, True, "ns"), axis)
    assert (found.low, found.high, found.log) == (low, high, log)


def test_an_axis_of_latencies_can_begin_before_the_release() -> None:
    panel = drawn("histogram", [subject([-900, -800, 300, 5_000])], "latency=-850ns:1us").panels[0]
    assert (panel.picture.x.low, panel.picture.x.high, panel.picture.x.log) == (-850, 1_000, False)
    assert unpack(panel.data["series"][0]["values"]) == [1, 1]
    assert "1 beyond 1.00\u202fµs" in text_of(panel.aside) and "1 below -850" in text_of(panel.aside)
    asked_log = with_range(Scale(-1_000.0, 50_000.0, True, "ns", knee=1_000.0), AxisRange(log=True))
    assert (asked_log.low, asked_log.log, asked_log.knee) == (-1_000, True, 1_000)


def test_a_logarithmic_axis_begins_above_zero() -> None:
    found = with_range(Scale(0.0, 1000.0, False, "count"), AxisRange(log=True))
    assert 0 < found.low < 1 and found.log


def test_one_picture_has_handler_and_process() -> None:
    """Figures 6 to 8 of sh7780-2008: two lines over the same time, on one linear axis from zero on."""
    from howlate.model.bins import ColumnBins

    one = subject([20 * US] * 99 + [40 * US])
    assert one.bins is not None
    late = np.array([100 * US] * 99 + [300 * US], np.int64)
    wake = ColumnBins("wake_latency_ns", histogram_of(late), None, blocks_of(late, 0.001, 10))
    both = replace(
        one,
        summary=replace(one.summary, test="irq"),
        bins=replace(one.bins, column="irq_latency_ns", others=(wake,)),
    )
    figure = drawn("together", [both])
    assert [text_of(key.text) for key in figure.keys] == ["Interrupt latency", "Wake-up latency"]
    picture = figure.panels[0].picture
    assert picture.marks.count("<path") == 2 and picture.y_ticks[0][1] == "0"
    assert [unpack(s["values"])[-1] for s in figure.panels[0].data["series"]] == [40 * US, 300 * US]
    zoomed = drawn("together", [both], "latency=0:200us").panels[0]
    assert text_of(zoomed.aside).endswith(" beyond 200\u202fµs: 1")
    assert CHARTS["together"].figure([one]) is None, "a single column has nothing to be drawn with"
    empty = replace(wake, blocks=TimeBlocks((), 0.0, (), (), (), ()))
    alone = replace(both, bins=replace(both.bins, others=(empty,))) if both.bins else both
    assert CHARTS["together"].figure([alone]) is None
