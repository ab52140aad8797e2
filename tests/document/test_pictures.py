"""Charts as files of their own: whole, readable without the page, and drawn by what the system has."""

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from howlate.document import pictures
from howlate.document.html import asset
from howlate.document.pictures import figures_of, rasteriser, svg_of, write_pictures
from howlate.errors import NotPossibleError, StorageError, TargetError, UsageError
from howlate.figures.figure import Figure
from howlate.model.loaded import RunContent
from howlate.words.say import text_of
from lacks import skip
from made_points import made_points, virtual_run
from made_runs import five_cells, made_run
from made_trace import late_samples

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def lab() -> RunContent:
    return virtual_run(made_points(n=300))


def test_every_chart_is_a_picture_that_needs_nothing_else(lab: RunContent) -> None:
    found = dict(figures_of([lab]))
    assert {"matrix", "tails", "multiples", "multiples-own", "kernels", "histogram", "course", "tail"} <= set(
        found
    )
    for figure in found.values():
        text, (width, height) = svg_of(figure, "a note")
        root = ElementTree.fromstring(text)
        assert (root.get("width"), root.get("height")) == (str(width), str(height))
        assert "var(--" not in text and "display: none" not in text and "<script" not in text
        outside = re.findall(r'(?:href|url\()="?(?!data:|#)[^")]+', text)
        assert outside == []
        words = " ".join(t.text or "" for t in root.iter(f"{SVG}text"))
        assert text_of(figure.title) in words and "A note." in words
        assert all(text_of(key.text) in words for key in figure.keys)
        reading = " ".join(text_of(figure.reading).split())
        assert reading[:40] in words


def test_nothing_of_a_picture_lies_below_its_edge(lab: RunContent) -> None:
    for figure in dict(figures_of([lab])).values():
        text, (_, height) = svg_of(figure)
        placed = ElementTree.fromstring(text).findall(f"{SVG}g/{SVG}svg")
        assert len(placed) == len(figure.panels)
        ends = [float(p.get("y", "")) + float(p.get("height", "")) for p in placed]
        assert max(ends) + 26 < height


def test_panels_of_the_grid_stand_side_by_side(lab: RunContent) -> None:
    figure = dict(figures_of([lab]))["multiples"]
    assert isinstance(figure, Figure) and figure.columns == 3
    placed = ElementTree.fromstring(svg_of(figure)[0]).findall(f"{SVG}g/{SVG}svg")
    assert [p.get("y") for p in placed[:3]] == [placed[0].get("y")] * 3
    assert len({p.get("x") for p in placed}) == 3


def test_the_files_are_named_by_their_chart(tmp_path: Path) -> None:
    written = write_pictures([made_run(five_cells(300))], tmp_path / "pictures", "svg")
    assert {"histogram.svg", "course.svg", "tail.svg", "overview.svg"} <= {path.name for path in written}
    assert all(path.read_text().startswith("<svg ") for path in written)
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError) as caught:
        write_pictures([made_run(five_cells(300))], tmp_path / "file" / "pictures", "svg")
    assert "-o" in caught.value.remedy and "--out" not in caught.value.remedy
    with pytest.raises(UsageError, match="no chart to draw"):
        write_pictures([RunContent(made_run([]).run, ())], tmp_path / "none", "svg")


def test_pictures_of_late_samples_have_their_colours_and_link_to_no_other_file() -> None:
    run = made_run(five_cells(300)[:1])
    traced = replace(run, cells=(replace(run.cells[0], trace=late_samples(6)),))
    found = dict(figures_of([traced]))
    coloured = re.findall(r"\.([\w-]+) { color: ", asset("page.css"))
    for name in ("course", "causes"):
        text = svg_of(found[name])[0]
        style, _, drawn = text.partition("</style>")
        used = {word for classes in re.findall(r'class="([^"]*)"', drawn) for word in classes.split()}
        series = {word for word in used & set(coloured) if word.startswith("c") or word == "rest"}
        assert {word for word in series if f".{word} {{ color: #" not in style} == set()
        assert "c-case" in used or name == "causes"
        assert "href=" not in drawn


def test_a_program_that_does_not_end_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "rsvg-convert"
    slow.write_text("#!/bin/sh\nexec sleep 1000\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(pictures, "PATIENCE_S", 0.2)
    with pytest.raises(TargetError, match=r"rsvg-convert drew nothing: .* 0\.2 s") as caught:
        write_pictures([made_run(five_cells(100)[:1])], tmp_path / "pictures", "png", only=["histogram"])
    assert "svg" in caught.value.remedy


def test_without_a_program_png_is_not_possible(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotPossibleError, match="no installed program draws PNG"):
        write_pictures([made_run(five_cells(100)[:1])], tmp_path / "pictures", "png")
    assert not (tmp_path / "pictures").exists()


def test_png_is_twice_as_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        rasteriser()
    except NotPossibleError as problem:
        skip(f"a program that makes PNG of SVG ({problem.message})", "apt-get install librsvg2-bin")
    one = next(item for item in figures_of([made_run(five_cells(100)[:1])]))
    monkeypatch.setattr(pictures, "figures_of", lambda *_, **__: iter([one]))
    (path,) = write_pictures([made_run(five_cells(100)[:1])], tmp_path, "png")
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    _, (width, height) = svg_of(one[1])
    size = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    assert size == (2 * width, 2 * height)
