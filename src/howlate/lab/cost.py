"""How much this host, its kernel and a load differ from the cost model of plan/cost.py, according to past
cells."""

from __future__ import annotations

import math
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from howlate.lab.archive.packages import Say, silent
from howlate.lab.cache import read_sealed_json, write_sealed_json
from howlate.model.plan import Cell
from howlate.plan.cost import CELL_S, kind_of

_LEARN = 0.5
_MOST_BYTES = 16 << 20
_FORGET_S = 2.0
"""A shorter cell says little, because its start takes as long."""


@dataclass
class Costs:
    """Factors of the model that were observed on this host: by kind of cell, and for all cells."""

    path: Path | None = None
    say: Say = silent

    def __post_init__(self) -> None:
        self._hold = threading.Lock()
        self._factors: dict[str, float] = {}
        if self.path is not None:
            stored = read_sealed_json(
                self.path, self.say, "what cells take on this host is learnt again", _MOST_BYTES
            )
            with suppress(ValueError, TypeError, AttributeError, KeyError):
                factors = stored or {"factors": {}}
                self._factors = {str(k): float(v) for k, v in factors["factors"].items() if 0.01 < v < 100}

    def of(self, cell: Cell) -> float:
        with self._hold:
            return self._factors.get(kind_of(cell), self._factors.get("*", 1.0))

    def cost_s(self, cell: Cell) -> float:
        return CELL_S + max(0.0, cell.expected_s - CELL_S) * self.of(cell)

    def learn(self, cell: Cell, model_s: float, used_s: float) -> None:
        """Record that a cell took this long where the model predicts that; both without the constant part."""
        if model_s < _FORGET_S or used_s <= 0:
            return  # too short to be informative
        ratio = min(50.0, max(0.02, used_s / model_s))
        with self._hold:
            for name in (kind_of(cell), "*"):
                before = self._factors.get(name, ratio)
                self._factors[name] = math.exp((1 - _LEARN) * math.log(before) + _LEARN * math.log(ratio))
            self._keep()

    def _keep(self) -> None:
        if self.path is None:
            return
        with suppress(OSError):  # an estimate is not worth an error
            rounded = {name: round(value, 4) for name, value in sorted(self._factors.items())}
            write_sealed_json(self.path, {"schema": 1, "factors": rounded})
