"""Alters files of other tools, and holds what becomes of them against what is documented."""

import random
import tempfile
from pathlib import Path

import numpy as np

from howlate.errors import DamagedError, UsageError
from howlate.imports.formats import RunImporter, all_importers
from howlate.imports.formats._foreign import ForeignRecording
from howlate.model.columns import SAMPLES
from howlate.model.stated import STATED, Stated
from howlate.statistics.describe import ValueCounts
from howlate.statistics.stated import describe_stated, outside
from howlate.statistics.summary_contradictions import column_contradiction
from howlate.words import say
from imports.foreign import File

IMPORTERS = {each.name: each for each in all_importers() if isinstance(each, RunImporter)}
LETTERS = b'0 :#{}<>-.\\"\0\xff\n'
PIECES = (*(bytes([letter]) for letter in LETTERS), b"-1", b"9" * 18, b"9" * 30, b"1e9", b"nan")


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The data with one to four alterations."""
    for _ in range(chance.randint(1, 4)):
        data = _once(data, chance)
    return data


def _once(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    to = min(len(data), at + chance.choice((1, 1, 2, 8, 64)))
    lines = data.splitlines(keepends=True)
    kind = chance.randrange(8)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + data[to:]
    if kind == 2:
        return data[:at] + chance.choice(PIECES) + data[at:]
    if kind == 3:
        return data[:at] + chance.choice(PIECES) + data[to:]
    if kind == 4 and lines:
        lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    if kind == 5 and lines:
        del lines[chance.randrange(len(lines))]
    if kind == 6 and len(lines) > 1:
        first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
        lines[first], lines[second] = lines[second], lines[first]
    if kind == 7 and at < len(data):
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    return b"".join(lines)


def judged(file: File, data: bytes, what: str) -> bool:
    """Whether the data were imported. AssertionError where neither a run nor the documented error came of them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file.name
        path.write_bytes(data)
        importer = IMPORTERS[file.format]
        try:
            importer.recognises(path)
            measured = importer.read([path], {}, file.mapping)
            for recording in measured.streams.values():
                assert isinstance(recording, ForeignRecording)
                _described(recording)
        except (DamagedError, UsageError) as problem:
            assert file.name in say.english(problem.statement) + problem.remedy, what
            assert isinstance(problem, UsageError) or any(
                w in problem.message for w in ("line ", "sample ")
            ), what
            return False
        except Exception as problem:
            raise AssertionError(f"{what}: {type(problem).__name__}: {problem}") from problem
        return True


def _described(recording: ForeignRecording) -> None:
    """As the summary is made of it: no figures that contradict each other."""
    values: dict[str, list[int]] = {}
    counts: dict[str, list[int]] = {}
    for batch in recording.batches():
        for name, column in batch.columns.items():
            if name.endswith("_ns"):
                values.setdefault(name, []).extend(map(int, column))
                weights = batch.columns.get(SAMPLES, np.ones(len(column), np.int64))
                counts.setdefault(name, []).extend(map(int, weights))
    assert recording.end is not None and recording.trailer is not None
    stated = [Stated(**entry) for entry in recording.header.raw[STATED]]
    for name in dict.fromkeys(entry.column for entry in stated):
        data = _counted(values.get(name, []), counts.get(name, []))
        own = [entry for entry in stated if entry.column == name]
        assert not column_contradiction(describe_stated(data, own, 1_000_000))
        outside(own, data)


def _counted(values: list[int], counts: list[int]) -> ValueCounts:
    distinct, places = np.unique(np.array(values, np.int64), return_inverse=True)
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, places, np.array(counts, np.int64))
    return ValueCounts(distinct, sums)
