"""./dev hostile [MUTATIONS] [--seed SEED] [--from NUMBER]: run folders and files of other tools, altered, each over a
command. A fault is printed with its number; `--from NUMBER --only 1` repeats it."""

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from hostile.harness import COMMANDS, KINDS, Harness, warm_up
from hostile.made import make_runs
from hostile.planted import PLANTS


def import_mutations(count: int, seed: str, first: int = 0) -> list[str]:
    from imports.foreign import BY_NAME
    from imports.mutate import judged, mutated

    files = [(file, file.path.read_bytes()) for file in BY_NAME.values()]
    faults = []
    for number in range(first, first + count):
        file, data = files[number % len(files)]
        altered = mutated(data, random.Random(f"{seed}-{number}"))
        try:
            judged(file, altered, f"{file.name}, {number}")
        except AssertionError as problem:
            faults.append(str(problem))
    return faults


def main() -> int:
    asked = arguments()
    numbers = range(asked.first, min(asked.mutations, asked.first + (asked.only or asked.mutations)))
    with tempfile.TemporaryDirectory(prefix="howlate-hostile-") as folder:
        beside = Path(folder)
        child = os.fork()  # a process that used DuckDB has threads, and must not fork
        if child == 0:
            make_runs(beside)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        warm_up()
        harness = Harness(beside, beside)
        if asked.plant:
            for command in asked.command or COMMANDS:
                harness.said(command)
            PLANTS[asked.plant]()
        ends_at = time.monotonic() + asked.minutes * 60
        done = 0
        for number in numbers:
            if time.monotonic() > ends_at:
                break
            told = len(harness.report.faults)
            harness.mutate(
                asked.seed, number, asked.command or list(COMMANDS), asked.kind or KINDS, asked.way
            )
            done += 1
            for fault in harness.report.faults[told:]:
                print(fault, flush=True)
    report = harness.report
    least = min(report.calls.values(), default=0)
    print(f"runs: {done:,} mutations, at least {least} a command; ", end="")
    print(", ".join(f"{count:,} {what}" for what, count in sorted(report.classes.items())), end="")
    print(f"; the longest call took {report.most_cpu_s:.1f} s of CPU time")
    if done < len(numbers):
        print(f"the time is over: go on with --from {asked.first + done}")
    if not asked.no_imports:
        faults = import_mutations(len(numbers), asked.seed, asked.first)
        print("\n".join([*faults, f"files of other tools: {len(numbers):,} mutations, {len(faults)} faults"]))
        report.faults += faults
    return int(bool(report.faults))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev hostile", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("mutations", type=int, nargs="?", default=5_000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--only", type=int, help="so many of them")
    parser.add_argument(
        "--minutes", type=float, default=60.0, help="no mutation of a run is begun after them"
    )
    parser.add_argument("--command", action="append", choices=list(COMMANDS), help="these commands alone")
    parser.add_argument("--kind", action="append", choices=KINDS, help="these alterations alone")
    parser.add_argument("--way", default="", help="this accident alone: flip, digit, cut, delete, pipe, ...")
    parser.add_argument("--no-imports", action="store_true")
    parser.add_argument("--plant", choices=PLANTS, help="a fault in howlate that the harness must find")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
