"""Every chart: what it shows is what was measured, above all the largest value."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from charts.packed import unpack
from howlate.charts import all_charts
from howlate.charts.achieved import LINES, POINTS, draw, gather, thin
from howlate.charts.course import block_numbers, largest_of
from howlate.charts.histogram import FINEST, NATIVE, edge, merge, place_of
from howlate.charts.tail import thin as thin_tail
from howlate.figures import overview
from howlate.figures.figure import Figure, Subject
from howlate.figures.frame import frame
from howlate.figures.scale import Axes, AxisRange
from howlate.figures.svg import pack
from howlate.model.bins import CellBins, LoadCourse
from howlate.model.cause import ExplainedCase
from howlate.why.cause_words import NAMES as CAUSES
from howlate.words.say import text_of
from made_cells import LOADS, Int64s, blocks_of, courses, histogram_of, made_cell, scatter_of, tail_of
from made_trace import explained_samples

CASES = explained_samples(12)
BIG = st.integers(-(2**53) + 1, 2**53 - 1)
SAMPLES = st.lists(st.integers(0, 2**40), min_size=1, max_size=400).map(lambda v: np.array(v, np.int64))


def subject_of(values: Int64s, label: str = "cpu:50", blocks: int = 50) -> Subject:
    summary, _, _ = made_cell(label, n=100)
    from made_cells import column_of

    summary = replace(summary, columns={"latency_ns": column_of(values, 1_000_000, 0.001)})
    bins = CellBins(
        "latency_ns",
        histogram_of(values),
        blocks_of(values, 0.001, min(blocks, len(values))),
        tail_of(values),
        courses(np.random.default_rng(1), 3, label),
        scatter_of(values),
    )
    return Subject(label, summary, bins, cases=CASES[: len(values)])


def figure(name: str, subjects: list[Subject]) -> Figure:
    charts = {chart.name: chart.draw for chart in all_charts()}
    drawn = overview.draw(subjects) if name == "overview" else charts[name](subjects)
    assert isinstance(drawn, Figure)
    return drawn


def largest_drawn(name: str, drawn: Figure) -> float:
    """The largest latency in the data that travels with a chart."""
    data = drawn.panels[0].data
    if name == "histogram":
        return unpack(data["low"])[-1]
    if name in ("course", "scatter"):
        return max(unpack(data["series"][0]["values"]))
    return max(max(unpack(series["x"])) for series in data["series"])


@given(st.lists(BIG, max_size=50))
def test_packed_numbers_come_back_exactly(values: list[int]) -> None:
    assert unpack(pack(values)) == values


@settings(max_examples=30)
@given(SAMPLES)
def test_no_chart_hides_the_largest_sample(values: Int64s) -> None:
    largest = int(values.max())
    for name in ("course", "tail", "overview", "scatter"):
        assert largest_drawn(name, figure(name, [subject_of(values)])) == largest
    data = figure("histogram", [subject_of(values)]).panels[0].data
    low, size = unpack(data["low"])[-1], unpack(data["size"])[-1]
    assert low <= largest < low + size


@settings(max_examples=30)
@given(SAMPLES)
def test_the_largest_sample_lies_inside_every_axis(values: Int64s) -> None:
    largest = int(values.max())
    for name in ("histogram", "tail", "overview"):
        x = figure(name, [subject_of(values)]).panels[0].picture.x
        assert x.at(largest) <= 1 + 1e-9


@settings(max_examples=30)
@given(st.integers(1, 1 << 40), st.integers(1, 1 << 20), st.sampled_from([3, 4, 5]))
def test_finest_bins_nest_in_coarser_ones_as_the_page_joins_them(low: int, size: int, bits: int) -> None:
    finest, coarser = place_of(low, low + size, FINEST), FINEST - bits
    place = place_of(low, low + size, bits)
    assert finest >> coarser == place
    assert edge(place, bits) == edge(place << coarser, FINEST)


@given(SAMPLES, st.sampled_from([3, 4, 5, NATIVE]))
def test_merged_bins_keep_every_sample_and_do_not_overlap(values: Int64s, bits: int) -> None:
    merged = merge(histogram_of(values), bits)
    assert sum(merged.counts) == len(values)
    for low, high, count in zip(merged.lower_ns, merged.upper_ns, merged.counts, strict=True):
        assert low < high
        assert count >= int(((values >= low) & (values < high)).sum()) > 0
    assert all(a <= b for a, b in zip(merged.upper_ns, merged.lower_ns[1:], strict=False))


@pytest.mark.parametrize("n", [1, 2, 12, 12_000])
@pytest.mark.parametrize(
    "name", [c.name for c in all_charts() if c.shows not in ("points", "sides") and c.name != "together"]
)
def test_every_chart_is_well_formed_and_says_what_it_shows(name: str, n: int) -> None:
    rng = np.random.default_rng(n)
    values = (rng.lognormal(8.5, 0.6, n)).astype(np.int64)
    drawn = figure(name, [subject_of(values, load, 100) for load in LOADS])
    assert drawn.reading and drawn.title
    for i, panel in enumerate(drawn.panels):
        root = ElementTree.fromstring(frame(panel, f"{name}-{i}"))
        assert root.find("title") is not None and root.find("desc") is not None
        assert (root.findtext("desc") or "").endswith(".")
        drawn_numbers = re.sub(r'href="data:[^"]*"', "", panel.picture.marks)
        assert "nan" not in drawn_numbers and "inf" not in drawn_numbers


def test_a_single_wake_up_has_a_bar_that_can_be_seen() -> None:
    values = np.concatenate([np.full(1_000_000, 4_000), [9_000_000]]).astype(np.int64)
    panel = figure("histogram", [subject_of(values)]).panels[0]
    bars = panel.picture.marks.split('d="')[1].split("z")
    tops = [float(bar.split("V")[1].split("H")[0]) for bar in bars if "V" in bar and "M" in bar]
    assert panel.picture.height - tops[-1] >= 4


def test_time_without_a_wake_up_is_a_gap() -> None:
    values = np.full(1000, 5_000, np.int64)
    blocks = blocks_of(values, 0.001, 100, gap=range(40, 60))
    assert block_numbers(blocks) == [*range(40), *range(60, 100)]
    summary, bins, _ = made_cell("none", n=1000, blocks=100, gap=range(40, 60))
    panel = figure("course", [Subject("none", summary, bins)]).panels[0]
    assert panel.picture.marks.count("M") == 3 * 2
    assert unpack(panel.data["low"])[39:41] == [39, 60]


def test_joined_blocks_keep_the_larger_value() -> None:
    assert largest_of([0, 1, 2, 5, 7], [3, 9, 1, 4, 8], 2) == [9, 1, 4, 8]
    assert largest_of([0, 1], [3, 9], 1) == [3, 9]


def test_panels_of_one_chart_share_their_axes() -> None:
    subjects = [subject_of(made_cell(load, i)[2], load) for i, load in enumerate(LOADS)]
    for name in ("histogram", "course", "achieved"):
        drawn = figure(name, subjects)
        assert len(drawn.panels) == len(LOADS)
        assert len({panel.picture.x for panel in drawn.panels}) == 1


def test_lines_of_the_tail_differ_without_colour() -> None:
    subjects = [subject_of(made_cell("cpu:50", i)[2], f"load {i}") for i in range(8)]
    drawn = figure("tail", subjects)
    assert len(drawn.panels) == 1
    assert len({key.classes.split()[1] for key in drawn.keys}) == 8  # dashes
    assert len({key.mark for key in drawn.keys}) == 8


def test_many_cells_are_drawn_eight_in_a_plot() -> None:
    subjects = [subject_of(made_cell("cpu:50", i, 200)[2], f"load {i}") for i in range(20)]
    drawn = figure("tail", subjects)
    assert [len(panel.data["series"]) for panel in drawn.panels] == [8, 8, 4]


@given(st.integers(1, 5000))
def test_a_thinned_tail_keeps_its_ends_and_its_rarest(n: int) -> None:
    points = [(i, n - 1 - i, n) for i in range(n)]
    kept = thin_tail(points)
    assert len(kept) <= 600
    assert kept[0] == points[0] and kept[-100:] == points[-100:]
    assert kept == sorted(set(kept))


def test_a_long_course_keeps_the_largest_steal() -> None:
    times = tuple(float(t) for t in range(1, 3601))
    share = tuple(0.9 if t == 1234 else 0.0 for t in times)
    thinned = thin(LoadCourse("cpu 0 steal", times, share))
    assert len(thinned.share) <= POINTS
    assert max(thinned.share) == 0.9
    assert thinned.time_s[-1] == 3600


def test_a_course_of_one_moment_is_drawn() -> None:
    """A cell that ended with the first row, at the first release."""
    subject = subject_of(np.array([1, 2, 3], np.int64))
    assert subject.bins is not None
    bins = replace(subject.bins, loads=(LoadCourse("cpu 0 busy", (0.0,), (0.5,)),))
    assert isinstance(draw([replace(subject, bins=bins)]), Figure)


def test_many_cpus_become_their_mean_and_their_largest() -> None:
    lines = gather(courses(np.random.default_rng(1), 5, "cpu:50", cpus=64))
    assert [text_of(line.name) for line in lines] == [
        "steal, largest of 64 CPUs",
        "busy, largest of 64 CPUs",
        "busy, mean of 64 CPUs",
        "cpu",
    ]
    assert len(gather(courses(np.random.default_rng(1), 5, "none", cpus=LINES))) == 2 * LINES


def test_cells_without_bins_or_samples_are_not_drawn() -> None:
    summary, _, _ = made_cell("none", n=10)
    for chart in all_charts():
        drawn = chart.draw([Subject("none", summary, None)])
        assert not isinstance(drawn, Figure) or chart.shows == "cells"


def test_the_parts_of_each_late_sample_are_drawn_to_its_end_and_none_is_left_out() -> None:
    panel = figure("causes", [subject_of(np.full(100, 5_000, np.int64))]).panels[0]
    for case, series in zip(CASES, panel.data["series"], strict=True):
        assert {text_of(name) for name in series["names"]} >= {largest_name(case)}
        assert max(unpack(series["x"])) <= case.case.latency_ns
    ends: dict[float, float] = {}
    for top, right in re.findall(r",(\d+)H(\d+)V", panel.picture.marks):
        ends[float(top)] = max(float(right), ends.get(float(top), 0.0))
    longest = max(case.case.latency_ns for case in CASES)
    assert [ends[top] for top in sorted(ends)] == [
        pytest.approx(case.case.latency_ns / longest * 1000, abs=1) for case in CASES
    ]


def largest_name(case: ExplainedCase) -> str:
    cause, name = case.largest.key
    return f'{text_of(CAUSES[cause])}: "{name}"' if name else text_of(CAUSES[cause])


def test_a_late_sample_and_its_bar_lead_to_each_other() -> None:
    subjects = [subject_of(np.full(100, 5_000, np.int64), load) for load in LOADS]
    notes = {
        name: [note for panel in figure(name, subjects).panels for note in panel.picture.notes if note.ident]
        for name in ("course", "causes")
    }
    bars = {note.ident: note.link for note in notes["causes"]}
    points = {note.ident: note.link for note in notes["course"]}
    assert len(bars) == len(CASES) * len(LOADS)
    assert set(points.values()) <= set(bars) and all(
        points[link] == bar for bar, link in bars.items() if link in points
    )


@pytest.mark.parametrize(
    "axes", [{}, {"time": AxisRange(0, 0.2)}, {"latency": AxisRange(1_000_000, 2_000_000)}]
)
@pytest.mark.parametrize("is_timed", [True, False])
def test_no_link_of_a_late_sample_leads_nowhere(axes: Axes, is_timed: bool) -> None:
    """Of more samples than have a bar, on an axis of time that not all lie on, and of cells without a course."""
    cases = explained_samples(30)
    subject = replace(subject_of(np.full(400, 5_000, np.int64)), cases=cases)
    subjects = [subject if is_timed else replace(subject, bins=None)]
    notes = [
        note
        for chart in all_charts()
        if chart.name in ("course", "causes") and isinstance(drawn := chart.figure(subjects, axes), Figure)
        for panel in drawn.panels
        for note in panel.picture.notes
    ]
    idents = {note.ident for note in notes if note.ident}
    assert len(idents) > 20 if is_timed else len(idents) == 20
    assert {note.link for note in notes if note.link} <= idents
    assert all(0 <= note.x <= 1 and 0 <= note.y <= 1 for note in notes if note.ident)


def test_without_explained_samples_there_is_no_picture_of_causes() -> None:
    subject = replace(subject_of(np.full(100, 5_000, np.int64)), cases=())
    assert next(c for c in all_charts() if c.name == "causes").draw([subject]) is None
