"""A run as values that other programs may rely on: their members are those of the JSON that howlate writes."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from howlate.errors import HowlateError, NotPossibleError, UsageError
from howlate.history.query import column_of
from howlate.model.decode import json_value, unknown
from howlate.model.loaded import RunContent
from howlate.model.summary import CellSummary
from howlate.statistics.statistics import STATISTICS
from howlate.store.duck import arrays, connection, reading, scan
from howlate.store.loaded import load_run
from howlate.store.run_folder import SAMPLES, RunFolder


class DataColumns(Mapping[str, "npt.NDArray[Any]"]):
    """Arrays by name, in order. A value that is not known is masked (numpy.ma)."""

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._arrays = dict(arrays)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        rows = len(next(iter(self._arrays.values()), ()))
        return f"<{rows} rows: {', '.join(self._arrays)}>"

    def to_pandas(self) -> Any:
        """A pandas.DataFrame; what is masked is NaN there."""
        return _library("pandas").DataFrame(self._arrays)

    def to_arrow(self) -> Any:
        """A pyarrow.Table; what is masked is null there."""
        return _library("pyarrow").table(self._arrays)


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name != name:
            raise
        raise NotPossibleError(
            "{library} is not installed for this Python",
            remedy="install it: {python:shell} -m pip install {library}",
            library=name,
            python=sys.executable,
        ) from None


OWN = ("cell", "test", "valid", "measured", "count")
"""Columns of the summaries other than labels and statistics."""


@contextmanager
def _with_remedy() -> Iterator[None]:
    """Python shows the error and not its remedy, which therefore becomes a note of it."""
    try:
        yield
    except HowlateError as problem:
        if problem.remedy:
            problem.add_note(problem.remedy)
        raise


@dataclass(frozen=True)
class LoadedCell:
    """One whole cell."""

    run: Path = field(repr=False)
    id: str
    test: str
    labels: Mapping[str, str]
    valid: bool
    """False if a check failed: `summary["warnings"]` says which."""
    summary: Mapping[str, Any] = field(repr=False)
    """The cell's entry of `howlate show --json`."""

    @_with_remedy()
    def samples(self) -> DataColumns:
        """Every row of samples.parquet: whole numbers, times in ns. DamagedError unless each byte is as it was
        measured."""
        folder = RunFolder(self.run)
        folder.check_samples(self.id)
        path = folder.cell_path(self.id) / SAMPLES
        with connection(folder.path) as database, reading(path):
            return DataColumns(arrays(database, f"SELECT * FROM {scan(database, path)}"))


@dataclass(frozen=True)
class LoadedRun:
    """One run, its small files read and checked as `howlate show` does."""

    path: Path
    metadata: Mapping[str, Any] = field(repr=False)
    """run.json: id, started, target, clock, versions, study, plan, facts and more."""
    cells: tuple[LoadedCell, ...]
    """The whole cells, in the order of the plan."""
    failed: Mapping[str, Mapping[str, Any]]
    """error.json of each cell that could not be measured, by its id."""
    gone: tuple[str, ...]
    """Ids of cells that were measured, and are not there any more."""
    unmeasured: tuple[str, ...]
    """Ids of planned cells that never became whole."""
    _content: RunContent = field(repr=False, compare=False)

    @_with_remedy()
    def cell(self, name: str) -> LoadedCell:
        """The cell whose id this is."""
        cells = {cell.id: cell for cell in self.cells}
        if name not in cells:
            raise UsageError(unknown("whole cell", str(name), cells))
        return cells[name]

    def summaries(self) -> DataColumns:
        """A row for each measured column of each cell: the cell's id, its test, its labels, whether it is valid, the
        column's name, and its statistics, called as in the table `statistics` of `howlate query`."""
        return _summaries(self._content.summaries)

    @_with_remedy()
    def verdict(
        self,
        deadline: str | None = None,
        miss_rate: float = 0.0,
        horizon: str | None = None,
        confidence: float = 0.95,
        cluster: float = 1.0,
    ) -> dict[str, Any]:
        """What `howlate verdict --json` prints; the arguments are its options ("200us")."""
        from howlate.verdict.cli.verdict import question_from
        from howlate.verdict.of_run import doubts_of, json_of, on_deadline, verdicts_of

        question, content = question_from(deadline, miss_rate, horizon, confidence, cluster), self._content
        if question.deadline_ns:
            content = on_deadline(self.path, content, question.deadline_ns)
        rows = verdicts_of(self.path, content, question)
        return json_of(self.path, content, rows, doubts_of(self.path, content, rows))

    @_with_remedy()
    def causes(self, cell: str = "") -> dict[str, Any]:
        """What `howlate why --from events --json` prints, of all cells or of one (its id or a part of it)."""
        from howlate.why.flow import explained_run
        from howlate.why.late_json import recorded_json

        return recorded_json(explained_run(self.path, load_run(self.path), cell))


@_with_remedy()
def loaded(path: Path) -> LoadedRun:
    """See howlate.load."""
    content = load_run(path, bins=False, kernels=False, intervals=True)
    cells = tuple(
        LoadedCell(path, each.id, each.test, each.labels, each.valid, each.to_json())
        for each in content.summaries
    )
    metadata = json_value(content.run.to_text())
    return LoadedRun(path, metadata, cells, content.failed, content.gone, content.unmeasured, content)


def _summaries(summaries: Sequence[CellSummary]) -> DataColumns:
    rows = [(cell, name, column) for cell in summaries for name, column in cell.columns.items()]
    statistics = {column_of(entry.name): [entry.of(column) for *_, column in rows] for entry in STATISTICS}
    labels = dict.fromkeys(name for cell in summaries for name in cell.labels)
    return DataColumns(
        {
            "cell": np.array([cell.id for cell, *_ in rows], dtype=object),
            "test": np.array([cell.test for cell, *_ in rows], dtype=object),
            **{
                f"label_{label}" if label in (*OWN, *statistics) else label: np.array(
                    [cell.labels.get(label) for cell, *_ in rows], dtype=object
                )
                for label in labels
            },
            "valid": np.array([cell.valid for cell, *_ in rows], dtype=bool),
            "measured": np.array([name for _, name, _ in rows], dtype=object),
            "count": _figures([column.count for *_, column in rows]),
            **{name: _figures(values) for name, values in statistics.items()},
        }
    )


def _figures(values: Sequence[int | float | None]) -> npt.NDArray[Any]:
    """Whole numbers stay whole; what is not known is masked."""
    kind = np.float64 if any(isinstance(value, float) for value in values) else np.int64
    array = np.array([0 if value is None else value for value in values], dtype=kind)
    unknown = [value is None for value in values]
    return np.ma.array(array, mask=unknown) if any(unknown) else array
