"""1,000 runs in one folder, own and imported ones: how long `history` and `query` take.

Makes the runs from a fixed seed: half of them own runs of five cells with a machine's facts, half imported ones of
one cell without. Then it calls each command in a process of its own, without the index and with it. Exit code 1
where a call needs more than 2 s of wall time.

    python bench/query.py [--runs N] [--keep DIR]
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from figures import Figure, Part, add_option, all_kept  # noqa: E402
from hundred_million import write_stream  # noqa: E402

from howlate.model.plan import Cell, Plan  # noqa: E402
from howlate.model.run import BY_HAND, Run  # noqa: E402
from howlate.model.study import Study  # noqa: E402
from howlate.model.summary import SCHEMA, Accounting, CellSummary  # noqa: E402
from howlate.statistics.describe import ValueCounts  # noqa: E402
from howlate.statistics.statistics import describe  # noqa: E402
from howlate.store.checksums import write_checksums  # noqa: E402
from howlate.store.ingest import ingest  # noqa: E402
from howlate.store.run_folder import SUMMARY  # noqa: E402
from howlate.store.summarise import summarise  # noqa: E402

PARTS = (Part("query", "history and query over 1,000 runs: wall time with and without an index"),)
SECONDS_MAX = 2.0
CALLS = 3
LOADS = ("none", "cpu:100", "memory", "disk", "network")
SAMPLES = 12_000
LABELS = {"period": "1ms", "policy": "fifo:80", "timer": "clock_nanosleep", "cpu": "1"}
FACTS = ROOT / "tests" / "fixtures" / "machines" / "guest-6.18-dynamic.json"
FIRST = datetime(2026, 1, 1, tzinfo=UTC)
WORSE_FROM, WORSE = 0.7, 1.5
"""In the last runs of the machine another kernel is later by this factor."""
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "query": ("query", "SELECT load, max(max_ns) FROM cells JOIN statistics USING (run, cell) GROUP BY load"),
    "history": ("history", "--json"),
}


def make_cell(folder: Path) -> None:
    """A whole cell's files, made by the code that stores a measured one; its summary is replaced in each run."""
    folder.mkdir(parents=True)
    stream = folder / "stream"
    write_stream(stream, SAMPLES)
    ingest(stream, folder)
    stream.unlink()
    summarise(folder, "cell", LABELS)


def summary_of(cell: Cell, random: np.random.Generator, factor: float) -> CellSummary:
    latency_ns = (factor * (1_200 + random.lognormal(8.0, 0.3, SAMPLES))).astype(np.int64)
    latency_ns[0] += int(factor * random.lognormal(10.0, 0.5))
    counts = Accounting(SAMPLES, SAMPLES, 0, 0, 0, 0, 0, "skip")
    column = describe(ValueCounts.of(latency_ns), 1_000_000, 0, 0)
    clocks = {"before": "tsc", "after": "tsc"}
    labels = dict(cell.labels)
    return CellSummary(
        cell.id, cell.test, labels, counts, "activations", clocks, valid=True, columns={"latency_ns": column}
    )


def own_run(number: int, at: datetime, *, later: bool) -> Run:
    facts: dict[str, Any] = json.loads(FACTS.read_text())
    kernel = "6.18.44" if later else "6.12.9"
    facts["values"] |= {"kernel.release": kernel}
    cells = tuple(
        Cell(
            f"{load.replace(':', '-')}-0123456789-1",
            "cyclic",
            {},
            {"kernel": kernel, "load": load} | LABELS,
            1,
            12,
        )
        for load in LOADS
    )
    study = Study("check", "A first look", "How late can this Linux be?", "cyclic")
    name = f"{at:%Y%m%dT%H%M%S}-check-{number}"
    versions = {"howlate": "0.1.0", "probe": "0.1.0"}
    return Run(name, f"{at:%Y-%m-%dT%H:%M:%SZ}", study, Plan(cells), "local", facts, versions=versions)


def imported_run(number: int, at: datetime) -> Run:
    cell = Cell("cyclictest", "cyclic", {}, {"load": "none", "board": "left"} | LABELS, 1, 12)
    study = Study("imported", "Imported", "How late?", "cyclic")
    name = f"{at:%Y%m%dT%H%M%S}-imported-{number}"
    return Run(name, f"{at:%Y-%m-%dT%H:%M:%SZ}", study, Plan((cell,)), BY_HAND)


def make_runs(place: Path, runs: int) -> None:
    """The folder: files written as they are, without the syncs that a measured run takes."""
    random = np.random.default_rng(20260101)
    template = place / ".template"
    make_cell(template)
    for number in range(runs):
        at, later = FIRST + timedelta(hours=6 * number), number >= WORSE_FROM * runs
        run = own_run(number, at, later=later) if number % 2 == 0 else imported_run(number, at)
        folder = place / run.id
        for cell in run.plan.cells:
            path = folder / "cells" / cell.id
            shutil.copytree(template, path)
            summary = summary_of(cell, random, WORSE if later else 1.0)
            (path / SUMMARY).write_text(json.dumps({"schema": SCHEMA, **summary.to_json()}, indent=1))
            write_checksums(path, run.token)
        (folder / "run.json").write_text(replace(run, warnings=()).to_text())
    shutil.rmtree(template)


def seconds(place: Path, arguments: tuple[str, ...]) -> tuple[float, float]:
    """Wall and CPU seconds of a call, the median of some."""
    taken, used = [], []
    for _ in range(CALLS):
        begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "howlate", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, check=False
        )
        taken.append(time.monotonic() - begun)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        if done.returncode != 0:
            raise SystemExit(f"howlate ended with exit code {done.returncode}:\n{done.stderr}")
    return statistics.median(taken), statistics.median(used)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--keep", type=Path, help="make (or reuse) the runs there and leave them")
    add_option(parser)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="howlate-bench-") as temporary:
        work = wanted.keep or Path(temporary)
        if not (work / "runs").is_dir():
            make_runs(work / "runs", wanted.runs)
        figures = [Figure("runs", wanted.runs)]
        for name, arguments in COMMANDS.items():
            for index in ("--no-index", ""):
                words = (*arguments, index) if index else arguments
                taken, used = seconds(work, words)
                how = "every file read" if index else "with the index"
                figures.append(Figure(f"{name}, {how}", round(taken, 2), "s", at_most=SECONDS_MAX))
                figures.append(Figure(f"{name}, {how}: CPU time", round(used, 2), "s"))
    for figure in figures:
        limit = "" if figure.at_most is None else f" (at most {figure.at_most:g})"
        print(f"{figure.name:38} {figure.value:8g} {figure.unit}{limit}")
    return 0 if all_kept(figures, wanted.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
