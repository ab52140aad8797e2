"""Runs to export, and the exporters by their names."""

from collections.abc import Callable
from pathlib import Path

from howlate.store.export import find_format
from howlate.store.ingest import ingest
from howlate.store.run_folder import STREAM, RunFolder
from howlate.store.summarise import summarise

from .runs import a_run
from .streams import stream


def exporter(name: str) -> Callable[..., int]:
    return find_format(name).write


ABSENT = {
    "name": "cpu",
    "spec": "cpu:100",
    "target_cpu": 1.0,
    "achieved_cpu": 0.01,
    "goal": {"unit": "CPU", "target": 1.0, "reference": None, "achieved": 0.01, "deed": "turns", "deeds": 5},
}
"""A load that got a hundredth of what it asked for."""


def doubtful(path: Path) -> RunFolder:
    """Cells that are as they should be, not valid, not loaded, and starved as the study expects."""
    absent = stream([5, 6], trailer_changes={"loads": [ABSENT]})
    cells = {"good": stream([1, 2]), "cut": stream([3, 4])[:-8], "absent": absent, "starved": absent}
    run = RunFolder.create(path, a_run(*cells))
    for cell, data in cells.items():
        part = run.start_cell(cell)
        (part / STREAM).write_bytes(data)
        ingest(part / STREAM, part)
        (part / STREAM).unlink()
        summarise(part, cell, {"load": cell}, starvation_expected=cell == "starved")
        run.finish_cell(cell)
    found = [(its.valid, its.starved) for its in run.summaries()]
    assert found == [(True, False), (False, False), (False, False), (True, True)]
    return run


def hackbench(argument: int, kernel: str, part: str) -> tuple[dict[str, str], dict[str, object]]:
    """A cell's labels and the part of its trailer that says how long hackbench took."""
    taken = {"name": "hackbench", "results": {"run_ns_mean": argument * (1e9 if part == "time" else 1.5e9)}}
    labels = {
        "load": f"hackbench:{argument}{',loops=5' if argument == 10 else ''}",
        "kernel": kernel,
        "part": part,
    }
    return labels, {"loads": [taken]}
