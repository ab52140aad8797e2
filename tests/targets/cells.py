"""Cells for the tests of targets, and what they leave."""

from pathlib import Path

from fakes import make_plan, study
from howlate.model.plan import Cell
from howlate.store.stream import StreamReader
from howlate.targets import Progress, Target


def cell_of(target: Target, activations: int = 200, **settings: str) -> Cell:
    """A cell that needs no rights; short, unless activations says otherwise."""
    wanted = {"policy": "other", "period": "1ms", "activations": str(activations), **settings}
    return make_plan(study(wanted, {"load": ("none",)}), target.capabilities()).cells[0]


def nothing(progress: Progress) -> None:
    pass


def rows_of(stream: Path) -> tuple[int, StreamReader]:
    with StreamReader.open(stream) as reader:
        rows = sum(b.rows for b in reader.batches() if b.table.name == "samples")
    return rows, reader
