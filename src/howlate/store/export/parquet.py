"""Parquet: the same rows as CSV in one file; a column that a test does not have is null."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from howlate.store.duck import PARQUET
from howlate.store.export._rows import Format, one_file
from howlate.store.run_folder import RunFolder


def write(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """All samples of the cells. Returns the rows written."""
    return one_file(run, out, cells, PARQUET)


def write_with_parameters(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """The same with a column for each parameter in force; null where a cell's test has no such option."""
    return one_file(run, out, cells, PARQUET, parameters=True)


FORMAT = Format(
    "parquet",
    ".parquet",
    "every column of every sample, as Parquet",
    write,
    one_text=False,
    write_with_parameters=write_with_parameters,
)
