"""Imports files whose truth is known, and alters them in six ways: what each format shows of it."""

import tempfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

import numpy as np

from howlate.errors import DamagedError, UsageError
from howlate.imports.formats import find_importer
from howlate.imports.formats._checks import UNIT_OPEN
from howlate.imports.formats._foreign import ForeignRecording
from howlate.model.columns import SAMPLES
from howlate.model.stated import STATED, Stated
from howlate.model.summary import ColumnSummary
from howlate.statistics.stated import describe_stated
from howlate.statistics.statistics import describe
from imports import made_others
from imports.foreign import FORMATS
from imports.made import Made, Random, Truth
from imports.mutate import IMPORTERS, _counted

MAKERS = {format.name: format.maker for format in FORMATS}


PRINTED_NS = 10
"""Half a last digit of the means in JSON and more: what is left of a mean whose histogram is gone."""


class Outcome(StrEnum):
    """What became of an altered file."""

    REFUSED = "refused"
    """With the place, or imported as a cell that is invalid, with a note that names the place."""
    EQUAL = "equal"
    """Every figure that is stated is true."""
    NOT_SHOWN = "not shown"
    """Imported with figures that are not those of the file before: nothing in it shows that it was altered."""


def chance(format: str, seed: int) -> Random:
    return np.random.default_rng([seed, *format.encode()])


def made(format: str, seed: int) -> Made:
    return MAKERS[format](chance(format, seed))


def columns_of(data: Made) -> tuple[dict[str, ColumnSummary], bool]:
    """What howlate states of each column, and whether the file contradicts itself. The errors are the importer's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / data.name
        path.write_bytes(data.data)
        measured = IMPORTERS[data.format].read([path], {}, data.mapping)
        (recording,) = measured.streams.values()
        assert isinstance(recording, ForeignRecording)
        return _described(recording), measured.damaged


def _described(recording: ForeignRecording) -> dict[str, ColumnSummary]:
    values: dict[str, list[int]] = {}
    counts: dict[str, list[int]] = {}
    for batch in recording.batches():
        for name, column in batch.columns.items():
            if name.endswith("_ns") and name != "time_ns":
                values.setdefault(name, []).extend(map(int, column))
                weights = batch.columns.get(SAMPLES, np.ones(len(column), np.int64))
                counts.setdefault(name, []).extend(map(int, weights))
    stated = [Stated(**entry) for entry in recording.header.raw[STATED]]
    found = {}
    for name in dict.fromkeys([*values, *(entry.column for entry in stated)]):
        data = _counted(values.get(name, []), counts.get(name, []))
        own = [entry for entry in stated if entry.column == name]
        found[name] = describe_stated(data, own, None) if own else describe(data)
    return found


def untrue(
    found: Mapping[str, ColumnSummary], true: Mapping[str, Truth], *, partly: bool = False
) -> list[str]:
    """The figures that are not the truth; `partly`: those that are absent are no fault, and neither are columns."""
    wrong = [f"column {name}" for name in set(true) ^ set(found) if not partly or name not in true]
    for name in set(true) & set(found):
        wrong += [f"{name}: {what}" for what in _untrue(found[name], true[name], partly)]
    return wrong


def _untrue(column: ColumnSummary, true: Truth, partly: bool) -> list[str]:
    wrong = []
    for what in ("count", "min", "max"):
        own, right = getattr(column, what), getattr(true, what)
        if own != right and not (partly and own is None):
            wrong.append(f"{what} {own} is not {right}")
    if (column.mean is None) != (true.mean is None) and not (partly and column.mean is None):
        wrong.append(f"mean {column.mean} is not {true.mean}")
    elif column.mean is not None and true.mean is not None:
        digit = max(true.digit, PRINTED_NS) if partly else true.digit
        wrong += [f"mean {column.mean} is not {true.mean}"] if abs(column.mean - true.mean) > digit else []
    for share, right in true.quantiles.items():
        value = column.quantiles.get(share)
        if share in column.quantiles and value not in right and not (partly and value is None):
            wrong.append(f"the quantile {share} is {value} and not {set(right)}")
    return wrong


def recognised(data: Made) -> str:
    """The format that its content tells."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / data.name
        path.write_bytes(data.data)
        return find_importer(path, None, data.mapping).name


