"""Each command that reads samples, over runs whose samples.parquet was forged, with new checksums: refused in a
sentence or shown, and within the limits of any call."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hostile.alter import reseal
from hostile.harness import CPU_S, call, copied, warm_up
from hostile.judge import Outcome, sane
from hostile.made import RUN, make_runs

READING = {
    "none": ("show --verify", "export", "export perfetto", "why", "query samples", "report", "compare"),
    "traced": ("show --verify", "export perfetto", "why"),
}
"""By the cell that is forged: with a trace, and without."""


def in_process(work: Callable[[], None]) -> None:
    """In one that may use DuckDB: whoever did has threads, and must not fork."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0


def forge(run: Path, cell: str, kind: str) -> None:
    from hostile.tables import FORGED_TABLES

    samples = run / "cells" / cell / "samples.parquet"
    FORGED_TABLES[kind](samples)
    reseal(samples.parent)


@contextmanager
def forged(beside: Path, cell: str, kind: str) -> Iterator[Path]:
    """A run in a folder of its own."""
    place = beside / "forged"
    try:
        shutil.copytree(beside / RUN, place)
        in_process(lambda: forge(place, cell, kind))
        yield place
    finally:
        shutil.rmtree(place)


def fault_of(outcome: Outcome) -> str:
    return sane(outcome) or ("FAULT time" if outcome.cpu_s > CPU_S else "")


def kinds() -> list[str]:
    """Their names, without DuckDB in this process."""
    reader, writer = os.pipe()

    def tell() -> None:
        from hostile.tables import FORGED_TABLES

        with os.fdopen(writer, "w") as pipe:
            pipe.write("\n".join(FORGED_TABLES))

    in_process(tell)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        return pipe.read().split("\n")


def unlimited() -> None:
    """The fault that must be found: no footer and no row is looked at."""
    from howlate.store import duck, summarise

    vars(duck)["footer_problem"] = lambda *_: ""
    vars(summarise)["rows_problem"] = lambda *_: ""


def outcomes(beside: Path, kind: str) -> Iterator[tuple[str, str, Outcome]]:
    """Of each command over each cell: both, and what came of it."""
    for cell, commands in READING.items():
        with forged(beside, cell, kind) as run:
            for command in commands:
                with copied(run, beside) as place:
                    outcome = call(command, place)
                yield command, cell, outcome


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m hostile.forged")
    parser.add_argument("--every", type=int, default=1, help="one kind of so many")
    parser.add_argument("--kind", action="append", help="these kinds alone")
    parser.add_argument("--plant", action="store_true", help="a fault in howlate that must be found")
    asked = parser.parse_args()
    calls = refused = faults = 0
    with tempfile.TemporaryDirectory(prefix="howlate-forged-") as folder:
        beside = Path(folder)
        in_process(lambda: make_runs(beside))
        warm_up()
        if asked.plant:
            unlimited()
        for kind in asked.kind or kinds()[:: asked.every]:
            for command, cell, outcome in outcomes(beside, kind):
                calls += 1
                refused += outcome.code == 4
                if fault := fault_of(outcome):
                    faults += 1
                    said = (outcome.err or outcome.out).strip()[-300:]
                    print(f"{fault}: {command}, {cell}, {kind}: {said!r}", flush=True)
                    if asked.plant:
                        break
    print(f"forged tables: {calls:,} calls, {refused:,} refused; {faults} faults")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
