"""A table where the terminal is too narrow for it: whole columns are left out, the less important ones first."""

import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from howlate.document.table_terminal import LABEL_WIDTH, Column, table_lines

LABELS = ["none", "hackbench:10", "a-load-of-a-long-name:100"]


def column(name: str, figure: str) -> Column:
    return name, [figure] * len(LABELS)


def lines_of(width: int, numbers: list[Column], kept: list[bool]) -> list[str]:
    return [line for line, _ in table_lines(width, [("load", LABELS)], numbers, [True] * len(LABELS), kept)]


def left_out(lines: list[str]) -> list[str]:
    told = " ".join(line.strip() for line in lines).partition("no room for: ")[2]
    return told.split("; ") if told else []


figures = st.lists(st.sampled_from(["1", "12.5", "123456.789", "-"]), min_size=1, max_size=12)


@given(figures, st.data(), st.integers(LABEL_WIDTH + 11, 200))
def test_each_column_is_whole_or_named(texts: list[str], data: st.DataObject, width: int) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts)))
    numbers = [column(f"c{i}", text) for i, text in enumerate(texts)]
    lines = lines_of(width, numbers, kept)
    assert all(cell_len(line) <= width for line in lines)
    out = {int(name[1:]) for name in left_out(lines)}
    heads = [line for line in lines if line.startswith("load ")]
    assert len(heads) == 1, "one block"
    assert re.findall(r"\bc\d+", heads[0]) == [f"c{i}" for i in range(len(texts)) if i not in out]
    shown = [texts[i] for i in range(len(texts)) if i not in out]
    assert next(line for line in lines if line.startswith("none ")).split()[1:] == shown
    weights = [(text != "-", is_kept, -i) for i, (text, is_kept) in enumerate(zip(texts, kept, strict=True))]
    assert not out or max(weights[i] for i in out) < min(weights[i] for i in {*range(len(texts))} - out)


def test_what_has_room_is_not_left_out() -> None:
    numbers = [column(f"c{i}", "123.456") for i in range(6)]
    labels = [("load", ["none", "disk"])]
    found = [
        len(left_out([line for line, _ in table_lines(width, labels, numbers, [True] * 2)]))
        for width in range(12, 53)
    ]
    assert found == [6 - n for n in (1, 2, 3, 4, 5, 6) for _width in range(8)][: len(found)]
