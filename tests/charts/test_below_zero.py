"""Every chart of the folder draws latencies below zero, of zero and of both signs: the counts that it draws add up to
the count, each value lies in its bin and inside of the picture, and what is left out is said."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from charts.packed import unpack
from howlate.charts import all_charts
from howlate.charts.histogram import FINEST, NATIVE, edge, merge, place_of
from howlate.document.histogram import sheet
from howlate.figures.figure import Figure, Panel, Subject
from howlate.figures.scale import Axes, AxisRange, Scale, spread
from howlate.model.bins import CellBins, ColumnBins
from howlate.model.summary import CellSummary
from howlate.statistics.bins.histogram import histogram
from howlate.statistics.describe import ValueCounts
from howlate.statistics.groups import Group
from howlate.verdict.charts.matrix import shade_of
from howlate.words.say import text_of
from made_cells import Int64s, blocks_of, column_of, courses, made_cell, scatter_of, tail_of
from made_trace import explained_samples

CASES = explained_samples(3)
KERNELS = ("6.1", "6.12", "7.2")
UNSHRUNK = (Phase.explicit, Phase.reuse, Phase.generate)
"""The cells are small, and drawing them once more for each step of a shrinking takes minutes."""
COUNTING = ("histogram", "multiples", "multiples-own")
"""Charts whose x axis has the values, in bins."""
EVL = [-1240, -990, -934, -900, -660]

SIZES = st.one_of(
    st.integers(-1_300, -600),
    st.integers(-50, 50),
    st.integers(-(10**9), -1),
    st.integers(-200, 20_000),
    st.sampled_from([-1, 0, 1, -(2**40), 2**40]),
)
CELLS = st.lists(
    st.one_of(
        st.lists(SIZES, min_size=1, max_size=12),
        st.lists(st.integers(-1_300, -600), min_size=1, max_size=12),
        st.lists(st.just(0), min_size=1, max_size=3),
    ).map(lambda values: np.array(values, np.int64)),
    min_size=3,
    max_size=3,
)


def bins_of(values: Int64s, column: str = "latency_ns") -> CellBins:
    return CellBins(
        column,
        histogram(ValueCounts.of(values)),
        blocks_of(values, 0.001, min(10, len(values))),
        tail_of(values),
        courses(np.random.default_rng(1), 3, "cpu:50"),
        scatter_of(values),
    )


def summary_of(values: Int64s, test: str, labels: dict[str, str], columns: Sequence[str]) -> CellSummary:
    summary, _, _ = made_cell("hackbench:1", n=100, labels=labels)
    loads = tuple(replace(load, results={"run_ns_mean": 1e6}) for load in summary.loads)
    column = column_of(values, 1_000_000, 0.001)
    return replace(summary, test=test, columns=dict.fromkeys(columns, column), loads=loads)


def subjects_of(cells: Sequence[Int64s], test: str) -> list[Subject]:
    """A subject a cell, each a point of its own: the kernels under the loads that a chart over them needs."""
    found = []
    for kernel in KERNELS:
        for number, values in enumerate(cells):
            labels = {"kernel": kernel, "load": f"hackbench:{number + 1}"}
            if test == "timer":
                labels = {"kernel": kernel, "load": "hackbench:1", "timer": f"timer-{number}"}
            columns = ("latency_ns",) if test != "irq" else ("irq_latency_ns", "wake_latency_ns")
            summary = summary_of(values, test, labels, columns)
            bins = bins_of(values, columns[0])
            others = tuple(
                ColumnBins(name, bins.histogram, bins.scatter, bins.blocks) for name in columns[1:]
            )
            bins = replace(bins, others=others)
            group = Group(f"{kernel}-{number}", labels, (summary,), 1, (0,))
            found.append(Subject(", ".join(labels.values()), summary, bins, group, one=bins, cases=CASES))
    return found


def figures(cells: Sequence[Int64s], axes: Axes | None = None) -> Iterator[tuple[str, Figure]]:
    """Every chart of the folder, of cells of a test that it draws."""
    by_test = [subjects_of(cells, test) for test in ("cyclic", "irq", "timer")]
    for chart in all_charts():
        drawn = (chart.figure(subjects, axes or {}) for subjects in by_test)
        figure = next((figure for figure in drawn if isinstance(figure, Figure)), None)
        if figure is not None:
            yield chart.name, figure
        else:
            raise AssertionError(f"{chart.name} draws none of these cells: give it what it needs here")


def points_of(path: str) -> Iterator[tuple[float, float]]:
    """The places that a path visits."""
    x = y = 0.0
    for command, rest in re.findall(r"([MLHVhvz])([^MLHVhvz]*)", path):
        numbers = [float(n) for n in re.findall(r"-?[\d.]+(?:e-?\d+)?", rest)]
        if command in "ML":
            for x, y in zip(numbers[::2], numbers[1::2], strict=True):
                yield x, y
        elif command in "Hh":
            x = numbers[0] + (x if command == "h" else 0)
        elif command in "Vv":
            y = numbers[0] + (y if command == "v" else 0)
        yield x, y


def places(panel: Panel) -> Iterator[tuple[float, float]]:
    """What is drawn, as shares of width and height from the top."""
    picture = panel.picture
    moved = re.search(r'transform="translate\(([-\d.]+)\) scale\(([-\d.e]+),1\)"', picture.marks)
    by, times = (float(moved[1]), float(moved[2])) if moved else (0.0, 1.0)
    for path in re.findall(r' d="([^"]*)"', picture.marks):
        for x, y in points_of(path):
            yield (by + times * x) / picture.width, y / picture.height
    for note in picture.notes:
        yield note.x, 1 - note.y


def bars(panel: Panel) -> list[tuple[float, float, float]]:
    """Left, right and top of each bar of a histogram, as drawn."""
    found = []
    for name in ("bars", "few"):
        for path in re.findall(rf'class="{name}" d="([^"]*)"', panel.picture.marks):
            for outline in path.split("z"):
                visited = list(points_of(outline))
                found += [
                    (a[0], b[0], a[1]) for a, b in pairwise(visited) if a[1] == b[1] < panel.picture.height
                ]
    return found


def in_bin(values: Int64s, low: float, size: float) -> int:
    return int(((values >= low) & (values < low + size)).sum())


def intervals(data: Any) -> tuple[list[int], list[int]]:
    low = list(range(data["low"])) if isinstance(data["low"], int) else unpack(data["low"])
    size = [data["size"]] * len(low) if isinstance(data["size"], int) else unpack(data["size"])
    return low, size


@settings(max_examples=12, deadline=None, phases=UNSHRUNK)
@given(CELLS)
def test_every_chart_draws_all_values_each_in_its_place(cells: list[Int64s]) -> None:
    for name, figure in figures(cells):
        for panel in figure.panels:
            assert not re.search(r"\bnan\b|\binf\b", re.sub(r'href="[^"]*"', "", panel.picture.marks)), name
            for x, y in places(panel):
                end = 3.002 if name == "course" else 1.002  # a last block is joined with those behind the end
                assert -0.002 <= x <= end and -0.005 <= y <= 1.005, (name, x, y)
        if name in COUNTING:
            _all_are_counted(name, figure, cells)
        if name == "course":
            _courses_say_what_is_below(figure, cells)
        if name == "scatter":
            for panel, values in zip(figure.panels, [*cells] * len(KERNELS), strict=False):
                assert sum(unpack(panel.data["series"][2]["values"])) == len(values)
        if name in ("tail", "tails"):
            _tails_are_those_of_the_samples(figure, cells)


def _all_are_counted(name: str, figure: Figure, cells: Sequence[Int64s]) -> None:
    assert len(figure.panels) == len(KERNELS) * len(cells), name
    subjects = subjects_of(cells, "cyclic")
    by_label = {text_of(s.label): cells[i % len(cells)] for i, s in enumerate(subjects)}
    for panel in figure.panels:
        values = by_label[_label(text_of(panel.label))]
        low, size = intervals(panel.data)
        counts = unpack(panel.data["series"][0]["values"])
        assert sum(counts) == len(values), name
        assert counts == [in_bin(values, a, b) for a, b in zip(low, size, strict=True)], name
        drawn = bars(panel)
        x, width = panel.picture.x, panel.picture.width
        for value in values:  # below each value stands a bar that can be seen
            at = x.at(float(value) + 0.5) * width
            assert any(left - 0.2 <= at <= right + 0.2 and right - left >= 0.1 for left, right, _ in drawn), (
                name, value, x,
            )  # fmt: skip
        assert "below" not in text_of(panel.aside) and "beyond" not in text_of(panel.aside)


def _label(text: str) -> str:
    """Of a panel over sides: "6.1 · load hackbench:1"."""
    side, _, rest = text.partition(" · ")
    return f"{side}, {rest.removeprefix('load ')}" if rest else text


def _courses_say_what_is_below(figure: Figure, cells: Sequence[Int64s]) -> None:
    for panel, values in zip(figure.panels, [*cells] * len(KERNELS), strict=True):
        assert sum(unpack(panel.data["series"][3]["values"])) == len(values)
        assert max(unpack(panel.data["series"][0]["values"])) == values.max()
        said = re.search(r"values below [^:]*: ([\d\u202f]+)", text_of(panel.aside))
        assert "beyond" not in text_of(panel.aside)
        if said:
            assert int(said[1].replace("\u202f", "")) < len(values)


def _tails_are_those_of_the_samples(figure: Figure, cells: Sequence[Int64s]) -> None:
    for panel in figure.panels:
        assert panel.data["series"]
        for series in panel.data["series"]:
            tail = list(zip(unpack(series["x"]), unpack(series["y"]), strict=True))
            assert any(
                series["total"] == len(values)
                and tail[-1][0] == values.max()
                and all(int((values > x).sum()) == y for x, y in tail)
                for values in cells
            )
            assert all(0 <= panel.picture.x.at(x) <= 1 for x, _ in tail)


@settings(max_examples=12, deadline=None, phases=UNSHRUNK)
@given(CELLS, st.integers(-2_000, 2_000), st.integers(1, 10_000), st.sampled_from([None, False, True]))
def test_on_an_axis_that_was_asked_for_what_lies_outside_is_counted(
    cells: list[Int64s], low: int, size: int, log: bool | None
) -> None:
    axis = AxisRange(float(low), float(low + size), None if log and low <= 0 else log)
    for name, figure in figures(cells, {"latency": axis}):
        if name not in ("histogram", "multiples"):
            continue
        subjects = subjects_of(cells, "cyclic")
        by_label = {text_of(s.label): cells[i % len(cells)] for i, s in enumerate(subjects)}
        for panel in figure.panels:
            aside = text_of(panel.aside).replace("\u202f", "")
            numbers = [int(n) for n in re.findall(r"(\d+) (?:beyond|below)", aside)]
            drawn = sum(unpack(panel.data["series"][0]["values"]))
            assert drawn + sum(numbers) == len(by_label[_label(text_of(panel.label))]), (name, aside)


@given(
    st.lists(SIZES, min_size=1, max_size=200).map(lambda v: np.array(sorted(v), np.int64)),
    st.sampled_from([3, 4, 5, NATIVE]),
    st.sampled_from([1.0, 7.0, 660.0, 1000.0]),
)
def test_merged_bins_hold_exactly_what_lies_in_them(values: Int64s, bits: int, knee: float) -> None:
    merged = merge(histogram(ValueCounts.of(values)), bits, knee)
    assert sum(merged.counts) == len(values)
    for low, high, count in zip(merged.lower_ns, merged.upper_ns, merged.counts, strict=True):
        assert low < high and count == in_bin(values, low, high - low) > 0
    assert all(a <= b for a, b in zip(merged.upper_ns, merged.lower_ns[1:], strict=False))


@given(st.integers(-(2**40), 2**40), st.integers(1, 2**20), st.sampled_from([3, 4, 5]))
def test_finest_bins_nest_in_coarser_ones_around_zero_too(low: int, size: int, bits: int) -> None:
    finest, coarser = place_of(low, low + size, FINEST, 1000.0), FINEST - bits
    place = place_of(low, low + size, bits, 1000.0)
    assert finest >> coarser == place
    assert edge(place, bits, 1000.0) == edge(place << coarser, FINEST, 1000.0)


@given(st.integers(-(2**40), 2**40), st.integers(0, 2**40), st.integers(2, 10))
def test_an_axis_around_any_values_has_them_inside_in_order_with_ticks(
    low: int, size: int, about: int
) -> None:
    scale = spread(low, low + size, "ns")
    values = sorted({low, low + size // 3, low + size, *(v for v in (0, -1, 1) if low <= v <= low + size)})
    shares = [scale.at(v) for v in values]
    assert shares[0] >= 0 and shares[-1] <= 1 and shares == sorted(shares)
    ticks = [share for share, _ in scale.ticks(about)]
    assert ticks == sorted(set(ticks)) and len(ticks) <= 2 * about + 2
    assert all(-1e-6 <= share <= 1 + 1e-6 for share in ticks)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (-1240, -660, [-1200, -1000, -800]),
        (-165, 1_040, [0, 500, 1_000]),
        (-1_240, 500_000, [-1_000, 0, 1_000, 10_000, 100_000]),
        (-(10**9), -5, [-(10**8), -(10**6), -(10**4), -100]),
    ],
)
def test_ticks_around_zero(low: float, high: float, ticks: list[float]) -> None:
    scale = spread(low, high, "ns")
    texts = [text_of(text).replace("\u202f", " ") for _, text in scale.ticks(6)]
    assert texts == [_tick(v) for v in ticks]


def _tick(ns: float) -> str:
    from howlate.figures.scale import time_tick

    return time_tick(ns).replace("\u202f", " ")


@given(st.lists(SIZES, min_size=2, max_size=8, unique=True))
def test_the_shade_of_a_matrix_is_stronger_the_larger_the_value(values: list[int]) -> None:
    shade: Scale = shade_of(min(values), max(values))
    shares = [shade.at(v) for v in sorted(values)]
    assert shares == sorted(shares) and shares[0] == pytest.approx(0, abs=1e-9)
    assert shares[-1] == pytest.approx(1)


@settings(max_examples=25, deadline=None)
@given(CELLS)
def test_a_text_histogram_counts_each_value_in_its_row(cells: list[Int64s]) -> None:
    shown = sheet(subjects_of(cells, "cyclic")[: len(cells)])
    assert shown is not None
    rows = shown.to_json()["rows"]
    begins = [row[0] for row in rows]
    assert begins == sorted(set(begins))
    assert len({cell.text for cell in shown.columns[0].cells}) == len(rows)
    for column, values in enumerate(cells, 1):
        expected = [
            in_bin(values, low, high - low)
            for low, high in pairwise([*begins, max(int(v.max()) for v in cells) + 1])
        ]
        assert [row[column] for row in rows] == expected


def test_a_kernel_that_wakes_before_its_release_is_drawn_before_zero() -> None:
    """EVL's samples of one cell: an axis from 0.96 to 1.04 ns showed a bar at 1 ns."""
    values = np.array(EVL * 120, np.int64)
    drawn = dict(figures([values] * 3))
    for name in COUNTING:
        x = drawn[name].panels[0].picture.x
        assert x.low <= -1240 and x.high >= -660
    rows = sheet(subjects_of([values], "cyclic")[:1])
    assert rows is not None
    assert all(row[0] < -600 for row in rows.to_json()["rows"] if row[1])
