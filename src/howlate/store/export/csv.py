"""CSV: one row a sample: the cell's id, its labels, the columns of samples.parquet, and whether the cell is valid and
loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from howlate.store.export._rows import Format, one_file
from howlate.store.run_folder import RunFolder


def write(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """All samples of the cells (default: all whole ones), warm-up included; a column that a test does not have is
    `nan`. Returns the rows written."""
    return one_file(run, out, cells, _CSV)


def write_with_parameters(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """The same with a column for each parameter in force; `nan` where a cell's test has no such option."""
    return one_file(run, out, cells, _CSV, parameters=True)


_CSV = "(FORMAT csv, HEADER true, NULLSTR 'nan')"
FORMAT = Format(
    "csv", ".csv", "every column of every sample, as text", write, write_with_parameters=write_with_parameters
)
