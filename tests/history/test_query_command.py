"""`howlate query`: the answer in three forms, and what is damaged on standard error."""

import csv
import io
import json
from pathlib import Path

import pytest

from cli.commands import Run, is_a_sentence
from store.runs import a_folder
from store.streams import stream

SQL = "SELECT cell, max_ns, mean_ns, NULL AS nothing FROM statistics ORDER BY cell"


@pytest.fixture
def runs(howlate: Run) -> Path:
    """Below the working folder."""
    a_folder(Path("runs") / "a", {"none": stream([5, 2])})
    a_folder(Path("runs") / "b", {"cpu-50": stream([7, 1])})
    return Path("runs")


def test_the_answer_is_a_table_json_or_csv(howlate: Run, runs: Path) -> None:
    assert [line.split() for line in howlate("query", SQL).out.splitlines()] == [
        ["cell", "max_ns", "mean_ns", "nothing"],
        ["cpu-50", "7", "4", "–"],
        ["none", "5", "3.5", "–"],
    ]
    value = json.loads(howlate("query", SQL, "--json").out)
    assert value["columns"] == ["cell", "max_ns", "mean_ns", "nothing"]
    assert value["rows"] == [["cpu-50", 7, 4.0, None], ["none", 5, 3.5, None]]
    rows = list(csv.reader(io.StringIO(howlate("query", SQL, "--csv", runs / "b").out)))
    assert rows == [["cell", "max_ns", "mean_ns", "nothing"], ["cpu-50", "7", "4.0", ""]]


def test_times_and_maps_are_texts_in_json(howlate: Run, runs: Path) -> None:
    sql = "SELECT started, labels FROM runs JOIN cells USING (run) WHERE run = 'a'"
    assert json.loads(howlate("query", sql, "--json").out)["rows"] == [
        ["2026-01-02 03:04:05", {"load": "none"}]
    ]


def test_a_damaged_run_is_named_and_the_others_answer(howlate: Run, runs: Path) -> None:
    (runs / "a" / "run.json").write_text("{}")
    answered = howlate("query", SQL, "--csv")
    assert (answered.code, answered.out.count("\n")) == (4, 2)
    assert "! runs/a is left out: " in answered.err


@pytest.mark.parametrize("how", ["gone", "cut", *range(8)])
def test_a_cell_whose_samples_changed_is_named_by_a_query_about_samples(
    howlate: Run, runs: Path, how: str | int
) -> None:
    """A number: so many eighths of the file on, one bit is another one; Parquet alone would not say so."""
    samples = runs / "a" / "cells" / "none" / "samples.parquet"
    whole = samples.read_bytes()
    samples.unlink()
    if how == "cut":
        samples.write_bytes(whole[:-1])
    elif isinstance(how, int):
        at = len(whole) * how // 8
        samples.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    answered = howlate("query", "SELECT cell, count(*) FROM samples GROUP BY cell", "--csv")
    assert (answered.code, answered.out.splitlines()[1:]) == (4, ["cpu-50,2"])
    assert "! runs/a/cells/none is left" in answered.err
    other = howlate("query", SQL)
    assert (other.code, "cells/none" in other.err) == ((0, False) if how == "gone" else (4, True))


@pytest.mark.parametrize(
    "argv", [("SELECT",), ("DROP TABLE runs",), (SQL, "--json", "--csv"), (SQL, "nowhere")]
)
def test_what_is_wrong_is_a_sentence(howlate: Run, runs: Path, argv: tuple[str, ...]) -> None:
    answered = howlate("query", *argv)
    assert answered.code == 2
    assert is_a_sentence(answered.err)


def test_a_long_answer_is_cut_in_the_terminal_alone(howlate: Run, runs: Path) -> None:
    sql = "SELECT unnest(range(300)) AS n FROM runs WHERE run = 'a'"
    answered = howlate("query", sql)
    assert len(answered.out.splitlines()) == 201
    assert "100 more rows" in answered.err
    assert len(howlate("query", sql, "--csv").out.splitlines()) == 301
