"""How long a second `./howlate check` takes before it measures.

    ./dev bench startup

From the launcher's start to the moment at which the probe is executed for the first cell, which a wrapper around
the probe notes, without the wait for a quiet machine. The limit: the median of seven calls is 0.3 s. Exit code
0 or 1.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import Figure, Part, add_option, all_kept

PARTS = (Part("startup", "how long a second `./howlate check` takes before it measures"),)
CALLS = 7
LIMIT_S = 0.3
ROOT = Path(__file__).resolve().parent.parent


def seconds_before_measuring(folder: Path, probe: str) -> float:
    """One call of check, stopped by its first cell: the wrapper notes the time and ends it."""
    mark = folder / "mark"
    mark.unlink(missing_ok=True)
    wrapper = folder / "probe"
    wrapper.write_text(
        f'#!/bin/bash\n[ "$1" = cyclic ] && {{ echo $EPOCHREALTIME >{mark}; exit 3; }}\nexec {probe} "$@"\n'
    )
    wrapper.chmod(0o755)
    started = time.time()
    subprocess.run(
        [ROOT / "howlate", "check", "--no-wait", "--duration", "5", "--out", folder / f"run-{started}"],
        env={**os.environ, "HOWLATE_PROBE": str(wrapper)},
        capture_output=True,
        check=False,
    )
    return float(mark.read_text()) - started


def main() -> int:
    """Call it several times and print the median."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_option(parser)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times = [seconds_before_measuring(Path(folder), os.environ["HOWLATE_PROBE"]) for _ in range(CALLS)]
    median = statistics.median(times)
    print("seconds before measuring: " + " ".join(f"{each:.2f}" for each in times))
    figure = Figure(f"median of {CALLS} calls", round(median, 3), "s", at_most=LIMIT_S)
    print(f"median {median:.2f} s, limit {LIMIT_S} s: {'kept' if figure.kept else 'NOT kept'}")
    return 0 if all_kept([figure], asked.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
