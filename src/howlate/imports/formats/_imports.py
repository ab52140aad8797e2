"""An importer of another tool's format: files in, a run out with a cell for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.imports.formats._by_hand import labels_are_free
from howlate.imports.formats._dates import date_of
from howlate.imports.formats._foreign import Foreign, digest
from howlate.imports.formats._importer import NO_MAP, Measured, RunImporter, not_imported, same_measurement
from howlate.imports.formats._text import mapped
from howlate.model.facts import Facts
from howlate.model.plan import Cell, Plan
from howlate.model.run import BY_HAND, Run
from howlate.model.study import KERNEL, PART, Part, Study
from howlate.plan.matrix import LABELLED, cell_id
from howlate.system.version import __version__

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
