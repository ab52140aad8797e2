"""What the schedule's step, the ring, the tally, the histogram and the stream's encoder take (probe/bench/).

    ./dev bench micro [--only REGEX]

Runs Google Benchmark's programs, which ./dev builds. Times of one call; no limit.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from figures import Figure, Part, add_option, all_kept

PARTS = (
    Part(
        "micro", "CPU time of the schedule's step, the ring, the tally, the histogram, the stream's encoder"
    ),
)
PROGRAMS = Path(__file__).resolve().parent.parent / "build/bench"


def run(program: Path, only: str) -> list[Figure]:
    """The CPU times of one program's benchmarks, which it prints itself."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        words = [f"--benchmark_out={out}", "--benchmark_out_format=json", f"--benchmark_filter={only}"]
        subprocess.run([program, *words], check=True)
        found = json.loads(out.read_text())["benchmarks"]
    return [Figure(each["name"], round(each["cpu_time"], 2), each["time_unit"]) for each in found]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=".", metavar="REGEX", help="those whose name matches")
    add_option(parser)
    asked = parser.parse_args()
    programs = sorted(PROGRAMS.glob("bench-*"))
    if not programs:
        print(
            f"no benchmark program in {PROGRAMS}: call ./dev bench micro, which builds them", file=sys.stderr
        )
        return 3
    figures = [figure for program in programs for figure in run(program, asked.only)]
    return 0 if all_kept(figures, asked.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
