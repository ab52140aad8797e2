"""Dates that no calendar has, in a run and in what is imported: a sentence that names the file."""

import errno
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hostile.harness import COMMAND_LINES, words_of
from howlate.model.seal import sealed
from imports.foreign import BY_NAME, FILES, FIXTURES
from lacks import MACHINE, skip
from store.runs import a_folder
from store.streams import stream

from .commands import Run, is_a_sentence

DATES = (
    "290000-01-01T00:00:00Z",
    "2026-11-27T01:33:20Zx",
    "2026-11-27T01:33:20Z\n",
    " 2026-11-27T01:33:20Z",
    "0000-01-01T00:00:00Z",
    "-2026-01-01T00:00:00Z",
    "+2026-01-01T00:00:00Z",
    "2026-11-27T٠١:33:20Z",
    "2026-11-27",
    "9" * 5_000,
)
BEYOND_S = (2**63 // 10**9 * 100, 253_402_300_800, -62_135_596_801)
"""Since 1970: the year 29,000 or so, the first second after the year 9999, the last one before the year 1."""
GOES_ON = ("history", "query", "query samples")


@pytest.fixture
def run(howlate: Run) -> Path:
    return a_folder(Path("run"), {"none": stream([5, 2] * 50)}).path


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_a_run_of_no_date_is_a_sentence(howlate: Run, run: Path, command: str) -> None:
    good = json.loads((run / "run.json").read_text())
    for date in DATES:
        (run / "run.json").write_text(json.dumps(sealed({**good, "started": date})))
        done = howlate(*words_of(command))
        assert done.code == 4 and re.search(r'run\.json: "started"', done.err), (date, done)
        assert "fault in howlate" not in done.err and len(done.err) < 1000, (date, done)
        assert command in GOES_ON or is_a_sentence(done.err), (date, done)


@pytest.mark.parametrize("command", ["show", "query", "history", "report", "verdict"])
@pytest.mark.parametrize("date", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "unknown", ""])
def test_the_first_and_the_last_date_are_read(howlate: Run, run: Path, command: str, date: str) -> None:
    """And what an older howlate wrote where it knew none."""
    good = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(sealed({**good, "started": date})))
    assert howlate(*words_of(command)).code in (0, 2, 5)


def at(folder: Path, file: Path, seconds: int) -> Path:
    """A copy with this time, in a file system that keeps it."""
    place = folder / file.name
    shutil.copy(file, place)
    try:
        os.utime(place, (seconds, seconds))
    except OSError as problem:
        assert problem.errno in (errno.EOVERFLOW, errno.EINVAL)
    if place.stat().st_mtime != seconds:
        skip(f"a file system that keeps a time of {seconds} s", MACHINE)
    return place


@pytest.fixture
def in_memory() -> Iterator[Path]:
    """A folder of a file system whose times have 64 bits."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.mark.parametrize("seconds", BEYOND_S)
def test_a_file_of_no_date_is_named(howlate: Run, in_memory: Path, seconds: int) -> None:
    """Those of tools that write no date, and a stream of howlate's own."""
    names = sorted({file.name for file in FILES if not file.mapping and "json" not in file.name})
    files = [at(in_memory, FIXTURES / name, seconds) for name in names]
    own = Path("own.stream")
    own.write_bytes(stream([5, 2] * 50))
    named = []
    for number, file in enumerate([*files, at(in_memory, own, seconds)]):
        done = howlate("import", file, "--out", f"i{number}")
        assert "fault in howlate" not in done.err
        if "outside of the years 1 to 9999" in done.err:
            named.append(file.name)
            assert done.code == 4 and is_a_sentence(done.err) and file.name in done.err
            assert not Path(f"i{number}").exists()
    assert len(named) > 5 and own.name in named, named


@pytest.mark.parametrize(
    "date",
    [
        "Sat, 01 Jan 0001 00:00:00 +9900",
        "Fri, 31 Dec 9999 23:59:59 -9900",
        "Sun, 22 Nov 290000 18:20:15 +0000",
        "x",
    ],
)
@pytest.mark.parametrize("name", ["cyclictest-2.4.json", "oslat-2.4.json"])
def test_a_date_of_a_tool_is_read_or_named(howlate: Run, name: str, date: str) -> None:
    text = BY_NAME[name].path.read_text()
    Path(name).write_text(re.sub(r'("start_time": )"[^"]*"', rf'\1"{date}"', text))
    done = howlate("import", name, "--out", "i")
    assert "fault in howlate" not in done.err
    if "9900" in date:
        assert done.code == 4 and is_a_sentence(done.err) and name in done.err
    else:
        assert (Path("i") / "run.json").exists()
