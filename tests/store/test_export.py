"""Exports: every row once, in order, with what it was measured under."""

from __future__ import annotations

import csv
from pathlib import Path

import duckdb
import pytest

from howlate.errors import DamagedError, StorageError, UsageError
from howlate.store.export import export_csv, export_parquet, export_text

from .runs import a_folder
from .streams import stream


def test_csv_has_labels_and_samples_of_every_cell(tmp_path: Path) -> None:
    run = a_folder(
        tmp_path / "run",
        {"b": stream([10, 20], [0, 2], warm_up=1), "a": stream([30])},
        {"b": {"load": "cpu:50", "cpu": "0"}, "a": {"load": 'it\'s, "odd"', "kernel": "6.1"}},
    )
    assert export_csv(run, tmp_path / "out.csv") == 3
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert [row["cell"] for row in found] == ["b", "b", "a"]
    assert [row["load"] for row in found] == ["cpu:50", "cpu:50", 'it\'s, "odd"']
    assert [row["kernel"] for row in found] == ["nan", "nan", "6.1"]
    assert [row["label_cpu"] for row in found] == ["0", "0", "nan"]
    assert [row["cpu"] for row in found] == ["0", "0", "0"]
    assert [row["release"] for row in found] == ["0", "2", "0"]
    assert [row["release_ns"] for row in found] == ["0", "2000000", "0"]
    assert [row["latency_ns"] for row in found] == ["10", "20", "30"]
    assert [row["flags"] for row in found] == ["1", "0", "0"]


def test_parquet_holds_the_same(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream(list(range(500))), "b": stream([7])})
    out = tmp_path / "out.parquet"
    assert export_parquet(run, out, ["b", "a"]) == 501
    found = duckdb.execute(f"SELECT cell, load, latency_ns FROM '{out}'").fetchall()
    assert found == [("b", "b", 7)] + [("a", "a", n) for n in range(500)]


def test_text_is_the_three_columns_of_the_study(tmp_path: Path) -> None:
    """The published line is `0.010000 13.679999 1.760000`; there is no interrupt's handler here."""
    run = a_folder(tmp_path / "run", {"a": stream([1, 13_679, 2_000_000], [0, 10, 1_234_567], warm_up=1)})
    assert export_text(run, tmp_path / "out.txt") == 2
    assert (tmp_path / "out.txt").read_text() == "0.010000 13.679000 nan\n1234.567000 2000.000000 nan\n"


def test_text_of_several_cells_is_in_blocks(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"b": stream([1000]), "a": stream([2000])})
    assert export_text(run, tmp_path / "out.txt") == 2
    expected = "# b thread 0\n0.000000 1.000000 nan\n\n\n# a thread 0\n0.000000 2.000000 nan\n"
    assert (tmp_path / "out.txt").read_text() == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "run"]


def test_a_cell_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream([1])})
    with pytest.raises(UsageError, match="no whole cell") as caught:
        export_csv(run, tmp_path / "out", ["b"])
    assert "a" in caught.value.remedy
    with pytest.raises(UsageError, match="has no whole cell"):
        export_csv(a_folder(tmp_path / "empty", {}), tmp_path / "out")


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream([1])})
    for export in (export_csv, export_parquet, export_text):
        with pytest.raises(StorageError, match="could not be written"):
            export(run, tmp_path / "missing" / "out")


def test_damaged_samples_are_a_sentence_and_leave_nothing(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream(list(range(100)))})
    samples = run.cell_path("a") / "samples.parquet"
    samples.write_bytes(samples.read_bytes()[:-30])
    for export in (export_csv, export_parquet, export_text):
        with pytest.raises(DamagedError, match="cannot be read"):
            export(run, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_samples_that_break_in_the_middle_are_not_blamed_on_the_destination(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream(list(range(5000)))})
    samples = run.cell_path("a") / "samples.parquet"
    whole = samples.read_bytes()
    samples.write_bytes(whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :])
    for export in (export_csv, export_parquet, export_text):
        with pytest.raises(DamagedError, match=r"samples\.parquet cannot be read"):
            export(run, tmp_path / "out")


def test_samples_of_something_else_are_a_sentence(tmp_path: Path) -> None:
    run = a_folder(tmp_path / "run", {"a": stream([1])})
    path = run.cell_path("a") / "samples.parquet"
    duckdb.execute(f"COPY (SELECT 1 AS other) TO '{path}' (FORMAT parquet)")
    for export in (export_csv, export_parquet, export_text):
        with pytest.raises(DamagedError, match=r"has no column|not found"):
            export(run, tmp_path / "out")
