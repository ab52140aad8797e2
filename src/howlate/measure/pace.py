"""Estimates the remaining time of a run in which several cells are measured at once, and finished one by one."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from howlate.plan.cost import makespan

_TRUST_S = 3.0
"""The amount of measured time that outweighs the estimate made before the run."""
KEPT, KEPT_S = "kept", 0.05
"""The kind of cells whose results are in the cache, and what one of them takes."""


class Pace:
    """The estimate of every cell, corrected by the times of cells of its kind in this run. `cells`: the kind
    and expected time of each; 0 for those in the cache."""

    def __init__(
        self,
        cells: Mapping[str, tuple[str, float]],
        parallel: int,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cells = {one: (kind, s) if s > 0 else (KEPT, KEPT_S) for one, (kind, s) in cells.items()}
        self._parallel, self._now = parallel, now
        self._waiting = dict.fromkeys(self._cells)
        self._unfinished = {one: kind for one, (kind, _s) in cells.items()}
        self._finishing: dict[str, list[float]] = {}
        """By kind, and "" for all: how long it took to finish cells, statistics and all."""
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
        for name in (kind, "") if kind != KEPT else (kind,):
            took, expected = self._took.get(name, (0.0, 0.0))
            self._took[name] = took + took_s, expected + expected_s

    def finished(self, cell_id: str, took_s: float) -> None:
        """A cell that was done has become whole, which does not count to its time."""
        kind = self._unfinished.pop(cell_id)
        for name in (kind, ""):
            self._finishing.setdefault(name, []).append(took_s)

    def left_s(self) -> float:
        """The time until the last cell has ended, or has become whole."""
        now = self._now()
        running = [self._rest_s(cell_id, now - began) for cell_id, began in self._began.items()]
        waiting = [self._expected_s(cell_id) for cell_id in self._waiting]
        return max(makespan(waiting, self._parallel, running), self._finish_s())

    def _finish_s(self) -> float:
        """What it takes to finish the others: the median of their kind, because the first one may load a library."""
        every = self._finishing.get("")
        if every is None:
            return 0.0
        from statistics import median

        return sum(median(self._finishing.get(kind, every)) for kind in self._unfinished.values())

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
        if kind == KEPT:
            return took / expected if expected else 1.0
        return (took + _TRUST_S * common) / (expected + _TRUST_S)
