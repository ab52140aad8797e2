"""What `cyclic --explain` adds to the median wake-up latency: pairs of runs with and without it, interleaved.

    ./dev bench explain [--pairs N] [--seconds S] [--cpu C] [--load LOAD] [--events few|all]

Each pair is one run of each, in an order that alternates. Printed: the Hodges-Lehmann ratio of the medians (with /
without) with its exact 95 % interval, the same in nanoseconds, and what recording one event costs by the probe's own
measurement. The limit: the ratio is at most 5 % above 1, or the median at most 1 us above, whichever is larger; pairs
are added, at most to --most, until the interval says so. The measuring task has no page fault and loses no sample in
any run. Exit code 0 when the limits are kept, 1 when not, 3 where the kernel's tracing is not to be had.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from figures import Figure, Part, add_option, all_kept
from msgspec import Struct

from howlate.sides.paired import RatioInterval, ratio_interval
from howlate.store.stream import StreamReader
from howlate.why.explained_cells import OWN_NS, OWN_SHARE

PARTS = (
    Part(
        "explain",
        "the median wake-up latency with `--explain` over that without, in interleaved pairs of runs",
    ),
)
NOT_POSSIBLE = 3


class Run(Struct, frozen=True):
    median_ns: float
    faults: int
    dropped: int
    trace: dict[str, Any]


def cyclic(options: argparse.Namespace, seconds: int, stream: Path) -> list[str]:
    """The command that measures so long into this stream."""
    return [
        os.environ["HOWLATE_PROBE"],
        "cyclic",
        "--quiet",
        f"--cpus={options.cpu}",
        f"--load={options.load}",
        f"--duration={seconds}s",
        "--dither",
        "--seed=1",
        f"--stream={stream}",
    ]


def run(options: argparse.Namespace, *more: str) -> Run:
    """One run of `howlate-probe cyclic`."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        stream = Path(folder) / "stream"
        command = cyclic(options, options.seconds, stream)
        done = subprocess.run([*command, *more], stderr=subprocess.PIPE, text=True)
        if done.returncode == NOT_POSSIBLE:
            print(done.stderr.strip(), file=sys.stderr)
            sys.exit(NOT_POSSIBLE)
        assert done.returncode == 0, done.stderr
        with StreamReader.open(stream) as reader:
            parts = [b.columns["latency_ns"] for b in reader.batches() if b.table.name == "samples"]
            trailer = reader.trailer
    assert trailer is not None
    (account,) = trailer["accounting"]
    faults = account["minor_faults"] + account["major_faults"]
    return Run(float(np.median(np.concatenate(parts))), faults, account["dropped"], trailer.get("trace", {}))


def allowed(base_ns: float) -> float:
    """The largest ratio that the limit allows, by the median without."""
    return 1 + max(OWN_SHARE, OWN_NS / base_ns)


def pairs(options: argparse.Namespace, explained: list[Run], without: list[Run]) -> RatioInterval | None:
    """Pairs of runs until their interval is below the limit, or there are enough of them."""
    interval: RatioInterval | None = None
    words = ("--explain", f"--explain-events={options.events}")
    while len(without) < options.most:
        order = [(explained, words), (without, ())]
        for kept, more in order if len(without) % 2 == 0 else reversed(order):
            kept.append(run(options, *more))
        print(
            f"pair {len(without):3d}: with {explained[-1].median_ns:9.0f} ns  "
            f"without {without[-1].median_ns:9.0f} ns",
            flush=True,
        )
        if len(without) < options.pairs:
            continue
        interval = ratio_interval([one.median_ns for one in explained], [one.median_ns for one in without])
        if interval is not None and interval.high <= allowed(
            float(np.median([one.median_ns for one in without]))
        ):
            break
    return interval


def main() -> int:
    """Run the pairs; print each, and the interval."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--most", type=int, default=80)
    parser.add_argument("--seconds", type=int, default=1)
    parser.add_argument("--cpu", type=int, default=(os.cpu_count() or 1) - 1)
    parser.add_argument("--load", default="none")
    parser.add_argument("--events", choices=("few", "all"), default="few")
    add_option(parser)
    options = parser.parse_args()
    explained: list[Run] = []
    without: list[Run] = []
    interval = pairs(options, explained, without)
    if interval is None:
        print("too few pairs for an interval of 95 %", file=sys.stderr)
        return 2
    base_ns = float(np.median([one.median_ns for one in without]))
    limit = allowed(base_ns)
    cost_ns = float(np.median([one.trace["event_cost_ns"] for one in explained]))
    page_ns = sum(one.trace["reading_ns"] for one in explained) / max(
        sum(one.trace["pages_read"] for one in explained), 1
    )
    figures = [
        Figure("ratio of medians", round(interval.ratio, 4)),
        Figure("upper end of its interval", round(interval.high, 4), at_most=round(limit, 4)),
        Figure("added to the median", round((interval.ratio - 1) * base_ns), "ns"),
        Figure("recording one event", round(cost_ns), "ns"),
        Figure("page faults of the measuring task", sum(one.faults for one in explained), at_most=0),
        Figure("dropped samples", sum(one.dropped for one in explained), at_most=0),
        Figure("reading a page of the trace", round(page_ns), "ns"),
        Figure("pairs of runs", interval.pairs),
    ]
    print(
        f"median {base_ns:.0f} ns without; ratio {interval.ratio:.4f}, {interval.confidence:.1%} interval "
        f"[{interval.low:.4f}, {interval.high:.4f}], that is {(interval.ratio - 1) * base_ns:+.0f} ns; "
        f"limit {limit:.4f}; "
        f"one event {cost_ns:.0f} ns; {interval.pairs} pairs of {options.seconds} s, load {options.load}, "
        f"events {options.events}"
    )
    return 0 if all_kept(figures, options.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
