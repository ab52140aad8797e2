"""A distribution as one line: nothing is lost, and no column holds both sides of the deadline."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from howlate.figures.strip import BLOCKS, LETTERS, StripAxis, strip
from howlate.model.bins import Histogram

VALUES = st.lists(st.integers(-(10**6), 10**12), min_size=1, max_size=40, unique=True)


def histogram(values: list[int]) -> Histogram:
    ordered = tuple(sorted(values))
    return Histogram(ordered, tuple(v + 1 for v in ordered), (1,) * len(ordered))


def texts(axis: StripAxis, values: list[int], letters: bool = False) -> list[tuple[str, str]]:
    return strip(axis, [histogram(values)], max(values), letters=letters)


@given(VALUES, st.integers(8, 60), st.integers(0, 10**12), st.booleans())
def test_a_line_has_its_width_and_its_largest_value(
    values: list[int], width: int, deadline_ns: int, letters: bool
) -> None:
    drawn = texts(StripAxis.around(values, width, deadline_ns), values, letters)
    line = "".join(text for text, _ in drawn)
    assert cell_len(line) == width
    assert [kind for _, kind in drawn].count("max") == 1
    assert [kind for _, kind in drawn].count("deadline") == bool(deadline_ns)
    assert set(line) <= {*(LETTERS if letters else BLOCKS), " ", "X", "|", "│"}


@given(VALUES, st.integers(8, 60), st.integers(1, 10**12))
def test_the_deadline_divides_the_columns(values: list[int], width: int, deadline_ns: int) -> None:
    axis = StripAxis.around(values, width, deadline_ns)
    mark = axis.mark
    assert mark is not None
    for value in [*values, deadline_ns, deadline_ns + 1]:
        assert 0 <= axis.place(value) < width
        assert (axis.place(value) > mark) == (value > deadline_ns)


@given(VALUES, st.integers(8, 60), st.integers(0, 10**12))
def test_a_larger_value_is_never_further_left(values: list[int], width: int, deadline_ns: int) -> None:
    axis = StripAxis.around(values, width, deadline_ns)
    places = [axis.place(value) for value in sorted(values)]
    assert places == sorted(places)


def test_the_fullest_column_is_the_highest_and_one_sample_the_lowest() -> None:
    axis = StripAxis.around([1_000, 1_000_000], 30)
    many = Histogram((1_000, 10_000, 1_000_000), (1_008, 10_064, 1_000_001), (5_000, 1, 1))
    assert strip(axis, [many], 1_000_000) == [
        ("█" + " " * 9 + "▁" + " " * 18, "in time"),
        ("X", "max"),
    ]


def test_decades_stand_where_they_are() -> None:
    assert StripAxis.around([1_000, 10_000_000], 40).ticks() == "1us       10us      100us     1ms"
    assert StripAxis.around([1_000, 5_000], 20).ticks() == "        2us      4us"
