"""The user's own SQL: it ends at a signal, wherever DuckDB is, and takes no more memory than it may."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from howlate.history.query import MEMORY_BYTES
from processes import environment, until
from store.runs import a_folder
from store.streams import stream

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
STARTED_S = 2.0
"""Of CPU time: by then the query is being answered."""
ENDED_S = 1.0
"""Of CPU time, from the signal on."""
LONG = {
    "one operation": "SELECT levenshtein(repeat('a', 150000), repeat('b', 150000))",
    "rows": "SELECT count(*) FROM range(100000000000)",
    "a product": "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b",
    "a recursion": "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
    "a pipe": "SELECT * FROM read_csv('pipe', columns = {'a': 'VARCHAR'}, auto_detect = false)",
}
LARGE = {
    "a text": "SELECT repeat('x', 3000000000)",
    "texts": "SELECT string_agg(repeat('x', 10000000), '') FROM range(1000)",
    "a list": "SELECT length(list_sort(range(400000000)))",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    a_folder(tmp_path / "run", {"none": stream([1000, 2000])})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "tmp").mkdir()
    return tmp_path


@contextmanager
def asked(sql: str, place: Path) -> Iterator[subprocess.Popen[str]]:
    env = environment(TMPDIR=str(place / "tmp"))
    words = [sys.executable, "-P", "-m", "howlate", "query", sql, "run"]
    with subprocess.Popen(words, cwd=place, env=env, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def is_waiting(process: subprocess.Popen[str], place: Path) -> bool:
    """For somebody who writes to the pipe."""
    held = [os.path.realpath(path) for path in Path(f"/proc/{process.pid}/fd").iterdir()]
    waits = [path.read_text() for path in Path(f"/proc/{process.pid}/task").glob("*/wchan")]
    return str(place / "pipe") in held or "wait_for_partner" in waits


def is_answering(process: subprocess.Popen[str], what: str, place: Path) -> bool:
    return is_waiting(process, place) if what == "a pipe" else cpu_s(process.pid) > STARTED_S


@pytest.mark.parametrize(
    "what",
    [name if name == "one operation" else pytest.param(name, marks=pytest.mark.sweep) for name in LONG],
)
def test_a_signal_ends_a_query_wherever_it_is(what: str, place: Path) -> None:
    with asked(LONG[what], place) as process:
        assert until(lambda: is_answering(process, what, place) or process.poll() is not None)
        assert process.poll() is None
        before_s = cpu_s(process.pid)
        process.send_signal(signal.SIGTERM)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.stderr is not None
        assert (process.returncode, process.stderr.read().lstrip()) == (5, "howlate: interrupted.\n")
        assert used.ru_utime + used.ru_stime - before_s < ENDED_S
        assert not list((place / "tmp").iterdir())


@pytest.mark.parametrize(
    "what", [name if name == "a text" else pytest.param(name, marks=pytest.mark.sweep) for name in LARGE]
)
def test_a_query_takes_no_more_memory_than_it_may(what: str, place: Path) -> None:
    with asked(LARGE[what], place) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.stderr is not None
        assert process.returncode == 2 and "2,048 MiB" in process.stderr.read()
        assert used.ru_maxrss << 10 < MEMORY_BYTES + (1 << 30)
