"""Who may only read a run cannot hold up who measures into it."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from howlate.store.lock import LOCK, locked
from lacks import needs_root

from .commands import Run

NOBODY = 65534


@pytest.fixture
def open_to_all(howlate: Run) -> Iterator[Path]:
    """The run of a study of which a cell failed, in a folder that everybody may read."""
    place = Path(tempfile.mkdtemp(dir="/tmp"))  # tmp_path is closed to others
    try:
        place.chmod(0o755)
        assert howlate("run", "mine.toml", "--out", place / "run", stand_in="broken").code == 4
        assert stat_mode(place / "run") & 0o5 == 0o5
        yield place / "run"
    finally:
        shutil.rmtree(place)


def stat_mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def every_path(run: Path) -> list[Path]:
    return [run, *run.rglob("*")]


def lock_all(run: Path) -> bytes:
    """Locks what it can open, for as long as the process lives; what it has locked, by its path."""
    held = []
    for path in [*every_path(run), run / LOCK]:
        try:
            handle = os.open(path, os.O_RDONLY)
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        held.append(os.fsencode(path.relative_to(run)))
    return b"\0".join(dict.fromkeys(held))


@contextmanager
def reader(run: Path) -> Iterator[set[Path]]:
    """Another user, who holds every lock that it can have until the block ends. Yields what it holds."""
    ours, theirs = os.pipe()
    ends, goes_on = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(ours)
            os.close(goes_on)
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(theirs, lock_all(run))
            os.close(theirs)
            os.read(ends, 1)
            code = 0
        finally:
            os._exit(code)
    os.close(theirs)
    os.close(ends)
    with os.fdopen(ours, "rb") as told:
        held = {run / os.fsdecode(name) for name in told.read().split(b"\0")}
    try:
        yield held
    finally:
        os.close(goes_on)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@needs_root
@pytest.mark.parametrize("lock_is_left", [False, True])
def test_a_run_goes_on_whatever_a_reader_locks(howlate: Run, open_to_all: Path, lock_is_left: bool) -> None:
    """Also where a howlate that was killed left its lock."""
    if lock_is_left:
        with locked(open_to_all):
            shutil.copy2(open_to_all / LOCK, "left")
        shutil.move("left", open_to_all / LOCK)
    with reader(open_to_all) as held:
        assert {open_to_all, open_to_all / "run.json", open_to_all / "cells"} <= held
        assert len(held) > 6 and open_to_all / LOCK not in held
        done = howlate("run", "mine.toml", "--out", open_to_all)
    assert done.code in (0, 5) and "another howlate" not in done.err, done
    assert len(list((open_to_all / "cells").glob("*/summary.json"))) == 2


@needs_root
def test_a_reader_cannot_have_the_lock_of_who_measures(open_to_all: Path) -> None:
    with locked(open_to_all):
        assert stat_mode(open_to_all / LOCK) == 0o600
        with reader(open_to_all) as held:
            assert open_to_all in held and open_to_all / LOCK not in held
