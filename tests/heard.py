"""A listener to the execution of a plan that remembers what it is told."""

from howlate.measure.execute import Failure
from howlate.model.plan import Cell
from howlate.model.summary import CellSummary
from howlate.targets import Progress


class Heard:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.made: list[str] = []
        self.failures: list[Failure] = []
        self.left: list[float] = []

    def starts(self, cell: Cell, number: int, of: int, left_s: float) -> None:
        self.started.append(cell.id)
        self.left.append(left_s)

    def progress(self, cell: Cell, progress: Progress, left_s: float) -> None:
        self.left.append(left_s)

    def whole(self, cell: Cell, summary: CellSummary) -> None:
        self.made.append(cell.id)

    def failed(self, failure: Failure) -> None:
        self.failures.append(failure)
