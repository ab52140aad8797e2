"""SQL over runs: the tables hold what the folders do, and nothing but a SELECT is answered."""

import re
from pathlib import Path

import pytest

from howlate.errors import UsageError
from howlate.history.catalogue import read_catalogue
from howlate.history.query import TABLES, SqlAnswer, ask, column_of
from howlate.system.paths import ROOT
from store.runs import a_folder
from store.streams import stream


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    place = tmp_path / "it's [here]"
    a_folder(place / "a", {"none": stream([5, 1, 3])})
    a_folder(place / "b", {"none": stream([7, 1]), "cpu-50": stream([9, 2])}, {"cpu-50": {"board": "left"}})
    return place


def asked(sql: str, *places: Path) -> list[tuple[object, ...]]:
    return ask(sql, read_catalogue(places, index=False).runs).rows


def test_runs_cells_and_statistics_join(runs: Path) -> None:
    sql = "SELECT run, cell, max_ns, study FROM runs JOIN statistics USING (run) ORDER BY max_ns"
    assert asked(sql, runs) == [
        ("a", "none", 5, "test"),
        ("b", "none", 7, "test"),
        ("b", "cpu-50", 9, "test"),
    ]
    of_one = "SELECT labels['board'], load FROM cells WHERE cell = 'cpu-50'"
    assert asked(of_one, runs) == [("left", None)]


def test_samples_are_those_of_the_files(runs: Path) -> None:
    sql = "SELECT run, cell, list(latency_ns ORDER BY release) FROM samples GROUP BY ALL ORDER BY ALL"
    assert asked(sql, runs) == [
        ("a", "none", [5, 1, 3]),
        ("b", "cpu-50", [9, 2]),
        ("b", "none", [7, 1]),
    ]
    assert asked("SELECT count(*) FROM samples", runs / "a") == [(3,)]


def test_folders_of_one_name_are_told_apart_by_their_paths(runs: Path, tmp_path: Path) -> None:
    a_folder(tmp_path / "others" / "a", {"none": stream([8])})
    names = {row[0] for row in asked("SELECT run FROM runs", runs, tmp_path / "others")}
    assert names == {str(runs / "a"), "b", str(tmp_path / "others" / "a")}


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("", "not: nothing"),
        ("SELEC 1", "syntax error"),
        ("SELECT nothing FROM runs", "nothing"),
        ("SELECT * FROM rums", '"runs"'),
        ("SELECT 1; SELECT 2", "not: SELECT, SELECT"),
        ("COPY runs TO 'x.csv'", "not: COPY"),
        ("EXPLAIN ANALYZE COPY runs TO 'x.csv'", "not: EXPLAIN"),
        ("CREATE TABLE x (i INTEGER)", "not: CREATE"),
        ("SET threads = 1", "not: SET"),
        ("ATTACH 'x.db'", "not: ATTACH"),
        ("SELECT CAST(run AS INTEGER) FROM runs", "Could not convert"),
        ("SELECT * FROM range(100000000000)", "more than 1,000,000 rows"),
        ("SELECT started::TIMESTAMPTZ AS t FROM runs", "t would be a time with a zone"),
        ("SELECT run, [now()] AS many FROM runs", "many would be a time with a zone"),
    ],
)
def test_anything_but_a_right_select_is_a_sentence(
    runs: Path, sql: str, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match=re.escape(part)) as raised:
        asked(sql, runs)
    assert "\n" not in str(raised.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_remedies_of_a_time_with_a_zone_work(runs: Path) -> None:
    for remedy in ("::VARCHAR", " AT TIME ZONE 'UTC'"):
        assert asked(f"SELECT (started::TIMESTAMPTZ){remedy} FROM runs", runs)


def test_samples_that_are_damaged_are_none_that_a_query_sees(runs: Path) -> None:
    samples = runs / "a" / "cells" / "none" / "samples.parquet"
    others = asked("SELECT sum(latency_ns) FROM samples WHERE run = 'b'", runs)
    samples.write_bytes(b"x" * samples.stat().st_size)
    assert asked("SELECT sum(latency_ns) FROM samples", runs) == others
    assert asked("SELECT count(*) FROM runs", runs) == [(2,)]


def test_runs_without_samples_are_a_sentence(runs: Path) -> None:
    (runs / "a" / "cells" / "none" / "samples.parquet").unlink()
    with pytest.raises(UsageError, match="none of these runs has samples"):
        asked("SELECT * FROM samples", runs / "a")


def test_quantiles_are_columns_by_their_percentage() -> None:
    names = ["max", "0.5", "0.99", "0.999", "0.99999"]
    assert list(map(column_of, names)) == ["max_ns", "p50_ns", "p99_ns", "p99_9_ns", "p99_999_ns"]


@pytest.mark.parametrize("table", TABLES)
def test_the_page_has_every_column_with_its_type(table: str) -> None:
    text = (ROOT / "docs" / "query.md").read_text(encoding="utf-8")
    section = text.partition(f"\n### {table}\n")[2].partition("\n#")[0]
    rows = re.findall(r"^\| (\w+) \| ([A-Z]+(?:\(.*?\))?) \|", section, re.MULTILINE)
    assert dict(rows) == dict(TABLES[table])
    answered = ask(f"SELECT * FROM {table}", ())
    assert answered == SqlAnswer(tuple(TABLES[table]), [])
