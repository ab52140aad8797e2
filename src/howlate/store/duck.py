"""DuckDB as this project uses it: in memory, bounded, without network, with its errors classified by their
cause."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from howlate.errors import DamagedError
from howlate.store.files import check_text, looking, storage_error, unreadable
from howlate.store.tables import footer_problem
from howlate.system.opening import opened_folder
from howlate.words.printable import printable

MEMORY_LIMIT = "500MB"
THREADS = max(1, min(4, len(os.sched_getaffinity(0))))
PARQUET = "(FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd)"
"""Version 2, so that integers are delta-encoded (DELTA_BINARY_PACKED) if a dictionary is not better."""

_SEEN_MAX = 4096
_seen: set[tuple[str | int, ...]] = set()
"""The tables whose footers this process has looked at."""


_idle: list[duckdb.DuckDBPyConnection] = []
"""The database of the block before, for the next one: opening one takes longer than most blocks."""


@contextmanager
def connection(spill: Path, *, kept: bool = True) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection to a database in memory; what does not fit goes to files in a folder of random name in `spill`,
    which is removed at the end. An interrupt is one, wherever in the block DuckDB is. `kept`: the block leaves
    nothing in the database, which serves the next one unless there was an error."""
    with ExitStack() as held:
        with looking(spill):
            folder = held.enter_context(opened_folder(spill))
        spilled = f"/proc/self/fd/{folder}/.spill-{secrets.token_hex(8)}"
        try:
            database = (kept and _idle_one()) or _opened()
            closing = held.enter_context(ExitStack())
            closing.callback(database.close)
            database.execute(f"SET memory_limit = '{MEMORY_LIMIT}'; SET temp_directory = '{spilled}'")
            with database.cursor() as connected:
                # A bar would be drawn on standard output, into --json.
                connected.execute("SET enable_progress_bar = false")
                yield connected
            if kept and not _idle and not Path(spilled).exists():
                # What it keeps of files is forgotten: they may be others when it is used again.
                database.execute("SET enable_external_file_cache = false; RESET enable_external_file_cache")
                database.execute("RESET disabled_optimizers; SET temp_directory = ''")
                closing.pop_all()
                _idle.append(database)
        except RuntimeError as error:
            raise _told_of_interrupt(error) from None


def close_idle() -> None:
    """Its threads end."""
    while database := _idle_one():
        database.close()


os.register_at_fork(before=close_idle)  # a child would have the database without its threads


def _idle_one() -> duckdb.DuckDBPyConnection | None:
    with suppress(IndexError):  # as another thread may take it
        return _idle.pop()
    return None


def _opened() -> duckdb.DuckDBPyConnection:
    extensions = dict.fromkeys(("autoinstall_known_extensions", "autoload_known_extensions"), False)
    config: dict[str, str | bool | int | float | list[str]] = {"threads": THREADS, **extensions}
    return duckdb.connect(":memory:", config=config)


def disbelieve(database: duckdb.DuckDBPyConnection) -> None:
    """From now on every value is read: what a file's footer says of them spares nothing."""
    database.execute("SET disabled_optimizers = 'statistics_propagation,filter_pushdown'")


def quoted(path: Path) -> str:
    """A path as SQL text; UsageError for one that is not UTF-8."""
    check_text(path)
    return "'" + as_named(path).replace("'", "''") + "'"


def as_named(path: Path) -> str:
    """A path's text, of which DuckDB does not take "~" for the home folder."""
    text = str(path)
    return str(path.absolute()) if text.startswith("~") else text


def copy_to(out: Path, query: str, form: str) -> str:
    """SQL that writes the rows of a query into this file itself, not into a temporary one."""
    return f"COPY ({query}) TO {quoted(out)} {form.removesuffix(')')}, USE_TMP_FILE false)"


def scan(database: duckdb.DuckDBPyConnection, *paths: Path) -> str:
    """read_parquet of these files, by exactly these names (no character of them is a pattern, no folder `a=b` a
    column). DamagedError where one is none of howlate's."""
    names = []
    for path in paths:
        check_text(path)
        with reading(path):
            _check_footer(database, path)
        exact = "".join(f"[{c}]" if c in "*?[" else c for c in as_named(path))
        names.append("'" + exact.replace("'", "''") + "'")
    return f"read_parquet([{', '.join(names)}], hive_partitioning = false)"


def _check_footer(database: duckdb.DuckDBPyConnection, path: Path) -> None:
    """DamagedError for a table that howlate's writer would never make."""
    if _of_now(path) in _seen:
        return
    if problem := footer_problem(database, path):
        raise unreadable(path, problem)
    made_here(path)


def made_here(path: Path) -> None:
    """As this file is now, its footer need not be looked at."""
    if len(_seen) >= _SEEN_MAX:
        _seen.clear()
    _seen.add(_of_now(path))


def _of_now(path: Path) -> tuple[str | int, ...]:
    at = path.lstat()
    return str(path.absolute()), at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns


def arrays(database: duckdb.DuckDBPyConnection, query: str) -> dict[str, npt.NDArray[Any]]:
    return dict(database.execute(query).fetchnumpy())


def numbers(database: duckdb.DuckDBPyConnection, path: Path, query: str) -> dict[str, npt.NDArray[Any]]:
    """The columns of a query over a table of howlate's own; DamagedError unless each is a whole number in every
    row."""
    columns = arrays(database, query)
    for name, values in columns.items():
        if values.dtype.kind not in "iu" or np.ma.is_masked(values):
            raise not_a_number(path, name)
    return columns


def not_a_number(path: Path, column: str) -> DamagedError:
    return unreadable(path, f'its column "{printable(column)}" is not a whole number in every row')


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn DuckDB's and the system's errors about an unreadable file into a DamagedError about `path`."""
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise MemoryError from error
    except duckdb.Error as error:
        raise unreadable(path, _first_line(error)) from None
    except OSError as error:
        raise unreadable(path, error.strerror or error) from None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn DuckDB's error about a file that cannot be written into a StorageError about `path`."""
    try:
        yield
    except duckdb.Error as error:
        problem = failed_write(error)
        if isinstance(problem, MemoryError):
            raise problem from error
        raise storage_error(path, problem.errno, str(problem.strerror)) from None


def failed_write(error: duckdb.Error) -> OSError | MemoryError:
    """The system's error behind DuckDB's, which may name the descriptor that it wrote to instead of the file."""
    if isinstance(error, duckdb.OutOfMemoryException):
        return MemoryError()
    text = re.sub(r' "/proc/self/fd/\d+"', "", _first_line(error))
    full = "No space left" in text or "disk is full" in text.lower() or "Quota" in text
    return OSError(errno.ENOSPC if full else 0, text)


def _told_of_interrupt(error: RuntimeError) -> BaseException:
    """DuckDB handles signals while it works, and reports an interrupt with an error of its own."""
    return KeyboardInterrupt() if str(error) == "Query interrupted" else error


def _first_line(error: Exception) -> str:
    """DuckDB's message in one line; the message of an asynchronous write is JSON inside its text."""
    text = str(error).strip()
    inner = re.search(r'"exception_message":"((?:[^"\\]|\\.)*)"', text)
    if inner is not None:
        text = inner[1].replace('\\"', '"')
    return text.splitlines()[0] if text else type(error).__name__
