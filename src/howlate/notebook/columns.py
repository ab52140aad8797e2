"""Columns of equal length, and what pandas and Arrow make of them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy.typing as npt

from howlate.errors import NotPossibleError


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
