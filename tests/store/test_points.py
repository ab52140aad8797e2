"""Tests of data points: the columns are the stream's own, and each that is a time gets its statistics."""

import io
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from howlate.errors import DamagedError
from howlate.model.bins import CellBins
from howlate.model.summary import CellSummary
from howlate.store.files import read_json
from howlate.store.ingest import ingest
from howlate.store.summarise import summarise
from howlate.words.say import english
from made_cells import scatter_of
from store.streams import StreamWriter

from .streams import account, header, points_stream, trailer


def a_cell(folder: Path, data: bytes) -> CellSummary:
    (folder / "stream").write_bytes(data)
    ingest(folder / "stream", folder)
    return summarise(folder, "c", {"load": "none"})


def test_the_samples_have_the_columns_of_the_test_and_no_others(tmp_path: Path) -> None:
    a_cell(tmp_path, points_stream({"cs1_ns": [5, 6], "wait_ns": [7, 8]}, time_ns=[0, 10]))
    found = duckdb.execute(f"SELECT * FROM '{tmp_path / 'samples.parquet'}'")
    names = [column[0] for column in found.description or ()]
    assert names == ["thread", "cpu", "index", "time_ns", "cs1_ns", "wait_ns", "flags"]
    assert found.fetchall() == [(0, 1, 0, 0, 5, 7, 0), (0, 1, 1, 10, 6, 8, 0)]


def test_every_time_that_is_measured_gets_its_statistics(tmp_path: Path) -> None:
    data = points_stream(
        {"cs1_ns": [900, 10, 30], "count": [1, 2, 3], "cs2_ns": [0, 0, -4]},
        time_ns=[0, 2_000_000_000, 3_000_000_000],
        flags=[1, 0, 2],
        trailer_changes={"outcomes": {"passes": 3, "failures": 0, "above_ns": 25, "without_ns": 1.5}},
    )
    summary = a_cell(tmp_path, data)
    assert (summary.valid, summary.warnings) == (True, ())
    assert list(summary.columns) == ["cs1_ns", "cs2_ns"]
    one, other = summary.columns["cs1_ns"], summary.columns["cs2_ns"]
    assert (one.count, one.min, one.mean, one.max, one.max_at_s) == (2, 10, 20.0, 30, 3.0)
    assert one.stddev == pytest.approx(200**0.5)
    assert (other.min, other.max, other.max_at_s) == (-4, 0, 2.0)
    assert one.period_exceeded is None
    assert summary.outcomes == {"passes": 3, "failures": 0, "above_ns": 25, "without_ns": 1.5}
    assert CellSummary.from_json(read_json(tmp_path / "summary.json")) == summary


def test_points_that_were_wanted_and_not_had_are_overruns(tmp_path: Path) -> None:
    summary = a_cell(tmp_path, points_stream({"dt_ns": [5, 6, 7]}, index=[0, 3, 4], wanted=9))
    own = summary.accounting
    assert (own.releases, own.recorded, own.overruns, own.dropped) == (9, 3, 6, 0)
    assert (summary.valid, summary.columns["dt_ns"].max_at_s) == (True, None)


def test_an_index_that_goes_back_is_no_account(tmp_path: Path) -> None:
    summary = a_cell(tmp_path, points_stream({"dt_ns": [5, 6, 7]}, index=[0, 4, 2], wanted=5))
    assert not summary.valid
    assert "not strictly increasing" in english(summary.warnings[0])


def test_a_wait_that_saw_nothing_until_its_end_is_a_result(tmp_path: Path) -> None:
    """No gap in 30 minutes is what one hopes for; a test that was to make points and made none has failed."""
    nothing: dict[str, Any] = {"duration_ns": []}
    waited = points_stream(nothing, wanted=10, trailer_changes={"stop_reason": "duration"})
    summary = a_cell(tmp_path, waited)
    assert summary.valid
    assert summary.columns["duration_ns"].count == 0
    (tmp_path / "other").mkdir()
    assert not a_cell(tmp_path / "other", points_stream(nothing, wanted=10)).valid


def test_samples_without_anything_measured_are_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(DamagedError, match="no column of i64"):
        a_cell(tmp_path, points_stream({"count": [1, 2]}))


def test_every_column_has_its_pictures(tmp_path: Path) -> None:
    """The grid that the database counts is the one that counting sample by sample gives."""
    random = np.random.default_rng(7)
    bands = 1_300 + 41_667 * random.integers(0, 9, 5_000) // 1_000
    late = np.where(random.random(5_000) < 0.003, random.integers(10**5, 10**7, 5_000), bands)
    flat = np.zeros(5_000, np.int64)
    flat[17] = 4_000_000
    data = points_stream({"delay_ns": late.tolist(), "dt_ns": flat.tolist()}, time_ns=list(range(5_000)))
    a_cell(tmp_path, data)
    bins = CellBins.from_json(read_json(tmp_path / "bins.json"))
    assert bins.column == "delay_ns"
    assert bins.scatter == scatter_of(late.astype(np.int64))
    other = bins.of("dt_ns")
    assert other is not None and other.scatter == scatter_of(flat)
    assert other.histogram.counts == (4_999, 1)
    assert sum(other.blocks.counts) == 5_000 and max(other.blocks.max_ns) == 4_000_000
    held = read_json(tmp_path / "bins.json")
    del held["others"][0]["blocks"]  # as an older howlate wrote it
    old = CellBins.from_json(held).of("dt_ns")
    assert old is not None and old.blocks.start_s == () and old.scatter == other.scatter
    assert bins.of("cs1_ns") is None


def test_a_million_points_stay_small(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    values = (random.lognormal(3, 0.2, 10**6)).astype(np.int64)
    summary = a_cell(tmp_path, points_stream({"dt_ns": values.tolist()}, time_ns=np.cumsum(values).tolist()))
    assert summary.columns["dt_ns"].count == 10**6
    bins = CellBins.from_json(read_json(tmp_path / "bins.json"))
    assert bins.scatter is not None
    assert sum(bins.scatter.counts) == 10**6
    assert max(bins.scatter.largest_ns) == int(values.max())
    assert len(bins.scatter.cells) <= bins.scatter.columns * bins.scatter.rows <= 400 * 240
    assert (tmp_path / "bins.json").stat().st_size < 10**6


def test_threads_of_points_stand_one_after_the_other(tmp_path: Path) -> None:
    columns = [{"name": "index", "type": "i64"}, {"name": "dt_ns", "type": "i64"}]
    tables = [{"id": n, "name": "samples", "cpu": n, "thread": n, "columns": columns} for n in (0, 1)]
    out = io.BytesIO()
    writer = StreamWriter(out, header(test="made", parameters={}, tables=tables))
    for thread in (1, 0):
        writer.batch(thread, {"index": [0, 1], "dt_ns": [thread, 10 + thread]}, releases=2)
    accounts = [account(n, [], []) | {"releases": 2, "recorded": 2} for n in (0, 1)]
    writer.trailer(trailer(accounts))
    assert a_cell(tmp_path, out.getvalue()).valid
    query = f"SELECT thread, index, dt_ns FROM '{tmp_path / 'samples.parquet'}'"
    assert duckdb.execute(query).fetchall() == [(0, 0, 0), (0, 1, 10), (1, 0, 1), (1, 1, 11)]
    bins = CellBins.from_json(read_json(tmp_path / "bins.json"))
    assert bins.scatter is not None and sum(bins.scatter.counts) == 4
