"""Our median wake-up latency beside cyclictest's: same machine, CPU, priority and period, runs interleaved.

    ./dev bench median_against_cyclictest [--pairs N] [--seconds S] [--cpu C]

Each pair is one run of each, in an order that alternates. Printed: the Hodges-Lehmann ratio of the medians
(ours / cyclictest's) with its exact 95 % interval. The limit: upper end at most 1.02, half-width at most 0.02;
pairs are added, at most to --most, until it has that. cyclictest runs with --default-system
(it leaves cpu_dma_latency alone, as we do), -N (nanoseconds), -h. Exit code 0 when the limit is kept, 1 when not.

cyclictest's main thread, which wakes a hundred times a second, is put where ours is: on another CPU than the
measuring one. Left to itself (--main-with-it) it stands on the measuring CPU, whose idle times are then shorter:
on an idle virtual machine that alone lowered cyclictest's own median by 15 %.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from figures import Figure, Part, add_option, all_kept

from howlate.sides.paired import RatioInterval, ratio_interval
from howlate.store.stream import StreamReader

PARTS = (
    Part(
        "median_against_cyclictest",
        "our median wake-up latency over cyclictest's, in interleaved pairs of runs",
    ),
)
PERIOD_US = 1000
PRIORITY = 80
HISTOGRAM_NS = 1_000_000
UPPER, HALF_WIDTH = 1.02, 0.02


def our_median_ns(cpu: int, activations: int) -> float:
    """Median of one run of `howlate-probe cyclic`, from its samples."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        stream = Path(folder) / "stream"
        command = [
            os.environ["HOWLATE_PROBE"],
            "cyclic",
            "--timer",
            "clock_nanosleep",
            "--period",
            f"{PERIOD_US}us",
        ]
        command += ["--cpus", str(cpu), "--policy", f"fifo:{PRIORITY}", "--activations", str(activations)]
        subprocess.run([*command, "--quiet", "--stream", str(stream)], check=True)
        with StreamReader.open(stream) as reader:
            parts = [b.columns["latency_ns"] for b in reader.batches() if b.table.name == "samples"]
        return float(np.median(np.concatenate(parts)))


def cyclictest_median_ns(cpu: int, activations: int, *more: str) -> float:
    """Median of one run of cyclictest, from its histogram of one bin a nanosecond."""
    command = [
        "cyclictest",
        "--default-system",
        "-m",
        "-q",
        "-N",
        "-t",
        "1",
        "-a",
        str(cpu),
        "-p",
        str(PRIORITY),
    ]
    command += ["-i", str(PERIOD_US), "-l", str(activations), "-h", str(HISTOGRAM_NS), *more]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [line.split() for line in output.splitlines() if line[:1].isdigit()]
    counts = np.array([[int(value), int(count)] for value, count in lines])
    cumulated = counts[:, 1].cumsum()
    return float(counts[np.searchsorted(cumulated, cumulated[-1] / 2), 0])


def half_width(interval: RatioInterval) -> float:
    return (interval.high - interval.low) / 2


def kept_by(interval: RatioInterval) -> bool:
    """Whether the interval is narrow enough and its upper end low enough."""
    return interval.high <= UPPER and half_width(interval) <= HALF_WIDTH


def main() -> int:
    """Run pairs until the interval is narrow enough; print each pair and the interval."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--cpu", type=int, default=(os.cpu_count() or 1) - 1)
    parser.add_argument("--main-with-it", action="store_true")
    add_option(parser)
    options = parser.parse_args()
    elsewhere = [] if options.main_with_it else [f"--mainaffinity={0 if options.cpu else 1}"]
    activations = int(options.seconds * 1e6 / PERIOD_US)
    ours: list[float] = []
    theirs: list[float] = []
    interval: RatioInterval | None = None
    while len(ours) < options.most:
        measures = [
            (ours, our_median_ns),
            (theirs, lambda cpu, many: cyclictest_median_ns(cpu, many, *elsewhere)),
        ]
        for kept, measure in measures if len(ours) % 2 == 0 else reversed(measures):
            kept.append(measure(options.cpu, activations))
        print(f"pair {len(ours):3d}: howlate {ours[-1]:9.0f} ns  cyclictest {theirs[-1]:9.0f} ns", flush=True)
        if len(ours) < options.pairs:
            continue
        interval = ratio_interval(ours, theirs)
        if interval is not None and kept_by(interval):
            break
    if interval is None:
        print("too few pairs for an interval of 95 %", file=sys.stderr)
        return 2
    passed = kept_by(interval)
    print(
        f"ratio of medians howlate / cyclictest: {interval.ratio:.4f}, {interval.confidence:.1%} interval "
        f"[{interval.low:.4f}, {interval.high:.4f}], half-width {half_width(interval):.4f}, {interval.pairs} pairs "
        f"of {activations} activations at {PERIOD_US} us; limit {UPPER} and {HALF_WIDTH}: "
        f"{'kept' if passed else 'NOT kept'}"
    )
    figures = [
        Figure("ratio of medians", round(interval.ratio, 4)),
        Figure("upper end of its interval", round(interval.high, 4), at_most=UPPER),
        Figure("half-width of its interval", round(half_width(interval), 4), at_most=HALF_WIDTH),
        Figure("pairs of runs", interval.pairs),
    ]
    return 0 if all_kept(figures, options.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
