"""The probe under sanitizers: tools/sanitize.py DIRECTORY [RUNS] [--seed SEED] [--minutes MINUTES] [--no-units].

Runs the unit tests that were built in DIRECTORY, and so many runs of its probe that measure, drawn at random: each
test with ways to sleep, periods, policies, loads, recorded events and outputs. Everything happens in a memory cgroup
of its own where one can be made, as a sanitizer's shadow can take the machine's memory. The code is 1 if a sanitizer
reported anything, in whatever process, or a run ended with a code that no run has.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

MEMORY_BYTES = 4 << 30
MEASURED, THRESHOLD, USAGE, NOT_POSSIBLE, INCONCLUSIVE = 0, 1, 2, 3, 5
HUNG = -1
MOST_TRIES = 4
"""Of a run, as some are not possible on every machine."""
RUN_S = 120
# The ways to switch hand locks round in a ring, and one has its lock opened by the other side: they measure that.
OPTIONS = {
    "ASAN_OPTIONS": "log_path={log}:exitcode=99:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "log_path={log}:exitcode=99:print_stacktrace=1",
    "TSAN_OPTIONS": "log_path={log}:exitcode=99:detect_deadlocks=0:report_mutex_bugs=0",
}


@contextmanager
def memory_group(most_bytes: int) -> Iterator[bool]:
    """Puts this process and what it starts into a memory cgroup; whether it could."""
    groups = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().splitlines())
    first = "memory" in groups
    base = Path("/sys/fs/cgroup/memory" if first else "/sys/fs/cgroup") / groups.get(
        "memory" if first else "", "/"
    ).lstrip("/")
    folder = base / f"howlate-sanitize-{os.getpid()}"
    limit = "memory.limit_in_bytes" if first else "memory.max"
    try:
        folder.mkdir()
        (folder / limit).write_text(str(most_bytes))
        (folder / "cgroup.procs").write_text(str(os.getpid()))
    except OSError:
        with suppress(OSError):
            folder.rmdir()
        yield False
        return
    try:
        yield True
    finally:
        with suppress(OSError):
            (base / "cgroup.procs").write_text(str(os.getpid()))
            folder.rmdir()


def draw(listed: Any, dice: random.Random, folder: Path) -> list[str]:
    """A command line that measures."""

    def some(kind: str) -> str:
        names: list[str] = [one["name"] for one in listed[kind] if not one.get("reason")]
        return dice.choice(names)

    test = some("tests")
    words = [test, f"--duration={dice.choice((20, 50, 100))}ms"]
    period_us = dice.choice((200, 500, 1000, 5000))
    policy = dice.choice(("other", "fifo:1", "fifo:50", "rr:10"))
    more = {
        "cyclic": [f"--timer={some('timers')}", f"--period={period_us}us", f"--policy={policy}"],
        "timer": [f"--period={period_us}us"],
    }.get(test, [])
    words += more
    if test == "cyclic" and dice.random() < 0.3:
        words.append("--explain")
    for _ in range(dice.choice((0, 0, 1, 1, 2))):
        words += ["--load", {"disk": "disk:1MiB/s"}.get(name := some("loads"), name)]
    if dice.random() < 0.5:
        words += ["--stream", str(folder / "stream")]
    return [*words, dice.choice(("--json", "--quiet", "--progress"))]


def reports(folder: Path) -> list[str]:
    return [path.read_text(errors="replace") for path in sorted(folder.glob("report.*"))]


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {name: text.format(log=folder / "report") for name, text in OPTIONS.items()}


def call(argv: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(argv, env=environment(folder), capture_output=True, timeout=RUN_S)


def try_run(probe: Path, words: Sequence[str], folder: Path) -> tuple[int, str]:
    """Its code, or `HUNG`, and what is wrong with it."""
    try:
        done = call([probe, *words], folder)
    except subprocess.TimeoutExpired:
        return HUNG, f"did not end within {RUN_S} s"
    wrong = reports(folder)
    if done.returncode not in (MEASURED, THRESHOLD, USAGE, NOT_POSSIBLE, INCONCLUSIVE):
        wrong.append(f"ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    stream = folder / "stream"
    if done.returncode == MEASURED and stream.exists():
        checked = call([probe, "check-stream", str(stream)], folder)
        wrong += reports(folder) if checked.returncode == 0 else [checked.stderr.decode(errors="replace")]
    return done.returncode, "\n".join(wrong)


def measure(probe: Path, runs: int, seed: int, minutes: float = math.inf) -> int:
    """So many runs that measure, as far as the time lasts; how many of all had something wrong."""
    ends_at = time.monotonic() + 60 * minutes
    dice = random.Random(seed)
    listed = json.loads(subprocess.check_output([probe, "list", "--json"]))
    codes: Counter[int] = Counter()
    faults = 0
    while codes[MEASURED] < runs and codes.total() < MOST_TRIES * runs + 20 and time.monotonic() < ends_at:
        with tempfile.TemporaryDirectory() as name:
            words = draw(listed, dice, Path(name))
            code, wrong = try_run(probe, words, Path(name))
        codes[code] += 1
        if wrong:
            faults += 1
            print(f"{' '.join(words)}\n{wrong}", file=sys.stderr)
    told = ", ".join(f"{many} with code {code}" for code, many in sorted(codes.items()))
    print(f"{probe.parent.name}: {codes.total()} runs, {told}; {faults} with a report")
    return faults + int(codes[MEASURED] < runs and time.monotonic() < ends_at)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("runs", type=int, nargs="?", default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=math.inf, help="no run is begun after them")
    parser.add_argument("--no-units", action="store_true", help="without the unit tests")
    asked = parser.parse_args()
    with memory_group(MEMORY_BYTES) as limited, tempfile.TemporaryDirectory() as name:
        if not limited:
            print("no memory cgroup can be made here: nothing limits what this takes", file=sys.stderr)
        faults = 0 if asked.no_units else unit_faults(asked.directory, Path(name))
        probe = asked.directory / "howlate-probe"
        return int(faults + measure(probe, asked.runs, asked.seed, asked.minutes) > 0)


def unit_faults(directory: Path, folder: Path) -> int:
    """What the unit tests' own code and the sanitizer report of them."""
    done = subprocess.run([directory / "probe-unit", "--minimal"], env=environment(folder))
    found = reports(folder)
    for report in found:
        print(report, file=sys.stderr)
    return int(done.returncode != 0) + len(found)


if __name__ == "__main__":
    sys.exit(main())
