"""The grid of a scatter: every value in a row, bands apart, the largest inside."""

import duckdb
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from howlate.statistics.bins.scatter import BEYOND, COLUMNS, LINEAR, grid, row_of
from howlate.statistics.describe import ValueCounts


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=60), st.integers(1, 10**9))
def test_every_value_has_a_row_and_every_index_a_column(values: list[int], indices: int) -> None:
    counts = ValueCounts.of(values)
    where = grid(counts, indices)
    assert where is not None
    assert (indices - 1) // where.per_column < where.columns <= COLUMNS
    assert where.rows <= LINEAR + BEYOND
    rows = "[" + ", ".join(f"({row_of(where, f'{v}::BIGINT')})::BIGINT" for v in sorted(set(values))) + "]"
    found = duckdb.execute(f"SELECT {rows}").fetchall()[0][0]
    assert found == sorted(found)
    assert found[0] == 0 and max(found) < where.rows


def test_bands_of_a_clock_of_24_mhz_lie_in_rows_of_their_own() -> None:
    """What the thesis found under load: steps of 41.667 ns from 1.3 to 5 us, with a few values far beyond."""
    bands = np.repeat([round(1_300 + step * 41.667) for step in range(89)], 100)
    where = grid(ValueCounts.of(np.concatenate([bands, [10**7, 2 * 10**7]])), len(bands) + 2)
    assert where is not None
    rows = {
        (int(v) - where.low_ns) * where.linear // (where.knee_ns - where.low_ns + 1)
        for v in bands
        if v <= where.knee_ns
    }
    assert len(rows) == len({int(v) for v in bands if v <= where.knee_ns})


def test_there_is_no_grid_of_nothing() -> None:
    assert grid(ValueCounts.of([]), 10) is None
    assert grid(ValueCounts.of([1]), 0) is None


def test_values_that_lie_together_need_one_scale() -> None:
    where = grid(ValueCounts.of(list(range(100))), 100)
    assert where is not None
    assert (where.rows, where.linear, where.knee_ns) == (100, 100, 99)


@given(st.lists(st.integers(-(2**55), 2**55), min_size=1, max_size=60))
def test_linear_rows_are_exact_quotients(values: list[int]) -> None:
    """In 64 bits where they are enough, else in 128."""
    where = grid(ValueCounts.of(values), 1)
    assert where is not None
    low = [value for value in values if value <= where.knee_ns]
    rows = "[" + ", ".join(f"({row_of(where, f'{value}::BIGINT')})::BIGINT" for value in low) + "]"
    found = duckdb.execute(f"SELECT {rows}").fetchall()[0][0]
    assert found == [
        (value - where.low_ns) * where.linear // (where.knee_ns - where.low_ns + 1) for value in low
    ]


def test_values_below_zero_have_no_logarithm() -> None:
    """Answers before their releases: a kernel beside Linux that programs its timers ahead."""
    values = [-3000] * 500 + [-2900, -40]
    where = grid(ValueCounts.of(values), len(values))
    assert where is not None
    assert (where.low_ns, where.knee_ns, where.high_ns) == (-3000, -40, -40)
    assert where.rows == where.linear


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=5))
def test_rare_values_of_both_signs_have_rows_too(rare: list[int]) -> None:
    """99 % before their releases, and a few after them: the logarithm begins above zero."""
    where = grid(ValueCounts.of([-660, -600] * 500 + rare), 1_005)
    assert where is not None
    values = sorted({-660, -600, *rare})
    rows = "[" + ", ".join(f"({row_of(where, f'{v}::BIGINT')})::BIGINT" for v in values) + "]"
    found = duckdb.execute(f"SELECT {rows}").fetchall()[0][0]
    assert found == sorted(found) and found[0] == 0 and max(found) < where.rows
    assert where.rows == where.linear or where.knee_ns >= 0