# -- the six alterations


def cut(format: str, seed: int) -> Made:
    """The end is gone, from a line's end or from within a line on."""
    data, random = made(format, seed), chance(format, seed + 10**6)
    if data.rows:
        ends = [at + 1 for at, byte in enumerate(data.data) if byte == 10]
        at = (
            int(random.choice(ends[:-1]))
            if len(ends) > 1 and random.random() < 0.5
            else int(random.integers(1, len(data.data) - 1))
        )
    else:
        at = int(random.integers(1, len(data.data)))
        at = at // made_others.SAMPLE * made_others.SAMPLE if random.random() < 0.5 else at
    return _altered(data, data.data[: max(at, 1)])


def doubled(format: str, seed: int) -> Made:
    """A row stands there twice."""
    data, random = made(format, seed), chance(format, seed + 10**6)
    if not data.rows:
        records = _records(data)
        at = int(random.integers(len(records)))
        return _altered(data, b"".join([*records[: at + 1], *records[at:]]))
    lines = data.data.split(b"\n")
    at = int(random.choice(data.rows))
    return _altered(data, b"\n".join([*lines[: at + 1], *lines[at:]]))


def reordered(format: str, seed: int) -> Made:
    """Two rows have changed places."""
    data, random = made(format, seed), chance(format, seed + 10**6)
    parts, apart = (data.data.split(b"\n"), b"\n") if data.rows else (_records(data), b"")
    places = data.rows or tuple(range(len(parts)))
    first, second = (int(place) for place in random.choice(places, 2))
    parts[first], parts[second] = parts[second], parts[first]
    return _altered(data, apart.join(parts))


def unit_changed(format: str, seed: int) -> Made:
    """The same figures with another unit beside them; where the file has no word for it, the same samples as the tool
    prints them in the other unit."""
    return _altered(MAKERS[format](chance(format, seed), other_unit=True))


def column_dropped(format: str, seed: int) -> Made:
    data = made(format, seed)
    assert data.columns is not None
    return _altered(data, data.columns(data, chance(format, seed + 10**6)))


def joined(format: str, seed: int) -> Made:
    """Another result stands behind the first."""
    data, other = made(format, seed), made(format, seed + 10**6)
    return _altered(data, data.data + other.data)


def _altered(data: Made, content: bytes | None = None) -> Made:
    mapping = {name: text for name, text in data.mapping.items() if name != "unit" or content is not None}
    return Made(data.format, data.name, data.data if content is None else content, data.truth, mapping)


def _records(data: Made) -> list[bytes]:
    return [data.data[at : at + made_others.SAMPLE] for at in range(0, len(data.data), made_others.SAMPLE)]


ALTERATIONS = {
    "cut": cut,
    "doubled": doubled,
    "reordered": reordered,
    "unit changed": unit_changed,
    "a column dropped": column_dropped,
    "two results joined": joined,
}
PARTLY = ("cut", "a column dropped")
"""What is gone may be absent afterwards."""


def outcome(format: str, alteration: str, seed: int) -> Outcome:
    data = ALTERATIONS[alteration](format, seed)
    try:
        found, damaged = columns_of(data)
    except (DamagedError, UsageError) as problem:
        assert _names_a_place(problem, data), f"{format}, {alteration}, seed {seed}: {problem}"
        return Outcome.REFUSED
    if damaged:
        return Outcome.REFUSED
    wrong = untrue(found, data.truth, partly=alteration in PARTLY)
    return Outcome.NOT_SHOWN if wrong else Outcome.EQUAL


def _names_a_place(problem: DamagedError | UsageError, data: Made) -> bool:
    """A line, a sample, or a column that `--map` names."""
    said = problem.statement.values
    return "place" in said or said.get("name") in data.mapping or said.get("reason") == UNIT_OPEN
