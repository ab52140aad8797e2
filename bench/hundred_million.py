"""1e8 samples in the run folder's format: how long statistics and report take, and with how much memory.

Makes one whole cell with the same writer that a measured cell goes through (lognormal body, rare bursts,
period 1 ms with dither), then, each in a process of its own: reads every column (what nobody can undercut),
makes summary and bins, makes the report, shows the summary, judges a deadline that reads the samples. Prints wall
time, CPU time, peak memory and the ratio to reading. Exit code 1 if a limit is exceeded: statistics and report
4 s and 1 GB, show 0.3 s, the verdict 3 s.

    python bench/hundred_million.py [--samples N] [--keep DIR]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from figures import Figure, Part, add_option, all_kept  # noqa: E402

from howlate.model.plan import Cell, Plan  # noqa: E402
from howlate.model.run import Run  # noqa: E402
from howlate.model.study import Study  # noqa: E402
from howlate.store.ingest import ingest  # noqa: E402
from howlate.store.run_folder import RunFolder  # noqa: E402
from howlate.store.summarise import summarise  # noqa: E402
from store.streams import StreamWriter  # noqa: E402

PARTS = (
    Part(
        "hundred_million",
        "statistics, report and verdict of 1e8 samples: time, memory, ratio to reading the file",
    ),
)
CELL = "load=none"
LABELS = {"load": "none", "period": "1ms", "policy": "fifo:80", "timer": "clock_nanosleep", "cpu": "1"}
PERIOD_NS = 1_000_000
BATCH_ROWS = 200_000
SECONDS_MAX, BYTES_MAX, SHOW_SECONDS_MAX, VERDICT_SECONDS_MAX = 4.0, 1_000_000_000, 0.3, 3.0
MISSED = "100us"
"""A deadline that some samples miss: their clusters are counted, so the samples are read."""
COLUMNS = [
    {"name": "release", "type": "i64"},
    {"name": "release_ns", "type": "i64"},
    {"name": "latency_ns", "type": "i64"},
    {"name": "response_ns", "type": "i64"},
    {"name": "flags", "type": "u8"},
]
CPU_COLUMNS = [
    {"name": "time_ns", "type": "i64"},
    {"name": "cpu", "type": "i32"},
    {"name": "busy_permille", "type": "i32"},
    {"name": "steal_permille", "type": "i32"},
]


def latencies(random: np.random.Generator, n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A lognormal body about 4 us with a slow drift's width, one in 3,000 in a second mode, bursts of up to
    30 ms."""
    body = 1_200 + random.lognormal(8.0, 0.3, n)
    second = random.random(n) < 1 / 3_000
    body[second] += random.lognormal(10.5, 0.6, int(second.sum()))
    for start in np.flatnonzero(random.random(n) < 2e-6):
        length = int(random.integers(1, 40))
        body[start : start + length] += np.linspace(random.uniform(1e5, 3e7), 0, length)[: n - start]
    return body.astype(np.int64)


