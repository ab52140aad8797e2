"""The lab's proofs: windows of 200 ms beside memory-alloc:100, searched anew.

    ./dev bench prove [--only within|deadline]

within: preempt=none and preempt=full, each bounded within 5 %. The limit: 600 s together on two cores.
deadline: no release of 6.1-rt misses 100 us. The limit: 600 s. Exit code 0 or 1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from figures import Figure, Part, add_option, all_kept

PARTS = (
    Part("prove within", "time of bounding 200 ms of two kernels within 5 %", ("--only", "within")),
    Part("prove deadline", "time of showing that 200 ms of 6.1-rt keep 100 us", ("--only", "deadline")),
)
QUESTIONS = {
    "within": ("--kernels", "6.1[preempt=none],6.1[preempt=full]", "--within", "5%"),
    "deadline": ("--kernels", "6.1-rt", "--deadline", "100us"),
}
MOST_S = 600.0
ROOT = Path(__file__).resolve().parent.parent


def asked(question: str) -> tuple[float, list[dict[str, Any]]]:
    """Seconds of one `howlate lab prove`, and its landscapes."""
    started = time.monotonic()
    command = [str(ROOT / "howlate"), "lab", "prove", "--load", "memory-alloc:100", "--window", "200ms"]
    done = subprocess.run(
        [*command, *QUESTIONS[question], "--no-cache", "--json"], stdout=subprocess.PIPE, check=False
    )
    return time.monotonic() - started, json.loads(done.stdout)["landscapes"]


def figures_of(question: str) -> list[Figure]:
    """Time, and for each kernel what was found and bounded by how many probes."""
    seconds, landscapes = asked(question)
    figures = [Figure(f"{question}, all kernels", round(seconds), "s", at_most=MOST_S)]
    for landscape in landscapes:
        kernel, bound_ns = landscape["kernel"], landscape["bound_ns"]
        print(f"{seconds:.0f} s (limit {MOST_S:.0f}): {landscape['sentence']}")
        figures += [
            Figure(f"{kernel}: bounds claimed", float(bound_ns is not None), at_least=1),
            Figure(f"{kernel}: found", landscape["found_ns"] / 1000, "us"),
            Figure(f"{kernel}: probes", landscape["probes"]),
        ]
        if bound_ns is not None:
            figures.append(Figure(f"{kernel}: bound", bound_ns / 1000, "us"))
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=QUESTIONS)
    add_option(parser)
    options = parser.parse_args()
    questions = [options.only] if options.only else list(QUESTIONS)
    return 0 if all_kept([f for question in questions for f in figures_of(question)], options.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
