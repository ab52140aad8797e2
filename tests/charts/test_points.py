"""Charts of points: the interval over the repetitions, its largest value above all."""

from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from charts.packed import unpack
from howlate.charts import all_charts
from howlate.figures.figure import Figure, Subject
from howlate.figures.frame import frame
from howlate.figures.points import version_of
from howlate.words.say import text_of
from made_cells import invalid
from made_points import SWEEP, made_points, point_subjects

CHARTS = [c for c in all_charts() if c.shows == "points"]


def drawn(name: str, subjects: list[Subject]) -> Figure:
    figure = next(c for c in CHARTS if c.name == name).draw(subjects)
    assert isinstance(figure, Figure)
    return figure


@pytest.mark.parametrize("name", [c.name for c in CHARTS])
@pytest.mark.parametrize("seeds", [1, 2, 5])
def test_every_chart_of_points_is_well_formed_and_says_what_it_shows(name: str, seeds: int) -> None:
    figure = drawn(name, point_subjects(made_points(SWEEP, seeds=seeds, n=400)))
    assert figure.reading and figure.title
    for i, panel in enumerate(figure.panels):
        root = ElementTree.fromstring(frame(panel, f"{name}-{i}"))
        assert (root.findtext("desc") or "").endswith(".")
        assert "nan" not in panel.picture.marks and "inf" not in panel.picture.marks


def test_the_interval_reaches_from_the_smallest_to_the_largest_maximum() -> None:
    cells = made_points(seeds=4)
    figure = drawn("kernels", point_subjects(cells))
    assert [text_of(p.label) for p in figure.panels] == ["load none", "load hackbench:10"]
    for panel, load in zip(figure.panels, ("none", "hackbench:10"), strict=True):
        for series in panel.data["series"]:
            own = [
                s.columns["latency_ns"].max for s, _ in cells
                if s.labels["kernel"] == series["name"] and s.labels["load"] == load
            ]  # fmt: skip
            values = dict(zip(map(text_of, series["names"]), unpack(series["x"]), strict=True))
            assert values["smallest maximum"] == min(v for v in own if v is not None)
            assert values["largest maximum"] == max(v for v in own if v is not None)
            assert 0 <= panel.picture.x.at(values["largest maximum"]) <= 1


def test_a_point_of_one_kernel_alone_is_in_one_panel() -> None:
    figure = drawn("kernels", point_subjects(made_points(("6.1",))))
    assert [text_of(p.label) for p in figure.panels] == ["All points"]
    assert [s["name"] for s in figure.panels[0].data["series"]] == ["none", "hackbench:10"]


def test_versions_stand_in_order_with_two_marks_and_by_architecture() -> None:
    figure = drawn("versions", point_subjects(made_points(SWEEP)))
    assert [text_of(p.label) for p in figure.panels] == ["amd64, load none", "amd64, load hackbench:10"]
    panel = figure.panels[0]
    assert panel.picture.x.names == ("5.10", "6.1", "6.12", "7.2")
    standard, rt = panel.data["series"]
    assert (standard["names"], rt["names"]) == (["5.10", "6.1", "6.12"], ["5.10-rt", "6.1-rt", "7.2-rt"])
    assert [int(v / 1000) for v in unpack(rt["x"])] == [0, 1, 3]
    assert [text for _, text in panel.picture.x.ticks(8)] == ["5.10", "6.1", "6.12", "7.2"]


def test_few_versions_and_kernels_with_parameters_have_no_course() -> None:
    versions = next(c for c in CHARTS if c.name == "versions")
    assert versions.draw(point_subjects(made_points(("6.1", "6.1-rt", "6.12")))) is None
    assert versions.draw(point_subjects(made_points(("5.10[a=b]", "6.1[a=b]", "6.12[a=b]")))) is None
    assert all(chart.draw([]) is None for chart in CHARTS)


def test_an_invalid_repetition_is_left_out_and_counted() -> None:
    cells = made_points(("6.1", "6.1-rt"), ("none",), 3)
    worst = max(range(3), key=lambda i: cells[i][0].columns["latency_ns"].max or 0)
    cells[worst] = (invalid(cells[worst][0], "its clock changed."), cells[worst][1])
    figure = drawn("kernels", point_subjects(cells))
    values = unpack(figure.panels[0].data["series"][0]["x"])
    assert max(values) == max(
        c.columns["latency_ns"].max or 0 for i, (c, _) in enumerate(cells[:3]) if i != worst
    )
    assert any("2 of 3" in text_of(note.text) for note in figure.panels[0].picture.notes)
    dead = [(replace(s, valid=False), b) for s, b in made_points(("6.1",), ("none",), 2)]
    assert next(c for c in CHARTS if c.name == "kernels").draw(point_subjects(dead)) is None


def test_labels_are_read_as_the_lab_writes_them() -> None:
    found = version_of("6.12-rt@arm64=6.12.3-1[preempt=lazy nohz=off]")
    assert found is not None
    assert (found.series, found.rt, found.arch) == ("6.12", True, "arm64")
    assert found.parameters == "[preempt=lazy nohz=off]"
    assert version_of("bzImage-mine") is None
