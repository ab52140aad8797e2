"""What a file of another tool holds, as a value, and the recording that it becomes: the same tables, header and
trailer that the probe's stream has, so that a cell of it goes the same way; and the importer of such a format: files
in, a run out with a cell for each."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.imports.formats._by_hand import labels_are_free
from howlate.imports.formats._importer import (
    NO_MAP,
    Measured,
    RunImporter,
    date_of,
    not_imported,
    same_measurement,
)
from howlate.imports.formats._text import mapped
from howlate.model.columns import SAMPLES, TIMES
from howlate.model.decode import plain
from howlate.model.facts import Facts
from howlate.model.knowledge import EVERYTHING, Knowledge
from howlate.model.plan import Cell, Plan
from howlate.model.run import BY_HAND, Run
from howlate.model.stated import MEANS, STATED, Stated
from howlate.model.study import KERNEL, PART, Part, Study
from howlate.plan.matrix import LABELLED, cell_id
from howlate.store.frames import WHOLE, End, EndKind
from howlate.store.ingest import ACTIVATIONS, CONTRADICTIONS, KNOWN
from howlate.store.stream import Batch, Header, StreamColumn, StreamTable, Totals
from howlate.system.version import __version__

Rows = Mapping[str, npt.NDArray[Any]]
UNSTATED = "not stated"
"""The stop reason of a file without one."""


class ForeignSeries(Struct, frozen=True):
    """A column of one measuring thread: its histogram, and what the tool states of it."""

    stated: Stated
    bins: Mapping[int, int] = field(default_factory=dict)
    """Samples by value in nanoseconds; bins without a sample may be there."""
    line: int = 0
    """Where the tool's figures stand in the file."""


class Raw(Struct, frozen=True):
    """Samples one by one, read anew each time."""

    tables: Sequence[StreamTable]
    """One a thread."""
    rows: Callable[[], Iterator[tuple[int, Rows]]]
    """The number of the table, and rows of it."""
    samples: Mapping[int, int]
    """By the number of the table."""


class Foreign(Struct, frozen=True):
    """One measurement of another tool."""

    path: Path
    test: str
    """The tool; cells of one tool are compared, whichever of its formats they are from."""
    answers: Sequence[str]
    """The columns that answer "how late": a deadline is held against each of them. Empty of a format that has no
    latency, whose cells have no verdict."""
    series: Sequence[ForeignSeries] = ()
    raw: Raw | None = None
    known: Knowledge = EVERYTHING
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Those that howlate's own tests have too, spelt as there."""
    policy: str = ""
    seconds: float = 0.0
    facts: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    contradictions: Sequence[str] = ()
    notes: Sequence[str] = ()
    outcomes: Mapping[str, int | float] = field(default_factory=dict)
    started: float | None = None
    stop_reason: str = UNSTATED

    def recording(self) -> ForeignRecording:
        return ForeignRecording(self)


