"""Estimates the remaining time of a run in which several cells are measured at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from howlate.plan.cost import makespan

_TRUST_S = 3.0
"""The amount of measured time that outweighs the estimate made before the run."""


class Pace:
    """The estimate of every cell, corrected by the times of cells of its kind in this run. `cells`: the kind
    and expected time of each; cached cells take no time."""

    def __init__(
        self,
        cells: Mapping[str, tuple[str, float]],
        parallel: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cells, self._parallel, self._now = dict(cells), parallel, now
        self._waiting = dict.fromkeys(self._cells)
        self._began: dict[str, float] = {}
        self._shares: dict[str, float] = {}
        self._took: dict[str, tuple[float, float]] = {}
        """By kind, and "" for all: how long cells took, and how long they were expected to take."""

    def begin(self, cell_id: str) -> None:
        self._waiting.pop(cell_id, None)
        self._began[cell_id] = self._now()

    def share(self, cell_id: str, share: float) -> None:
        """The estimated share of a running cell that is done."""
        self._shares[cell_id] = share

    def done(self, cell_id: str) -> None:
        kind, expected_s = self._cells[cell_id]
        took_s = self._now() - self._began.pop(cell_id)
        for name in (kind, "") if expected_s > 0 else ():
            took, expected = self._took.get(name, (0.0, 0.0))
            self._took[name] = took + took_s, expected + expected_s

    def left_s(self) -> float:
        """The time until the last cell has ended."""
        now = self._now()
        running = [self._rest_s(cell_id, now - began) for cell_id, began in self._began.items()]
        return makespan([self._expected_s(cell_id) for cell_id in self._waiting], self._parallel, running)

    def _rest_s(self, cell_id: str, elapsed_s: float) -> float:
        """The remaining time of a running cell. A cell that takes longer than expected is assumed to need
        part of its elapsed time again."""
        share = self._shares.get(cell_id, 0.0)
        expected_s = self._expected_s(cell_id)
        if 0.1 <= share < 0.99:
            expected_s = elapsed_s / share
        return max(expected_s - elapsed_s, 0.1 * elapsed_s)

    def _expected_s(self, cell_id: str) -> float:
        kind, expected_s = self._cells[cell_id]
        return expected_s * self._factor(kind)

    def _factor(self, kind: str) -> float:
        """How much longer cells of this kind take than expected: by the cells of this kind so far, else by
        all cells."""
        took, expected = self._took.get("", (0.0, 0.0))
        common = (took + _TRUST_S) / (expected + _TRUST_S)
        took, expected = self._took.get(kind, (0.0, 0.0))
        return (took + _TRUST_S * common) / (expected + _TRUST_S)
