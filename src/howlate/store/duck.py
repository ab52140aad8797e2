"""DuckDB as this project uses it: in memory, bounded, without network, its errors told apart by who caused
them."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy.typing as npt

from howlate.errors import DamagedError
from howlate.store.files import OUT, measure_again, storage_error

MEMORY_LIMIT = "500MB"
THREADS = max(1, min(4, len(os.sched_getaffinity(0))))
PARQUET = "(FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd)"
"""Version 2 so that whole numbers are delta-encoded (DELTA_BINARY_PACKED) where a dictionary does not do
better."""


@contextmanager
def connection(spill: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory; what does not fit goes to files in the folder `spill`, and away at the end."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": THREADS,
        "memory_limit": MEMORY_LIMIT,
        "temp_directory": str(spill / ".spill"),
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    database = duckdb.connect(":memory:", config=config)
    try:
        database.execute("SET enable_progress_bar = false")  # else drawn on standard output, into --json
        yield database
    finally:
        database.close()


def quoted(path: Path) -> str:
    """A path as a SQL text."""
    return "'" + str(path).replace("'", "''") + "'"


def scan(*paths: Path) -> str:
    """read_parquet of these files, by exactly these names (no character of them is a pattern)."""
    names = []
    for path in paths:
        exact = "".join(f"[{c}]" if c in "*?[" else c for c in str(path))
        names.append("'" + exact.replace("'", "''") + "'")
    return f"read_parquet([{', '.join(names)}])"


def arrays(database: duckdb.DuckDBPyConnection, query: str) -> dict[str, npt.NDArray[Any]]:
    """A query's columns as arrays."""
    return dict(database.execute(query).fetchnumpy())


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns what DuckDB and the system say of an unreadable file into a DamagedError about `path`."""
    try:
        yield
    except RuntimeError as error:
        raise _told_of_interrupt(error) from None
    except duckdb.Error as error:
        raise DamagedError(
            f"{path} cannot be read: {_first_line(error)}", measure_again(path.parent)
        ) from None
    except OSError as error:
        raise DamagedError(
            f"{path} cannot be read: {error.strerror or error}", measure_again(path.parent)
        ) from None


@contextmanager
def writing(path: Path, option: str = OUT) -> Iterator[None]:
    """Turns what DuckDB says of a file that cannot be written into a StorageError about `path`."""
    try:
        yield
    except RuntimeError as error:
        raise _told_of_interrupt(error) from None
    except duckdb.Error as error:
        text = _first_line(error)
        full = "No space left" in text or "disk is full" in text.lower() or "Quota" in text
        raise storage_error(path, errno.ENOSPC if full else None, text, option) from None


def _told_of_interrupt(error: RuntimeError) -> BaseException:
    """DuckDB looks for signals while it works, and tells of one by an error of its own."""
    return KeyboardInterrupt() if str(error) == "Query interrupted" else error


def _first_line(error: Exception) -> str:
    """What DuckDB says, in one line; what an asynchronous write says stands inside its text as JSON."""
    text = str(error).strip()
    inner = re.search(r'"exception_message":"((?:[^"\\]|\\.)*)"', text)
    if inner is not None:
        text = inner[1].replace('\\"', '"')
    return text.splitlines()[0] if text else type(error).__name__