class ForeignRecording:
    """A foreign measurement as ingest() reads it."""

    def __init__(self, foreign: Foreign) -> None:
        self._foreign = foreign
        self.end: End | None = None
        self.trailer: Mapping[str, Any] | None = None
        self._sums: dict[tuple[int, str], tuple[float, int]] = {}
        self._times: tuple[int, int] | None = None
        tables = _tables(foreign)
        self.header = Header(_header(foreign, tables), foreign.test, 0, tables)

    def __str__(self) -> str:
        return str(self._foreign.path)

    def batches(self) -> Iterator[Batch]:
        """Each histogram at once, raw samples piece by piece."""
        recorded: dict[int, int] = {table.id: 0 for table in self.header.tables}
        rows = self._foreign.raw.rows if self._foreign.raw is not None else self._bins
        for number, columns in rows():
            table = self.header.tables[number]
            size = len(next(iter(columns.values())))
            recorded[number] += self._stands_for(number, columns)
            self._add(number, columns)
            self._note_times(columns)
            total = recorded[number]
            yield Batch(table, size, Totals(total, total, 0, 0), columns)
        self.trailer = self._trailer(recorded)
        self.end = End(EndKind.WHOLE, 0, WHOLE())

    def _bins(self) -> Iterator[tuple[int, Rows]]:
        for number, series in enumerate(self._foreign.series):
            filled = {value: count for value, count in sorted(series.bins.items()) if count}
            values = np.fromiter(filled.keys(), np.int64, len(filled))
            counts = np.fromiter(filled.values(), np.int64, len(filled))
            yield number, {series.stated.column: values, SAMPLES: counts}

    def _stands_for(self, number: int, columns: Rows) -> int:
        if SAMPLES not in columns:
            return len(next(iter(columns.values())))
        outside = self._foreign.series[number].stated.beyond if self._foreign.series else 0
        return int(columns[SAMPLES].sum()) + (outside or 0)

    def _add(self, number: int, columns: Rows) -> None:
        """To the mean of each column that answers "how late" and whose mean the tool does not state."""
        series = self._foreign.series
        for name in self._foreign.answers:
            if name not in columns or (series and series[number].stated.mean is not None):
                continue
            values, weights = columns[name].astype(np.float64), columns.get(SAMPLES)
            total, count = self._sums.get((number, name), (0.0, 0))
            total += float(values.sum() if weights is None else (values * weights).sum())
            count += len(values) if weights is None else int(weights.sum())
            self._sums[number, name] = (total, count)

    def _note_times(self, columns: Rows) -> None:
        times = columns.get(TIMES[1])
        if times is not None and len(times):
            first, last = self._times or (times[0], times[0])
            self._times = (int(min(first, times.min())), int(max(last, times.max())))

    def _duration_ns(self) -> int:
        first, last = self._times or (0, 0)
        return round(self._foreign.seconds * 1e9) or last - first

    def _means(self) -> list[Any]:
        unit_ns = max(1, self._foreign.known.resolution_ns)
        means = []
        for (number, name), (total, count) in self._sums.items():
            table = self.header.tables[number]
            mean = f"{total / max(1, count) / unit_ns:.6f}"
            cpu = -1 if table.cpu is None else table.cpu
            means.append(plain(Stated(name, table.thread or 0, cpu, unit_ns, mean=mean, count=count)))
        return means if len(means) > 1 else []

    def _trailer(self, recorded: Mapping[int, int]) -> dict[str, Any]:
        accounting = [
            {"table": number, "releases": total, "recorded": total} for number, total in recorded.items()
        ]
        duration_ns = self._duration_ns()
        return {
            "stop_reason": self._foreign.stop_reason,
            "accounting": accounting,
            "outcomes": dict(self._foreign.outcomes),
            MEANS: self._means(),
            **({"duration_ns": duration_ns} if duration_ns else {}),
        }


def _tables(foreign: Foreign) -> tuple[StreamTable, ...]:
    if foreign.raw is not None:
        return tuple(foreign.raw.tables)
    return tuple(
        StreamTable(
            number,
            ACTIVATIONS,
            (StreamColumn(series.stated.column, "i64"), StreamColumn(SAMPLES, "i64")),
            None if series.stated.cpu < 0 else series.stated.cpu,
            series.stated.thread,
        )
        for number, series in enumerate(foreign.series)
    )


def _header(foreign: Foreign, tables: Sequence[StreamTable]) -> dict[str, Any]:
    cpus = list(dict.fromkeys(-1 if table.cpu is None else table.cpu for table in tables))
    threads = [
        {**({"cpu": cpu} if cpu >= 0 else {}), **({"policy": foreign.policy} if foreign.policy else {})}
        for cpu in cpus
    ]
    return {
        "test": foreign.test,
        "boot_id": f"file:{digest(foreign.path)}",
        "t0_ns": 0,
        "parameters": dict(foreign.parameters),
        "in_force": {"threads": threads},
        "imported": {"file": foreign.path.name, "version": foreign.version},
        "tables": [
            {
                "id": t.id,
                "name": t.name,
                "columns": [
                    {"name": c.name, "type": c.type, "answers": c.name in foreign.answers} for c in t.columns
                ],
            }
            for t in tables
        ],
        STATED: [plain(series.stated) for series in foreign.series],
        KNOWN: plain(foreign.known),
        CONTRADICTIONS: list(foreign.contradictions),
    }


def digest(path: Path) -> str:
    """Of a file's content: what two measurements never have in common."""
    hasher = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            hasher.update(piece)
    return hasher.hexdigest()


def histogram_known(
    series: Sequence[ForeignSeries], resolution_ns: int, *, missed_releases: bool = False
) -> Knowledge:
    """What histograms leave unknown: the order always, and what lies beyond their range."""
    beyond = [entry.stated.beyond for entry in series]
    counted = [count for count in beyond if count is not None]
    overflow = sum(counted) if len(counted) == len(beyond) else None
    ends = [
        e.stated.beyond_from_ns
        for e in series
        if e.stated.beyond != 0 and e.stated.beyond_from_ns is not None
    ]
    stated = all(e.stated.max is not None and e.stated.sound for e in series)
    return Knowledge(
        time_order=False,
        missed_releases=missed_releases,
        overflow=overflow,
        overflow_from_ns=min(ends, default=None),
        exact_max=overflow == 0 or stated,
        resolution_ns=resolution_ns,
    )


