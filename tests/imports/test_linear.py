"""A file costs as much as it is long: any token that is ten times as long takes no more than twice ten times as much,
and each further file as much as the one before it."""

import re
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import FrameType

import pytest

from howlate import __main__ as entry
from howlate.errors import HowlateError
from howlate.imports.formats import find_importer
from imports.foreign import BY_NAME, FIXTURES, File
from imports.mutate import IMPORTERS

SHORT, LONG = 10_000, 100_000
TOKEN = re.compile(rb"[0-9]+|[A-Za-z]+|[ \t]+|[^\w\s]")
MOST_LINES = 25
NOISE_S = 0.2
"""What a reading may take unexamined. A quadratic one takes a hundred times that of the short token."""


def grown(data: bytes, size: int, lines: int) -> Iterator[tuple[str, bytes]]:
    """Each kind of line once: in it a token of each kind at this size, and so many of its columns."""
    seen: set[bytes] = set()
    at = 0
    for line in data.splitlines(keepends=True):
        shape = re.sub(rb"[0-9]+", b"0", line)
        if shape not in seen and len(seen) < lines:
            seen.add(shape)
            kinds: set[tuple[bool, bytes]] = set()
            for token in TOKEN.finditer(line):
                kind = (token.start() > 0, token[0][:1])
                if kind not in kinds:
                    kinds.add(kind)
                    long = (token[0] * (size // len(token[0]) + 1))[:size]
                    name = f"{token[0][:20]!r} of {line[:40]!r}"
                    yield name, data[: at + token.start()] + long + data[at + token.end() :]
            columns = (line.rstrip(b"\r\n") + b" ") * (size // len(line))
            yield f"columns of {line[:40]!r}", data[:at] + columns + data[at:]
        at += len(line)


def cost_s(file: File, data: bytes, path: Path) -> float:
    """CPU time to find the format and to read the file, whether it is refused or not."""
    path.write_bytes(data)
    began = time.process_time()
    with suppress(HowlateError):
        find_importer(path, None, file.mapping)
    with suppress(HowlateError):
        for recording in IMPORTERS[file.format].read([path], {}, file.mapping).streams.values():
            assert not isinstance(recording, Path)
            for _ in recording.batches():
                pass
    return time.process_time() - began


TEXTS = [file for file in BY_NAME.values() if not file.name.endswith(".raw")]


@pytest.mark.parametrize(
    ("file", "lines"),
    [
        (BY_NAME["timerlat-hist.txt"], 8),
        *(pytest.param(file, MOST_LINES, marks=pytest.mark.sweep) for file in TEXTS),
    ],
    ids=lambda one: one.name if isinstance(one, File) else str(one),
)
def test_a_token_costs_as_much_as_it_is_long(file: File, lines: int, tmp_path: Path) -> None:
    data, path = file.path.read_bytes(), tmp_path / file.name
    whole_s = cost_s(file, data, path)
    for (name, short), (_, long) in zip(grown(data, SHORT, lines), grown(data, LONG, lines), strict=True):
        long_s = cost_s(file, long, path) - whole_s
        if long_s > NOISE_S:
            short_s = max(cost_s(file, short, path) - whole_s, NOISE_S / 20)
            assert long_s < 2 * LONG / SHORT * short_s, name


def calls_of(folder: Path, count: int) -> int:
    """How many functions an import of so many files calls."""
    folder.mkdir()
    text = (FIXTURES / "cyclictest-summary.txt").read_text()
    files = [folder / f"{number}.txt" for number in range(count)]
    for number, file in enumerate(files):
        file.write_text(f"# {number}\n{text}")
    calls = 0

    def count_it(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count_it)
    try:
        assert entry.main(["import", *map(str, files), "--out", str(folder / "run")]) == 0
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("counts", [(3, 6, 12), pytest.param((50, 100, 200), marks=pytest.mark.sweep)])
def test_each_further_file_costs_as_much_as_the_one_before(counts: tuple[int, ...], tmp_path: Path) -> None:
    calls_of(tmp_path / "imports", 1)
    calls = [calls_of(tmp_path / str(count), count) for count in counts]
    first, second = (after - before for before, after in pairwise(calls))
    assert 1.8 * first < second < 2.2 * first
