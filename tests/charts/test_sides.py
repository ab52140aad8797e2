"""Charts over sides: who stands where, the largest in every picture, and words for those who cannot see it."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from charts.packed import unpack
from howlate.charts import all_charts
from howlate.document.axes import parse_axes
from howlate.document.side_charts import side_charts, side_subjects
from howlate.figures.bars import equal_bins
from howlate.figures.figure import Figure, Subject
from howlate.figures.frame import frame
from howlate.model.bins import CellBins, ColumnBins, Histogram
from howlate.model.loaded import RunContent
from howlate.sides.join import join
from howlate.words.say import text_of
from made_cells import histogram_of, made_cell
from made_sides import RT, Made, Points, at, lab_run, real_run

SIDES = {c.name: c for c in all_charts() if c.shows == "sides"}
GROUPS = (1, 2, 4, 6, 10)


def with_bins(content: RunContent, seed: int = 1) -> RunContent:
    """Samples of their own for each cell, whose largest the summary has."""
    cells = []
    for number, cell in enumerate(content.cells):
        summary, bins, _ = made_cell("cpu:50", seed + number, 400, 20)
        columns = {"latency_ns": summary.columns["latency_ns"]}
        cells.append(replace(cell, bins=bins, summary=replace(cell.summary, columns=columns)))
    return replace(content, cells=tuple(cells))


def groups(slope: float, run_ms: float = 40) -> Points:
    return {
        at(load=f"hackbench:{n}"): [Made(maximum=10 + slope * n + i, run_ms=run_ms * n) for i in range(3)]
        for n in GROUPS
    }


def two(bins: bool = True) -> list[RunContent]:
    runs = [real_run(groups(100)), real_run(groups(0.1, 50), RT, "run-b")]
    return [with_bins(run, 50 * i) for i, run in enumerate(runs)] if bins else runs


def subjects(contents: list[RunContent]) -> list[Subject]:
    return side_subjects(contents, join(contents))


def draw(name: str, contents: list[RunContent]) -> Figure:
    found = SIDES[name].draw(subjects(contents))
    assert isinstance(found, Figure)
    return found


def test_every_chart_over_sides_is_drawn_and_described() -> None:
    assert set(SIDES) == {"matrix", "rising", "multiples", "multiples-own", "tails", "runtime", "timers"}
    for name in set(SIDES) - {"timers"}:
        figure = draw(name, two())
        assert figure.reading and figure.title
        for i, panel in enumerate(figure.panels):
            root = ElementTree.fromstring(frame(panel, f"{name}-{i}"))
            assert (root.findtext("desc") or "").endswith(".")
            assert not re.search(r"nan|inf", panel.picture.marks)


def test_no_chart_over_sides_hides_the_largest() -> None:
    contents = two()
    largest = max(c.summary.columns["latency_ns"].max or 0 for run in contents for c in run.cells)
    for name in ("multiples", "multiples-own"):
        ends = []
        for panel in draw(name, contents).panels:
            low, size = unpack(panel.data["low"]), unpack(panel.data["size"])
            ends.append((low[-1], low[-1] + size[-1]))
        assert any(low <= largest < high for low, high in ends)
    ends_of_lines = [max(unpack(s["x"])) for p in draw("tails", contents).panels for s in p.data["series"]]
    assert max(ends_of_lines) == largest
    assert any("The largest" in text_of(p.summary) for p in draw("matrix", contents).panels)


def test_a_further_column_s_largest_is_exact() -> None:
    """Its bins have no tail; the edge of its last bin lies above the largest."""
    contents = [
        replace(
            content,
            cells=tuple(
                replace(
                    c,
                    summary=replace(
                        c.summary,
                        columns={
                            "irq_latency_ns": c.summary.columns["latency_ns"],
                            "wake_latency_ns": replace(c.summary.columns["latency_ns"], max=66_430),
                        },
                    ),
                    bins=replace(
                        c.bins,
                        column="irq_latency_ns",
                        others=(ColumnBins("wake_latency_ns", Histogram((66_000,), (66_560,), (7,)), None),),
                    )
                    if c.bins is not None
                    else None,
                )
                for c in content.cells
            ),
        )
        for content in two()
    ]
    further = [
        replace(s, bins=s.bins.of("wake_latency_ns")) for s in subjects(contents) if s.bins is not None
    ]
    for name in ("multiples", "multiples-own"):
        figure = SIDES[name].draw(further)
        assert isinstance(figure, Figure) and figure.panels
        assert all("to 66.4" in text_of(panel.summary) for panel in figure.panels)


def test_the_maximum_rises_on_one_line_and_not_on_the_other() -> None:
    figure = draw("rising", two(False))
    assert [text_of(key.text) for key in figure.keys] == ["6.1.0 (preempt=none)", "6.1.0-rt (rt)"]
    up, flat = figure.panels[0].data["series"]
    assert [n / 1000 for n in unpack(up["x"])] == list(GROUPS)
    rises = unpack(up["y"])
    assert rises == sorted(rises) and rises[-1] > rises[0]
    assert max(unpack(flat["y"])) < min(rises)
    assert text_of(up["says"][-1]).replace("\u202f", " ") == "1.01 ms (1.01 ms)"


def test_handler_and_process_are_lines_of_their_own() -> None:
    def irq(content: RunContent) -> RunContent:
        return replace(
            content,
            cells=tuple(
                replace(
                    c,
                    summary=replace(
                        c.summary,
                        columns=dict.fromkeys(
                            ("irq_latency_ns", "wake_latency_ns"), c.summary.columns["latency_ns"]
                        ),
                    ),
                )
                for c in content.cells
            ),
        )

    figure = draw("rising", [irq(run) for run in two(False)])
    assert [text_of(key.text) for key in figure.keys] == [
        "6.1.0 (preempt=none), Interrupt latency",
        "6.1.0 (preempt=none), Wake-up latency",
        "6.1.0-rt (rt), Interrupt latency",
        "6.1.0-rt (rt), Wake-up latency",
    ]


def test_runs_with_and_without_measuring_are_lines_of_one_picture() -> None:
    time = {at(load=f"hackbench:{n}", part="time"): [Made(run_ms=30 * n)] for n in GROUPS}
    alone = real_run(time, test="unmeasured")
    cells = [replace(c, summary=replace(c.summary, columns={})) for c in alone.cells]
    alone = replace(alone, cells=tuple(cells))
    latency = {at(load=f"hackbench:{n}", part="latency", period="1ms"): [Made(run_ms=40 * n)] for n in GROUPS}
    beside = real_run(latency)
    figure = draw("runtime", [alone, beside])
    assert len(figure.panels) == 1
    lines = {text_of(s["name"]): unpack(s["y"]) for s in figure.panels[0].data["series"]}
    assert set(lines) == {"6.1.0 (preempt=none), nothing measured", "6.1.0 (preempt=none), while measured"}
    pairs = zip(
        lines["6.1.0 (preempt=none), nothing measured"],
        lines["6.1.0 (preempt=none), while measured"],
        strict=True,
    )
    assert all(without < beside for without, beside in pairs)
    assert SIDES["matrix"].draw(subjects([alone])) is None, "what measures nothing has no maximum"


def test_the_matrix_has_every_point_once_with_its_number() -> None:
    figure = draw("matrix", two(False))
    (panel,) = figure.panels
    assert panel.picture.x.names == ("6.1.0 (preempt=none)", "6.1.0-rt (rt)")
    assert panel.picture.marks.count("<rect") == 2 * len(GROUPS)
    numbers = [
        text_of(note.text).replace("\u202f", " ") for note in panel.picture.notes if note.classes == "mid"
    ]
    assert len(numbers) == 2 * len(GROUPS) and "1.01 ms" in numbers
    opacity = [float(v) for v in re.findall(r'fill-opacity="([0-9.]+)"', panel.picture.marks)]
    assert max(opacity) > 0.7 and min(opacity) < 0.1


def test_the_matrix_says_which_points_keep_the_deadline() -> None:
    """A mark and a word for each verdict, none of which needs colour."""
    drawn = subjects(two(False))
    judged = [replace(one, ruling=("PASS", "FAIL", "INCONCLUSIVE")[i % 3]) for i, one in enumerate(drawn)]
    figure = SIDES["matrix"].draw(judged)
    assert isinstance(figure, Figure)
    (panel,) = figure.panels
    marks = [note.marker for note in panel.picture.notes if note.classes == "verdict"]
    assert sorted(marks) == sorted(["circle", "cross", "diamond", "circle"] * 2 + ["cross", "diamond"])
    assert [(key.mark, text_of(key.text).partition(":")[0]) for key in figure.keys] == [
        ("circle", "PASS"), ("cross", "FAIL"), ("diamond", "INCONCLUSIVE"),
    ]  # fmt: skip
    assert ": 4 PASS, 3 FAIL, 3 INCONCLUSIVE." in text_of(panel.summary)
    says = [text_of(text) for series in panel.data["series"] for text in series["says"]]
    assert sum(text.endswith(", FAIL") for text in says) == 3
    assert draw("matrix", two(False)).keys == (), "where no deadline was stated nothing is said of one"


def test_sides_stand_beside_each_other_in_the_grid_of_histograms() -> None:
    figure = draw("multiples", two())
    assert figure.columns == 2 and len(figure.panels) == 2 * len(GROUPS)
    assert len({panel.picture.x for panel in figure.panels}) == 1
    own = draw("multiples-own", two())
    assert len({panel.picture.x for panel in own.panels}) > 1


@settings(max_examples=50)
@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=200), st.integers(1, 10**5))
def test_equal_bins_keep_every_count_in_its_place(values: list[int], width: int) -> None:
    native = histogram_of(np.array(values, np.int64))
    bins = equal_bins(native, width)
    assert sum(bins.counts) == len(values)
    assert all(low < high for low, high in zip(bins.lower_ns, bins.upper_ns, strict=True))
    assert all(a <= b for a, b in zip(bins.upper_ns, bins.lower_ns[1:], strict=False))
    assert bins.lower_ns[0] <= min(values) and bins.upper_ns[-1] > max(values)


@pytest.mark.parametrize("name", sorted(SIDES))
def test_nothing_is_drawn_of_nothing(name: str) -> None:
    assert SIDES[name].draw([]) is None
    bad = {at(load="hackbench:1"): [Made(valid=False)]}
    assert SIDES[name].draw(subjects([lab_run({"6.1": bad})])) is None


def test_parts_have_pictures_of_their_own() -> None:
    points = {at(load=load, part=part): [Made()] for part in ("low", "high") for load in ("none", "disk")}
    runs = [with_bins(real_run(points)), with_bins(real_run(points, RT, "run-b"), 9)]
    drawn = [(figure.name, part) for figure, part, *_ in side_charts(runs) if isinstance(figure, Figure)]
    assert ("multiples", "low") in drawn and ("multiples", "high") in drawn and ("matrix", "") in drawn


def test_bins_of_no_column_are_no_picture() -> None:
    run = with_bins(real_run({at(load="none"): [Made()]}))
    assert isinstance(run.cells[0].bins, CellBins)
    names = [figure.name for figure, *_ in side_charts([run]) if isinstance(figure, Figure)]
    assert names == [], "one point on one side is in the other charts"


def test_lines_against_a_load_are_linear_so_that_their_growth_is_seen() -> None:
    """191 and 271 us differ by four tenths of the one: on a logarithmic axis from 3 us on that was a flat line."""
    points: Points = {
        at(load=f"hackbench:{n}"): [Made(maximum=m, run_ms=m)] for n, m in ((1, 191), (10, 230), (40, 271))
    }
    small: Points = {at(load=f"hackbench:{n}"): [Made(maximum=3, run_ms=3)] for n in (1, 10, 40)}
    for name in ("rising", "runtime"):
        panel = draw(name, [real_run(points), real_run(small, RT, "run-b")]).panels[0]
        ticks = panel.picture.y_ticks
        assert ticks[0] == (0.0, "0"), "from zero on"
        steps = {round(b[0] - a[0], 6) for a, b in pairwise(ticks)}
        assert len(steps) == 1, "equal steps are equal sizes"
        heights = unpack(panel.data["series"][0]["y"])
        assert heights[0] / heights[-1] == pytest.approx(191 / 271, rel=0.01)


def test_lines_against_a_load_are_logarithmic_where_somebody_asks() -> None:
    for name, axis in (("rising", "latency=log"), ("runtime", "runtime=log")):
        chart = SIDES[name]
        figure = chart.figure(subjects(two(False)), parse_axes([axis, "number=0:5"]))
        assert isinstance(figure, Figure)
        assert figure.panels[0].picture.x.high == 5
        assert figure.panels[0].picture.y_ticks[0][1] != "0"


def test_panels_of_all_sides_share_the_axes_that_are_asked_for() -> None:
    figure = SIDES["multiples"].figure(subjects(two()), parse_axes(["latency=0:100us", "counts=linear"]))
    assert isinstance(figure, Figure)
    spans = {(p.picture.x.low, p.picture.x.high, p.picture.x.log) for p in figure.panels}
    assert spans == {(0.0, 100_000.0, False)}
    assert all(panel.picture.y_ticks[0][1] == "0" for panel in figure.panels)


def test_absolute_and_relative_timers_are_two_colours_of_one_picture() -> None:
    """Figures 7 to 22 of tut-2017; the parts of the study that measure them are two."""
    points = {
        at(load=load, timer=timer, part=part): [Made(), Made(maximum=20)]
        for load in ("none", "cpu:100,nice=10")
        for timer, part in (("clock_nanosleep", "abs"), ("clock_nanosleep-relative", "rel"))
    }
    content = with_bins(real_run(points, test="timer"))
    figure = SIDES["timers"].draw(subjects([content]))
    assert isinstance(figure, Figure)
    assert [text_of(key.text) for key in figure.keys] == ["clock_nanosleep", "clock_nanosleep-relative"]
    assert len(figure.panels) == 2 and all("load" in text_of(panel.label) for panel in figure.panels)
    for panel in figure.panels:
        assert panel.picture.marks.count("<image") == 2
        names = [text_of(series["name"]) for series in panel.data["series"]]
        assert [name for name in names if "largest" in name] == [
            "clock_nanosleep, largest",
            "clock_nanosleep-relative, largest",
        ]
        assert panel.picture.y_ticks and not panel.picture.marks.count("knee")
    other = {at(load="none", timer="clock_nanosleep"): [Made()]}
    assert SIDES["timers"].draw(subjects([with_bins(real_run(other, test="timer"))])) is None