def write_stream(path: Path, samples: int) -> None:
    """The stream of one thread, and a row a CPU every thousand seconds."""
    random = np.random.default_rng(20260101)
    header = {
        "stream": 1,
        "probe": "benchmark",
        "test": "cyclic",
        "parameters": {"period": "1ms", "late-policy": "backlog", "dither": "true"},
        "in_force": {"threads": [{"cpu": 1, "policy": "fifo:80"}]},
        "facts": {},
        "t0_ns": 0,
        "tables": [
            {"id": 0, "name": "samples", "cpu": 1, "thread": 0, "columns": COLUMNS},
            {"id": 1, "name": "cpus", "columns": CPU_COLUMNS},
        ],
    }
    most, at, now = -1, -1, 0
    with path.open("wb") as file:
        writer = StreamWriter(file, header)
        for start in range(0, samples, BATCH_ROWS):
            n = min(BATCH_ROWS, samples - start)
            release = np.arange(start, start + n, dtype=np.int64)
            gaps = random.integers(PERIOD_NS // 2, PERIOD_NS * 3 // 2, n)
            release_ns = now + np.cumsum(gaps) - gaps[0]
            now = int(release_ns[-1]) + PERIOD_NS
            latency = latencies(random, n)
            if int(latency.max()) > most:
                most, at = int(latency.max()), start + int(latency.argmax())
            zeros = np.zeros(n, np.int64)
            columns = {"release": release, "release_ns": release_ns, "latency_ns": latency}
            writer.batch(0, columns | {"response_ns": zeros, "flags": zeros}, releases=start + n)
        seconds = np.arange(0, now // 10**9, 1_000)
        cpus = {"time_ns": seconds * 10**9, "cpu": seconds * 0, "busy_permille": seconds % 1000}
        writer.batch(1, cpus | {"steal_permille": seconds * 0})
        own = {"table": 0, "cpu": 1, "releases": samples, "recorded": samples}
        own |= {"latency_ns_max": most, "release_at_max": at}
        writer.trailer(
            {
                "stop_reason": "activations",
                "accounting": [own],
                "clocksource": {"before": "tsc", "after": "tsc"},
                "duration_ns": now,
                "frequency_khz": [{"cpu": 1, "before": 0, "after": 0}],
            }
        )


def make_run(path: Path, samples: int) -> None:
    """A run folder with one whole cell but its summary."""
    cell = Cell(CELL, "cyclic", {"load": ("none",)}, LABELS, 1, samples / 1000)
    study = Study("hundred-million", "benchmark", "how long does it take?", "cyclic")
    run = Run("benchmark", "2026-01-01T00:00:00Z", study, Plan((cell,)), "local")
    folder = RunFolder.create(path, run)
    part = folder.start_cell(CELL)
    stream = part / "stream"
    write_stream(stream, samples)
    ingest(stream, part)
    stream.unlink()
    summarise(part, CELL, LABELS)
    folder.finish_cell(CELL)


def step(name: str, run: Path, samples: int) -> None:
    """One measured step, in this process."""
    if name == "make":
        make_run(run, samples)
        return
    folder = RunFolder(run)
    cell = folder.cell_path(CELL)
    if name == "read":
        from howlate.store.duck import connection, scan

        with connection(run) as database:
            columns = [column["name"] for column in COLUMNS] + ["thread", "cpu"]
            sums = ", ".join(f"sum({column})" for column in columns)
            database.execute(f"SELECT {sums} FROM {scan(database, cell / 'samples.parquet')}").fetchall()
    elif name == "statistics":
        summarise(cell, CELL, LABELS)


COMMANDS = {
    "report": ("report", "RUN", "-o", "RUN/report.html"),
    "show": ("show", "RUN", "--json"),
    "verdict": ("verdict", "RUN", "--deadline", MISSED, "--json"),
}
EXIT_CODES = {"verdict": 1}
CALL = (
    "import sys; from howlate.__main__ import main; code = main(sys.argv[1:]); "
    "peak = open('/proc/self/status').read().partition('VmHWM:')[2].split()[0]; "
    "print('peak', int(peak) << 10, file=sys.stderr); sys.exit(code)"
)
"""A command in a process that imports nothing else."""


def memory_peak() -> int:
    """The most bytes that this process had in memory since it was executed."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")) * 1024


def measured(name: str, run: Path, samples: int = 0) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds and peak bytes of one step in a fresh process."""
    command = [sys.executable, __file__, "--samples", str(samples), "--step", name, str(run)]
    if name in COMMANDS:
        words = [word.replace("RUN", str(run)) for word in COMMANDS[name]]
        command = [sys.executable, "-c", CALL, *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with tempfile.TemporaryFile() as errors:
        begun = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begun
        errors.seek(0)
        told = errors.read().decode(errors="replace")
    if os.waitstatus_to_exitcode(status) != EXIT_CODES.get(name, 0) or "peak " not in told:
        raise SystemExit(f"the step {name} failed:\n{told}")
    return seconds, usage.ru_utime + usage.ru_stime, int(told.rsplit("peak ", 1)[1])


@contextmanager
def place(keep: Path | None) -> Iterator[Path]:
    """A folder for the run, removed unless it is to be kept."""
    if keep is not None:
        yield keep
        return
    with tempfile.TemporaryDirectory(
        prefix="howlate-bench-", dir=os.environ.get("TMPDIR", "/var/tmp")
    ) as name:
        yield Path(name) / "run"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=lambda text: int(float(text)), default=100_000_000)
    parser.add_argument("--keep", type=Path, help="make (or reuse) the run there and leave it")
    add_option(parser)
    parser.add_argument("--step", nargs=2, metavar=("NAME", "RUN"), help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.step:
        try:
            step(wanted.step[0], Path(wanted.step[1]), wanted.samples)
        finally:
            print(f"peak {memory_peak()}", file=sys.stderr)
        return 0
    with place(wanted.keep) as run:
        steps = ("read", "statistics", "report", "show", "verdict")
        made = run / "run.json"
        found = {
            name: measured(name, run, wanted.samples) for name in (() if made.exists() else ("make",)) + steps
        }
        stored = (run / "cells" / CELL / "samples.parquet").stat().st_size
        samples = RunFolder(run).summary(CELL).columns["latency_ns"].count or 0
    print(f"{samples:,} samples of {stored / samples:.2f} bytes")
    for name, (seconds, cpu, peak) in found.items():
        print(f"{name:12} {seconds:6.2f} s  {cpu:6.2f} s CPU  {peak / 1e6:6.0f} MB")
    both = found["statistics"][0] + found["report"][0]
    most = max(found[name][2] for name in ("statistics", "report", "verdict"))
    show, verdict, read = (found[name][0] for name in ("show", "verdict", "read"))
    print(
        f"statistics and report: {both:.2f} s (at most {SECONDS_MAX:.0f}), {most / 1e6:.0f} MB (at most 1000)"
    )
    print(f"that is {both / read:.1f} times merely reading the file")
    print(f"show: {show:.2f} s (at most {SHOW_SECONDS_MAX:g})")
    print(f"verdict: {verdict:.2f} s (at most {VERDICT_SECONDS_MAX:.0f})")
    figures = [
        Figure("samples", samples),
        Figure("statistics and report", round(both, 2), "s", at_most=SECONDS_MAX),
        Figure("most memory", round(most / 1e6), "MB", at_most=BYTES_MAX / 1e6),
        Figure("show", round(show, 2), "s", at_most=SHOW_SECONDS_MAX),
        Figure("verdict", round(verdict, 2), "s", at_most=VERDICT_SECONDS_MAX),
        Figure("statistics and report, times reading the file", round(both / read, 1)),
    ]
    return 0 if all_kept(figures, wanted.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
