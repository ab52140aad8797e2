"""What a summary costs: how often the samples are read for it."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from howlate.statistics.bins.histogram import shift_of
from howlate.statistics.describe import ValueCounts
from howlate.store import duck, summarise
from howlate.store.ingest import ingest
from howlate.store.run_folder import SAMPLES

from .runs import a_folder
from .streams import stream

FROM_THE_FOOTER = re.compile(
    r"DESCRIBE|SELECT min\(\w+\), max\(\w+\) FROM read_parquet\([^)]*\)$"
    r"|SELECT 1 FROM read_parquet\([^)]*\) WHERE \w+ IS NULL LIMIT 1$"
)
"""The last one is empty by the footer's count of NULLs (see EXPLAIN)."""


class Counted:
    """A database that notes the queries that read rows of the samples."""

    def __init__(self, database: duckdb.DuckDBPyConnection, passes: list[str]) -> None:
        self._database, self._passes = database, passes

    def execute(self, query: str, *values: Any) -> duckdb.DuckDBPyConnection:
        if SAMPLES in query and not FROM_THE_FOOTER.match(" ".join(query.split())):
            self._passes.append(query)
        return self._database.execute(query, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


def counting(passes: list[str]) -> Callable[[Path], AbstractContextManager[Counted]]:
    """A connection whose database notes them there."""
    real = duck.connection

    @contextmanager
    def counted(spill: Path) -> Iterator[Counted]:
        with real(spill) as database:
            yield Counted(database, passes)

    return counted


def passes_over(
    samples: Sequence[int], path: Path, monkeypatch: pytest.MonkeyPatch, warm_up: int = 0
) -> list[str]:
    passes: list[str] = []
    monkeypatch.setattr(summarise, "connection", counting(passes))
    monkeypatch.setattr(summarise, "PASS_BYTES", 0)  # as of a large file
    a_folder(path, {"x": stream(list(samples), warm_up=warm_up)})
    return passes


def test_a_column_is_read_for_counts_maximum_time_and_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And once for its largest values, which are few, and once for each thread's first release. None looks at flags
    of which all are 0."""
    passes = passes_over(range(1, 3000), tmp_path / "run", monkeypatch)
    assert len(passes) <= 5, passes
    assert not any("flags" in query for query in passes)


def test_samples_of_others_are_looked_at_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which nothing is believed: one for what every column holds, one for the order of the releases, one for the
    values and one for those beyond the deadline."""
    folder = a_folder(tmp_path / "run", {"x": stream(list(range(1, 3000)))})
    passes: list[str] = []
    monkeypatch.setattr(summarise, "connection", counting(passes))
    summarise.recounted(folder.files("x"), folder.summary("x"), 2_990)
    assert len(passes) == 4, passes


def test_no_footer_of_what_was_just_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object, path: Path) -> str:
        return f"{path} was looked at"

    monkeypatch.setattr(duck, "footer_problem", refuse)
    (tmp_path / "stream").write_bytes(stream(list(range(1, 300))))
    ingest(tmp_path / "stream", tmp_path)
    assert summarise.summarise(tmp_path, "x", {}).columns["latency_ns"].count == 299


def test_warm_up_is_left_out_where_there_is_any(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = passes_over([9000, *range(1, 300)], tmp_path / "run", monkeypatch, warm_up=1)
    assert all("flags" in query for query in passes)


@pytest.mark.parametrize("seed", range(3))
def test_every_value_is_shortened_to_eight_bits(seed: int) -> None:
    """Whether its power of two is among the frequent ones or not, negative or beyond 2^31."""
    random = np.random.default_rng(seed)
    spread = np.exp2(random.uniform(0, 48, 400)).astype(np.int64)
    edges = np.concatenate([np.array([1 << n, (1 << n) - 1]) for n in range(1, 49)])
    values = np.concatenate([spread, edges, -edges, [0]]).astype(np.int64)
    query = f"SELECT v, ({shift_of('v', ValueCounts.of(values))})::BIGINT AS s FROM found"
    with duckdb.connect() as database:
        database.register("found", {"v": values})
        rows = database.execute(query).fetchall()
    assert len(rows) == len(values)
    assert [s for v, s in rows] == [max(0, abs(v).bit_length() - 8) for v, s in rows]
