"""Every format's files under a name with line breaks: whole, cut short and altered, each sentence about them stays on
its line."""

import random
from pathlib import Path

import pytest

from imports.foreign import FILES, File

from .commands import Run
from .test_hostile_names import NAMES, faults_of


def altered(data: bytes, number: int) -> bytes:
    """The file itself, cut in its middle, without a line, with a line twice, with other digits, and empty."""
    chance = random.Random(number)
    lines = data.splitlines(keepends=True)
    place = chance.randrange(len(lines))
    return (
        data,
        data[: len(data) // 2],
        b"".join(lines[:place] + lines[place + 1 :]),
        b"".join(lines[: place + 1] + lines[place:]),
        bytes(ord("9") if byte in b"12" and chance.random() < 0.1 else byte for byte in data),
        b"",
    )[number]


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("file", [file for file in FILES if file.path.is_file()], ids=lambda file: file.name)
def test_no_sentence_of_an_import_breaks_its_line(howlate: Run, file: File, step: int) -> None:
    faults = []
    data = file.path.read_bytes()
    maps = [word for name, value in file.mapping.items() for word in ("--map", f"{name}={value}")]
    path = Path(NAMES["lines"] + NAMES["controls"] + file.path.suffix)
    for number in range(len(data) % step, 6, step):
        path.write_bytes(altered(data, number))
        words = ["import", str(path), *maps, "--out", f"r{number}"]
        said = howlate(*words)
        faults += faults_of(said, words)
        if not said.code:
            faults += faults_of(howlate("show", words[-1], "--all"), words)
    assert not faults
