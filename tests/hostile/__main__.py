"""./dev hostile [MUTATIONS] [--seed SEED] [--from NUMBER]: run folders and files of other tools, altered, each over a
command. A fault is printed with its number; `--from NUMBER --only 1` repeats it."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from hostile.harness import Report, baselines, mutate, warm_up


def make_run(place: Path) -> None:
    """A run of three cells: one of them recorded what the kernel did, one has another load."""
    from made_evidence import quiet
    from made_trace import late_samples
    from store.runs import a_folder, a_run
    from store.streams import header, stream, traced_stream

    changes = {"parameters": header()["parameters"] | {"deadline": "1ms"}}
    calm = [int(value) for value in quiet(2_000)]
    streams = {
        "traced": traced_stream(late_samples(3)),
        "none": stream(calm, header_changes=changes),
        "late": stream([*calm[:-1], 2_000_000], header_changes=changes),
    }
    a_folder(place, streams, run=a_run(*streams))


def import_mutations(count: int, seed: str, first: int = 0) -> list[str]:
    from importers.foreign import BY_NAME
    from importers.mutate import judged, mutated

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
    arguments = argparse.ArgumentParser(prog="./dev hostile", description=(__doc__ or "").splitlines()[0])
    arguments.add_argument("mutations", type=int, nargs="?", default=5_000)
    arguments.add_argument("--seed", default="1")
    arguments.add_argument("--from", type=int, default=0, dest="first")
    arguments.add_argument("--only", type=int, help="so many of them")
    arguments.add_argument("--no-imports", action="store_true")
    asked = arguments.parse_args()
    numbers = range(asked.first, min(asked.mutations, asked.first + (asked.only or asked.mutations)))
    report = Report()
    with tempfile.TemporaryDirectory(prefix="howlate-hostile-") as folder:
        beside = Path(folder)
        child = os.fork()  # a process that used DuckDB has threads, and must not fork
        if child == 0:
            make_run(beside / "pristine")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        warm_up()
        before = baselines(beside / "pristine", beside)
        for first in range(numbers.start, numbers.stop, 100):
            told = len(report.faults)
            mutate(
                beside / "pristine",
                beside,
                asked.seed,
                range(first, min(numbers.stop, first + 100)),
                before,
                report,
            )
            for fault in report.faults[told:]:
                print(fault, flush=True)
    least = min(report.calls.values(), default=0)
    print(f"runs: {sum(report.calls.values()):,} mutations, at least {least} a command; ", end="")
    print(", ".join(f"{count:,} {what}" for what, count in sorted(report.classes.items())), end="")
    print(f"; the longest call took {report.most_cpu_s:.1f} s of CPU time")
    if not asked.no_imports:
        faults = import_mutations(len(numbers), asked.seed, asked.first)
        print("\n".join([*faults, f"files of other tools: {len(numbers):,} mutations, {len(faults)} faults"]))
        report.faults += faults
    return int(bool(report.faults))


if __name__ == "__main__":
    sys.exit(main())
