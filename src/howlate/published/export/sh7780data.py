"""The data files of figures 2 to 5 of the study `sh7780-2008`, as its gnuplot lines read them: for each kernel
`data-time-KERNEL` (argument of hackbench, its time in s with nothing measured, and while measured) and
`data-latency-KERNEL` (argument, largest latency in us of the measuring process, and of the interrupt's handler).

Of a point with several valid repetitions stands the median over them, as in the report's charts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from msgspec import Struct, field

from howlate.errors import UsageError
from howlate.model.study import numbered
from howlate.model.summary import CellSummary
from howlate.published.export._three import lacks
from howlate.store.export._rows import Format, chosen, loaded
from howlate.store.files import OUTPUT, storing, write_output
from howlate.store.run_folder import RunFolder

LOAD = "hackbench"
RUN_TIME = "run_ns_mean"
UNMEASURED, MEASURED = "unmeasured", "irq"
PERIOD = "1ms"
"""The period of the study's figures 2 to 5; its other measurement, at 10 ms, is not a point of them."""
PROCESS, HANDLER = "wake_latency_ns", "irq_latency_ns"
HEADS = {
    "time": "hackbench's argument, its time in s with nothing measured, while measured",
    "latency": "hackbench's argument, largest latency in us of the measuring process, of the interrupt's handler",
}


class Lines(Struct):
    values: dict[float, tuple[list[float], list[float]]] = field(default_factory=dict)
    """By argument, the values of the repetitions in both columns."""
    not_loaded: set[float] = field(default_factory=set)
    """Arguments with a valid cell in which hackbench starved, as the study expects."""


def write(run: RunFolder, out: Path, cells: Sequence[str] = ()) -> int:
    """`out` is a folder, which is made. Returns the number of lines."""
    if out.exists() and not out.is_dir():
        raise UsageError("{out} is not a folder", remedy="name one for the files: -o FOLDER", out=out)
    files: dict[tuple[str, str], Lines] = {}
    for cell in chosen(run, cells):
        summary = run.summary(cell)
        if summary.valid:
            _add(files, summary)
    if not files:
        raise lacks(run.path, f"valid cell of {UNMEASURED} or {MEASURED} under {LOAD}")
    with storing(out, OUTPUT):
        out.mkdir(parents=True, exist_ok=True)
    for (what, kernel), lines in files.items():
        write_output(out / f"data-{what}-{_plain(kernel)}", _text(what, lines), OUTPUT)
    return sum(len(lines.values) for lines in files.values())


def _add(files: dict[tuple[str, str], Lines], summary: CellSummary) -> None:
    argument = numbered(summary.labels.get("load", ""))
    if (
        argument is None
        or argument[0].partition(",")[0] != LOAD
        or summary.test not in (UNMEASURED, MEASURED)
    ):
        return
    if summary.labels.get("period", PERIOD) != PERIOD:
        return
    kernel, number = summary.labels.get("kernel", "here"), argument[1]
    for what, values in (("time", _times(summary)), ("latency", _latencies(summary))):
        for place, value in values.items():
            lines = files.setdefault((what, kernel), Lines())
            lines.values.setdefault(number, ([], []))[place].append(value)
            if loaded(summary) is False:
                lines.not_loaded.add(number)


def _times(summary: CellSummary) -> Mapping[int, float]:
    """Times in seconds, by column."""
    times = (load.results.get(RUN_TIME) for load in summary.loads if load.name == LOAD)
    time = next((its for its in times if isinstance(its, int | float)), None)
    return {} if time is None else {0 if summary.test == UNMEASURED else 1: time / 1e9}


def _latencies(summary: CellSummary) -> Mapping[int, float]:
    """Latencies in microseconds, by column."""
    runs = {}
    for place, name in enumerate((PROCESS, HANDLER)):
        column = summary.columns.get(name)
        if column is not None and column.max is not None:
            runs[place] = column.max / 1e3
    return runs


def _text(what: str, lines: Lines) -> str:
    rows = [f"# {HEADS[what]}"]
    if lines.not_loaded:
        rows.append("# not loaded: " + " ".join(f"{number:g}" for number in sorted(lines.not_loaded)))
    for number, both in sorted(lines.values.items()):
        values = " ".join(f"{median(values):.6f}" if values else "nan" for values in both)
        rows.append(f"{number:g} {values}")
    return "\n".join(rows) + "\n"


def _plain(kernel: str) -> str:
    return re.sub(r"[^A-Za-z0-9._=@+-]+", "-", kernel).strip("-")


FORMAT = Format(
    "sh7780data",
    "-data",
    "a folder with the data files of figures 2 to 5 of sh7780-2008",
    write,
    one_text=False,
)
