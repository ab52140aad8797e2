"""Loads a run, reading each file of its folder once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from howlate.errors import DamagedError
from howlate.model.bins import CellBins
from howlate.model.decode import json_value
from howlate.model.facts import Facts
from howlate.model.loaded import CellContent, MeasuredKernel, RunContent
from howlate.model.run import Run
from howlate.model.summary import CellSummary
from howlate.statistics.valid import UNCHECKED
from howlate.store.run_folder import BINS, CPUS, CellFiles, RunFolder

if TYPE_CHECKING:
    from howlate.model.trace import CellTrace


def load_run(
    path: Path,
    *,
    bins: bool = True,
    kernels: bool = True,
    intervals: bool | None = None,
    is_strict: bool = True,
    last: int | None = None,
) -> RunContent:
    """A run folder as a value, with the `last` of its whole cells alone if `last` is given.
    Without `bins`, only what tables need: no bins, frequencies or traces; without
    `kernels`, no configurations. `intervals` makes those of the quantiles of points that are not repeated, if there
    ever was a bins.json; None: where there are `bins`. Samples are read only if that is wanted and is missing or
    damaged. Where bins or a trace are damaged, DamagedError if `is_strict`; else the cell comes without them, and is
    named."""
    folder = RunFolder.at(path)
    run = folder.read_run()
    whole = folder.whole_cells(run)
    whole = whole if last is None else whole[-last:]
    stated = set(whole) if intervals is None and bins else _unrepeated(run) if intervals else set()
    cells = [
        _cell(folder.files(cell, run), bins=bins, intervals=cell in stated, is_strict=is_strict)
        for cell in whole
    ]
    if bins:
        cells = _with_frequencies(folder.path, cells)
    return RunContent(
        run,
        tuple(cells),
        folder.failed_cells(),
        read_kernels(folder, run) if kernels else (),
        gone=tuple(sorted(folder.finished_cells() - set(whole))),
    )


def _unrepeated(run: Run) -> set[str]:
    counts = Counter(cell.point for cell in run.plan.cells)
    return {cell.id for cell in run.plan.cells if counts[cell.point] == 1}


def _cell(files: CellFiles, *, bins: bool, intervals: bool, is_strict: bool) -> CellContent:
    record = files.record()
    trailer = _mapping(record.get("trailer"))
    summary = files.summary()
    held: CellBins | None = None
    trace: CellTrace | None = None
    try:
        held, trace = (_bins(files), _trace(files, record)) if bins else (None, None)
    except DamagedError as problem:
        if is_strict:
            raise
        summary = _named(files, summary, problem)
    if intervals and (held is not None or BINS in files.known or os.path.lexists(files.folder / BINS)):
        from howlate.statistics.quantiles import with_intervals  # the first screen of `show` has none

        try:
            summary = with_intervals(summary, held or _bins(files))
        except DamagedError as problem:
            summary = _named(files, summary, problem)
    return CellContent(
        summary,
        held,
        _mapping(record.get("header")),
        trailer,
        frequency_of(trailer),
        trace,
    )


def _named(files: CellFiles, summary: CellSummary, problem: DamagedError) -> CellSummary:
    """The figures stand, without what is damaged; the cell is named."""
    is_named = any(warning.rule == UNCHECKED.id for warning in summary.warnings)
    return summary if is_named else files.beside_samples(summary, problem.statement)


def _trace(files: CellFiles, record: Mapping[str, Any]) -> CellTrace | None:
    """Without one, duckdb is not imported for it."""
    from howlate.store.recorded import has_trace

    if not has_trace(record):
        return None
    from howlate.store.trace import trace_of

    return trace_of(files)


def _bins(files: CellFiles) -> CellBins:
    try:
        return files.bins()
    except DamagedError:
        from howlate.store.summarise import bins_of  # this needs duckdb, which bins.json does not

        return bins_of(files)


def frequency_of(trailer: Mapping[str, Any]) -> tuple[int, int] | None:
    """The smallest and the largest frequency of the measuring CPUs in a trailer, before and after; None if
    there is none."""
    told = trailer.get("frequency_khz")
    entries = [entry for entry in told if isinstance(entry, dict)] if isinstance(told, list) else []
    values = [entry.get(at) for entry in entries for at in ("before", "after")]
    known = [khz for khz in values if isinstance(khz, int) and not isinstance(khz, bool) and khz > 0]
    return (min(known), max(known)) if known else None


def _with_frequencies(folder: Path, cells: Sequence[CellContent]) -> list[CellContent]:
    """The cell with the frequencies that older probes wrote once a second instead of in their trailer."""
    silent = [
        (c.summary.id, c.header) for c in cells if not c.frequency_khz and not c.trailer.get("frequency_khz")
    ]
    found = frequencies_khz(folder, silent) if silent else {}
    return [
        replace(cell, frequency_khz=found[cell.summary.id]) if cell.summary.id in found else cell
        for cell in cells
    ]


def frequencies_khz(
    folder: Path, cells: Sequence[tuple[str, Mapping[str, Any]]]
) -> dict[str, tuple[int, int]]:
    """The smallest and the largest frequency of the measuring CPUs of each cell (its id and its stream's
    header) in cpus.parquet; without cells for which cpufreq gave none, or whose file cannot be read."""
    from howlate.store.duck import (
        arrays,
        connection,
        reading,
        scan,
    )  # this needs duckdb, which `show` does not

    extremes = {}
    with connection(folder) as database:
        for cell_id, header in cells:
            path = folder / "cells" / cell_id / CPUS
            if not path.is_file():
                continue
            cpus = _measuring_cpus(header)
            only = f" AND cpu IN ({', '.join(map(str, cpus))})" if cpus else ""
            with suppress(DamagedError), reading(path):
                rows = arrays(
                    database,
                    "SELECT coalesce(min(frequency_khz), 0) AS low, coalesce(max(frequency_khz), 0) AS high "
                    f"FROM {scan(database, path)} WHERE frequency_khz > 0{only}",
                )
                low, high = int(rows["low"][0]), int(rows["high"][0])
                if high > 0:
                    extremes[cell_id] = (low, high)
    return extremes


def _measuring_cpus(header: Mapping[str, Any]) -> list[int]:
    """The CPUs to which the threads are pinned; none if one of them is not pinned."""
    in_force = header.get("in_force")
    threads = in_force.get("threads") if isinstance(in_force, dict) else None
    cpus = [t.get("cpu") if isinstance(t, dict) else None for t in threads or ()]
    pinned = [cpu for cpu in cpus if isinstance(cpu, int) and cpu >= 0]
    return pinned if len(pinned) == len(cpus) else []


def read_kernels(folder: RunFolder, run: Run) -> tuple[MeasuredKernel, ...]:
    """The run's kernels, in the order of its plan; kernels that differ only in boot parameters share the file
    of their configuration."""
    from howlate.sides.configs import options_of

    texts = {file: folder.config(file) for file in dict.fromkeys(run.configs.values())}
    configs = {file: options_of(text) for file, text in texts.items()}
    kernels = []
    for label, captured in run.machines.items():
        facts = Facts.from_json(dict(captured))
        whole = label in run.configs
        kernels.append(
            MeasuredKernel(
                label,
                facts.text("kernel.release") or "unknown",
                facts.text("kernel.version") or "unknown",
                command_line(facts),
                configs[run.configs[label]] if whole else _of_facts(facts),
                whole,
            )
        )
    return tuple(kernels)


def command_line(facts: Facts) -> str:
    """In the lab the command line that QEMU was given, because the machine's own facts leave out values that
    may be private."""
    try:
        arguments = json_value(facts.text("lab.arguments") or "[]")
        return str(arguments[arguments.index("-append") + 1])
    except (ValueError, IndexError, AttributeError):
        return facts.text("kernel.cmdline") or ""


def _of_facts(facts: Facts) -> dict[str, str]:
    return {
        name: str(value) for name, value in (facts.mapping("kernel.config") or {}).items() if value != "n"
    }


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
