"""The lab's promise: preemption models side by side, in minutes, and in the order that their design says.

    ./dev bench preemption_models [--arch arm64] [--seeds 8] [--only matrix|order|timers]

matrix: the study `preemption-models` (loads x dither, 2,000 activations, one seed) with no result in the cache, and
again with nothing changed. The limits: 300 s on two cores, then 3 s.
order: its memory-alloc with dither over several seeds. The limits on amd64: the smallest maximum of none lies above
the largest of full, the largest of full above the largest of rt, and none's smallest is at least 40 times rt's
largest. On arm64 (its kernels have one model each, voluntary and rt): voluntary's smallest above rt's largest.
timers: the same load with every way to sleep, two seeds; printed, without a limit. Exit code 0 or 1.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from figures import Figure, Part, add_option, all_kept

PARTS = (
    Part(
        "preemption_models matrix",
        "time of preemption models x loads in the lab, and again with nothing changed",
        ("--only", "matrix"),
    ),
    Part(
        "preemption_models order",
        "largest latency under memory-alloc in virtual time, over 8 seeds",
        ("--only", "order"),
        deterministic=True,
    ),
    Part(
        "preemption_models timers",
        "the same load with every way to sleep, 2 seeds",
        ("--only", "timers"),
        deterministic=True,
    ),
)
KERNELS = {
    "amd64": ("6.1[preempt=none]", "6.1[preempt=voluntary]", "6.1[preempt=full]", "6.1-rt"),
    "arm64": ("6.12@arm64", "6.12-rt@arm64"),
}
TIMERS = (
    "clock_nanosleep,clock_nanosleep-relative,epoll_pwait2,epoll_timerfd,futex,"
    "io_uring,ppoll,setitimer,timer_create,timerfd"
)
MATRIX_S, AGAIN_S = 300.0, 3.0
NONE_TO_RT = 40.0
LOAD = "memory-alloc:100"
ROOT = Path(__file__).resolve().parent.parent


def lab_run(out: Path, kernels: tuple[str, ...], *more: str) -> tuple[float, list[dict[str, Any]]]:
    """Seconds of one `howlate lab run preemption-models`, and the groups of its table."""
    started = time.monotonic()
    command = [str(ROOT / "howlate"), "lab", "run", "preemption-models", "--kernels", ",".join(kernels)]
    done = subprocess.run([*command, "--out", str(out), *more, "--json"], stdout=subprocess.PIPE, check=True)
    return time.monotonic() - started, json.loads(done.stdout)["groups"]


def in_time(folder: Path, kernels: tuple[str, ...]) -> list[Figure]:
    """Is the whole matrix there in time, and at once when nothing changed?"""
    first, _ = lab_run(folder / "first", kernels, "--seeds", "1", "--no-cache")
    again, _ = lab_run(folder / "again", kernels, "--seeds", "1")
    print(f"matrix of {len(kernels)} kernels, one seed: {first:.0f} s (limit {MATRIX_S:.0f})")
    print(f"again, nothing changed: {again:.1f} s (limit {AGAIN_S:.0f})")
    return [
        Figure(f"matrix of {len(kernels)} kernels, one seed", round(first), "s", at_most=MATRIX_S),
        Figure("again, nothing changed", round(again, 1), "s", at_most=AGAIN_S),
    ]


def in_order(folder: Path, kernels: tuple[str, ...], seeds: int) -> list[Figure]:
    """Do the maxima over the seeds lie as the models' designs say?"""
    only = ("--set", f"load={LOAD}", "--set", "dither=true")
    _, groups = lab_run(folder / "order", kernels, "--seeds", str(seeds), *only)
    least: dict[str, float] = {}
    most: dict[str, float] = {}
    for group in groups:
        kernel = group["labels"]["kernel"]
        found = group["columns"]["latency_ns"]["max"]
        least[kernel], most[kernel] = found["smallest"] / 1000, found["largest"] / 1000
        print(
            f"{kernel:24s} largest latency over {seeds} seeds: {least[kernel]:8.2f} to {most[kernel]:8.2f} us"
        )
    models = [k for k in kernels if "voluntary" not in k]
    first, rt = models[0], models[-1]
    factor = NONE_TO_RT if first.endswith("[preempt=none]") else 1.0
    print(f"{first} to {rt}: at least {least[first] / most[rt]:.0f} times (limit {factor:.0f})")
    figures = [
        Figure(f"{kernel}: {name} maximum", round(maxima[kernel], 3), "us")
        for kernel in kernels
        for name, maxima in (("smallest", least), ("largest", most))
    ]
    figures.append(
        Figure(f"{first}'s smallest over {models[1]}'s largest", least[first] / most[models[1]], at_least=1)
    )
    if len(models) > 2:
        figures.append(
            Figure(f"{models[1]}'s largest over {rt}'s largest", most[models[1]] / most[rt], at_least=1)
        )
    figures.append(
        Figure(f"{first}'s smallest over {rt}'s largest", least[first] / most[rt], at_least=factor)
    )
    return figures


def of_timers(folder: Path, kernels: tuple[str, ...]) -> list[Figure]:
    """Smallest and largest maximum of every way to sleep under the load."""
    few = ("--seeds", "2", "--set", "activations=500", "--set", "dither=false")
    _, groups = lab_run(folder / "timers", kernels, *few, "--set", f"load={LOAD}", "--set", f"timer={TIMERS}")
    figures = []
    for group in groups:
        labels, column = group["labels"], group["columns"].get("latency_ns")
        name = f"{labels['timer']:26s} {labels['kernel']:24s}"
        if column is None:
            print(f"{name} no seed is valid")
            continue
        low, high = column["max"]["smallest"] / 1000, column["max"]["largest"] / 1000
        print(f"{name} median {column['median'] / 1000:8.2f}  maximum {low:8.2f} to {high:8.2f} us")
        name = f"largest maximum by {labels['timer']}: {labels['kernel']}"
        figures.append(Figure(name, round(high, 3), "us"))
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arch", choices=sorted(KERNELS), default="amd64")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--only", choices=("matrix", "order", "timers"))
    add_option(parser)
    asked = parser.parse_args()
    kernels = KERNELS[asked.arch]
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="howlate-bench-") as name:
        folder = Path(name)
        if asked.only in (None, "matrix"):
            figures += in_time(folder, kernels)
        if asked.only in (None, "order"):
            figures += in_order(folder, kernels, asked.seeds)
        if asked.only in (None, "timers"):
            figures += of_timers(folder, kernels)
    kept = all_kept(figures, asked.figures)
    print("limits kept" if kept else "a limit is NOT kept")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