ReadFile = Callable[[Path, Mapping[str, str]], Foreign]
STUDY = "imported"


def importer(
    name: str,
    summary: str,
    recognises: Callable[[Path], bool],
    read_file: ReadFile,
    maps: Sequence[str] = (),
) -> RunImporter:
    """The importer of a format whose files are a measurement each. `maps`: what `--map` may say of it."""

    def read(
        paths: Sequence[Path], labels: Mapping[str, str], mapping: Mapping[str, str] = NO_MAP
    ) -> Measured:
        cells = [_read(path, mapped(mapping, path, maps), read_file) for path in paths]
        _each_once(cells)
        return measured(cells, labels)

    return RunImporter(name, summary, recognises, read, tuple(maps))


def _read(path: Path, mapping: Mapping[str, str], read_file: ReadFile) -> Foreign:
    if path.is_dir():
        raise not_imported(path, "it is a folder", f"name the files in it: {path}/*")
    return read_file(path, mapping)


def _each_once(cells: Sequence[Foreign]) -> None:
    seen: dict[str, Path] = {}
    for cell in cells:
        other = seen.setdefault(digest(cell.path), cell.path)
        if other is not cell.path:
            raise UsageError(same_measurement(cell.path, other))


def measured(foreign: Sequence[Foreign], labels: Mapping[str, str]) -> Measured:
    """The run: equal tools and parameters are repetitions of one point, in the order in which they are named."""
    labels_are_free(labels, {name for cell in foreign for name in cell.parameters})
    tests = list(dict.fromkeys(cell.test for cell in foreign))
    parts = [_part(test, [cell for cell in foreign if cell.test == test]) for test in tests]
    cells = _cells(foreign, parts, labels)
    stamp, started = min(date_of(_started(cell), cell.path) for cell in foreign)
    study = _study(parts)
    facts = {name: value for name, value in foreign[0].facts.items() if value}
    run = Run(
        id=f"{stamp}-{study.id}",
        started=started,
        study=study,
        plan=Plan(tuple(cells)),
        target=BY_HAND,
        facts=Facts(facts).to_json(),
        versions={"howlate": __version__},
    )
    streams = {cell.id: measurement.recording() for measurement, cell in zip(foreign, cells, strict=True)}
    notes = [note for measurement in foreign for note in (*measurement.contradictions, *measurement.notes)]
    return Measured(
        run,
        streams,
        notes=tuple(notes),
        damaged=any(measurement.contradictions for measurement in foreign),
        by_hand=True,
    )


def _started(cell: Foreign) -> float:
    return cell.path.stat().st_mtime if cell.started is None else cell.started


def _part(test: str, cells: Sequence[Foreign]) -> Part:
    """One matrix: what all have in common, and what differs."""
    names = list(dict.fromkeys(name for cell in cells for name in cell.parameters))
    values = {name: tuple(dict.fromkeys(cell.parameters.get(name, "") for cell in cells)) for name in names}
    axes = {name: every for name, every in values.items() if len(every) > 1}
    return Part(
        test,
        f"{test}, imported",
        test,
        {name: every[0] for name, every in values.items() if name not in axes},
        axes,
    )


def _study(parts: Sequence[Part]) -> Study:
    question = "How late was it, as another tool measured it?"
    if len(parts) > 1:
        return Study(STUDY, "Imported", question, parts=tuple(parts))
    part = parts[0]
    return Study(STUDY, part.title, question, part.test, part.settings, part.axes)


def _cells(foreign: Sequence[Foreign], parts: Sequence[Part], given: Mapping[str, str]) -> list[Cell]:
    by_test = {part.test: part for part in parts}
    seen: dict[str, int] = {}
    cells = []
    for measurement in foreign:
        part, values = by_test[measurement.test], measurement.parameters
        shown = {name: values[name] for name in (*LABELLED, *part.axes) if name in values}
        first = cell_id(part.test, values, [part.test, *(values.get(name, "") for name in part.axes)], 1)
        seen[first] = repetition = seen.get(first, 0) + 1
        own = {PART: part.id} if len(parts) > 1 else {}
        kernel = {KERNEL: measurement.facts.get("kernel.release") or "unknown"}
        cell = Cell(first, part.test, values, {**own, **kernel, **given, **shown}, 1, measurement.seconds)
        cells.append(replace(cell, id=f"{first.removesuffix('-1')}-{repetition}", repetition=repetition))
    return cells
