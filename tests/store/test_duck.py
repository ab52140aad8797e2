"""DuckDB is quiet, bounded and reads exactly the files that it is told to."""

import errno
import os
from pathlib import Path

import duckdb
import pytest

from howlate.errors import DamagedError, StorageError
from howlate.store import duck
from howlate.store.duck import connection, disbelieve, numbers, reading, scan, writing


def test_long_queries_draw_nothing_and_load_nothing(tmp_path: Path) -> None:
    """A progress bar on standard output would stand in the middle of --json."""
    with connection(tmp_path) as database:
        for setting in ("enable_progress_bar", "autoinstall_known_extensions", "autoload_known_extensions"):
            assert database.execute(f"SELECT current_setting('{setting}')").fetchone() == (False,)


def test_a_path_is_no_pattern(tmp_path: Path) -> None:
    odd = tmp_path / "it's [ab] *?"
    (tmp_path / "it's a xy").write_bytes(b"")
    with connection(tmp_path) as database:
        database.execute("COPY (SELECT 1 AS n) TO ? (FORMAT parquet)", [str(odd)])
        assert database.execute(f"SELECT n FROM {scan(database, odd)}").fetchall() == [(1,)]


def test_a_folder_is_no_column(tmp_path: Path) -> None:
    """DuckDB takes folders `a=b` for a table's partitions, and runs/ may lie below one of a user's."""
    table = tmp_path / "kernel=6.1" / "cells" / ".load=none.part" / "cpus.parquet"
    table.parent.mkdir(parents=True)
    with connection(tmp_path) as database:
        database.execute("COPY (SELECT 1 AS n) TO ? (FORMAT parquet)", [str(table)])
        assert list(numbers(database, table, f"SELECT * FROM {scan(database, table)}")) == ["n"]


def test_errors_are_told_apart() -> None:
    with pytest.raises(DamagedError, match="x cannot be read: Invalid"), reading(Path("x")):
        raise duckdb.InvalidInputException("Invalid\nmore")
    with pytest.raises(DamagedError, match="x cannot be read"), reading(Path("x")):
        raise OSError(5, "Input/output error")
    with pytest.raises(StorageError, match="No space left") as caught, writing(Path("x")):
        raise duckdb.IOException("IO Error: Could not write: No space left on device")
    assert "room" in caught.value.remedy


def test_what_an_asynchronous_write_says_is_taken_out_of_its_json() -> None:
    inner = r'{"exception_message":"Could not write \"f\": No space left on device","errno":"28"}'
    with pytest.raises(StorageError) as caught, writing(Path("x")):
        raise duckdb.IOException(f"IO Error: Async write failed for range [offset=1]: {inner}")
    assert caught.value.statement.values["path"] == "x"
    assert caught.value.statement.values["reason"] == f'Could not write "f": {os.strerror(errno.ENOSPC)}'


def test_what_does_not_fit_is_spilled_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duck, "MEMORY_LIMIT", "48MB")
    with connection(tmp_path) as database:
        numbers = "SELECT (n * 7919) % 10000019 AS n FROM range(6000000) r(n)"
        assert database.execute(f"{numbers} ORDER BY n LIMIT 1 OFFSET 5999999").fetchone() is not None
        assert list(tmp_path.glob(".spill-*"))
    assert list(tmp_path.iterdir()) == []


def test_the_next_block_has_the_database_and_nothing_of_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It opens none, optimises again, and reads what the file holds now, though its size and times are as before."""
    table = tmp_path / "table"
    with connection(tmp_path) as database:
        disbelieve(database)
        for number in (1, 2):
            query = f"COPY (SELECT {number} AS n) TO '{tmp_path / str(number)}' (FORMAT parquet)"
            database.execute(query)
        table.write_bytes((tmp_path / "1").read_bytes())
        assert database.execute(f"SELECT n FROM {scan(database, table)}").fetchone() == (1,)
    before = table.stat()
    table.write_bytes((tmp_path / "2").read_bytes())
    os.utime(table, ns=(before.st_atime_ns, before.st_mtime_ns))
    monkeypatch.setattr(duck, "_opened", lambda: pytest.fail("a database was opened"))
    with connection(tmp_path) as database:
        assert database.execute("SELECT current_setting('disabled_optimizers')").fetchone() == ("",)
        assert database.execute(f"SELECT n FROM {scan(database, table)}").fetchone() == (2,)


def test_after_an_error_the_next_block_has_another_database(tmp_path: Path) -> None:
    with pytest.raises(KeyError), connection(tmp_path):
        raise KeyError
    assert duck._idle == []
    with connection(tmp_path) as outer, connection(tmp_path) as inner:
        outer.execute("CREATE TABLE there (n INTEGER)")
        with pytest.raises(duckdb.CatalogException):
            inner.execute("SELECT * FROM there")
    assert len(duck._idle) == 1


def test_a_child_has_no_database_of_its_parent(tmp_path: Path) -> None:
    with connection(tmp_path):
        pass
    assert len(duck._idle) == 1
    if (child := os.fork()) == 0:
        os._exit(len(duck._idle))
    assert os.waitpid(child, 0)[1] == 0
