"""The scatter: bands are seen, nothing is left out, a picture stays small."""

import base64
import itertools
import re
import zlib

import numpy as np

from howlate.charts.scatter import BODY, draw, ticks, up
from howlate.figures.figure import Subject
from howlate.model.bins import CellBins, Tail, TimeBlocks
from howlate.words.say import text_of
from made_cells import Int64s, histogram_of, made_cell, scatter_of


def subject(values: Int64s, column: str = "delay_ns") -> Subject:
    nothing = TimeBlocks((), 0.0, (), (), (), ())
    bins = CellBins(column, histogram_of(values), nothing, Tail((), ()), (), scatter_of(values))
    return Subject("none", made_cell("none", n=100)[0], bins)


def banded(n: int = 100_000) -> Int64s:
    random = np.random.default_rng(1)
    values = 1_300 + 250 * random.integers(0, 4, n) + random.integers(0, 20, n)
    values[:: n // 50] = 900_000
    return values.astype(np.int64)


def opacities(uri: str) -> list[list[int]]:
    """The picture's rows, from the top."""
    data = base64.b64decode(uri.partition(",")[2])
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    begin = data.index(b"IDAT")
    length = int.from_bytes(data[begin - 4 : begin], "big")
    raw = zlib.decompress(data[begin + 4 : begin + 4 + length])
    return [list(raw[r * (width + 1) + 1 : (r + 1) * (width + 1)]) for r in range(height)]


def test_bands_are_rows_with_empty_rows_between() -> None:
    figure = draw([subject(banded())])
    assert figure is not None
    images = re.findall(r'href="([^"]+)"', figure.panels[0].picture.marks)
    assert len(images) == 2
    body = [any(row) for row in opacities(images[0])]
    edges = sum(a != b for a, b in itertools.pairwise(body))
    assert edges == 6, "four bands, apart"
    assert any(any(row) for row in opacities(images[1]))


def test_the_largest_is_named_where_it_came() -> None:
    values = banded()
    values[70_000] = 5_000_000
    figure = draw([subject(values)])
    assert figure is not None
    note = figure.panels[0].picture.notes[0]
    assert "5.00" in text_of(note.text) and abs(note.x - 0.7) < 0.01
    scatter = scatter_of(values)
    assert scatter is not None
    assert BODY < up(scatter, scatter.high_ns) < 1


def test_ticks_do_not_lie_upon_each_other() -> None:
    for values in (banded(), np.full(100, 5, np.int64), np.array([-40, 0, 7] * 50 + [10**9], np.int64)):
        scatter = scatter_of(values)
        assert scatter is not None
        places = sorted(place for place, _ in ticks(scatter))
        assert places and all(0 <= place <= 1 for place in places)
        assert all(b - a > 0.07 for a, b in itertools.pairwise(places))


def test_a_picture_of_noise_stays_small() -> None:
    random = np.random.default_rng(2)
    figure = draw([subject(random.integers(0, 10**6, 200_000))])
    assert figure is not None
    assert len(figure.panels[0].picture.marks) < 100_000


def test_without_an_index_nothing_is_drawn() -> None:
    bins = CellBins("dt_ns", histogram_of(banded()), TimeBlocks((), 0.0, (), (), (), ()), Tail((), ()), ())
    assert draw([Subject("none", made_cell("none", n=100)[0], bins)]) is None
