"""`howlate advise` where one knob is known to matter: whether it is named, and no other.

    ./dev bench advise [--only lab|lab-null|here|here-null|idle|simulated] [--repetitions 20]

lab: a guest of Debian's 6.1 that was booted with a real-time runtime of 3 ms a second, so that the measuring task is
throttled; of ten knobs and by the largest latency, rt_throttling must be named in each repetition, and nothing else.
lab-null: the same guest without that parameter, in which no knob matters; none may be named. Virtual time: the
figures do not depend on the host.

here: this machine, in a CPU group of cgroup v1 whose real-time tasks may run 3 ms of each second, so that nothing
else of the machine is worsened, beside cpu:100, so that no CPU is ever idle; rt_throttling must be named, and nothing
else. (On an idle guest cpu_dma_latency=0 matters as well: a wake-up that leaves no idle state takes less of the 3 ms,
so that the task was stopped after some 440 activations instead of 240, and its largest latency was 750 ms instead of
890.) Needs root and a kernel with RT_GROUP_SCHED. here-null: the same without that group: none may be named. idle:
this machine, left alone and quiet: cpu_dma_latency=0 must be named, as its idle states make it late (c_states sets
the same thing in another way and may be).

simulated: made figures of eight knobs, of which one helps: how often it is named, and another (docs/advise.md).

Each repetition measures cells of another length, in another order. Exit code 0 or 1.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from figures import Figure, Part, add_option, all_kept  # noqa: E402

FEW = ("--repetitions", "3")
"""In the table of all benchmarks, which CI makes: a repetition takes two minutes of CPU time."""
PARTS = (
    Part(
        "advise in the lab", "the worsened knob named, no other", ("--only", "lab", *FEW), deterministic=True
    ),
    Part(
        "advise, simulated",
        "how often a knob that helps is named",
        ("--only", "simulated"),
        deterministic=True,
    ),
    Part(
        "advise in the lab, nothing worsened",
        "no knob named",
        ("--only", "lab-null", *FEW),
        deterministic=True,
    ),
)
CPU_GROUPS = Path("/sys/fs/cgroup/cpu")
REPETITIONS = 20
SIMULATED = "simulated"
NAMED = ("helps", "harms", "both")


class Scene(Struct, frozen=True):
    """A machine on which it is known what matters."""

    options: tuple[str, ...]
    must: frozenset[str]
    """Knobs that must be named as a help."""
    may: frozenset[str] = frozenset()
    """Others that may be."""
    knobs: int = 0
    """So many at least must have been measured."""
    length_ms: int = 1500
    """Of a cell in the first repetition; each further one is this much longer:"""
    step_ms: int = 10
    runtime_us: int = 0
    """Of real-time tasks in a second, in a group of their own; 0: no group."""


SCENES = {
    "lab": Scene(
        (
            "--kernels=6.1[sysctl.kernel.sched_rt_runtime_us=3000]",
            "--load=none",
            "--quantile=max",
            "--pairs=9",
        ),
        frozenset({"rt_throttling"}),
        knobs=10,
    ),
    "lab-null": Scene(
        ("--kernels=6.1", "--load=none", "--quantile=max", "--pairs=9"),
        frozenset(),
        knobs=10,
        length_ms=1100,
    ),
    # 9 pairs are the fewest by which one of eleven flips can be named: 2 in 2^9 is below 5 % / 11.
    "here": Scene(
        ("--load=cpu:100", "--quantile=max", "--pairs=9", "--no-wait"),
        frozenset({"rt_throttling"}),
        knobs=10,
        length_ms=1100,
        step_ms=5,
        runtime_us=3000,
    ),
    "here-null": Scene(("--load=cpu:100", "--no-wait"), frozenset(), knobs=10, length_ms=1100, step_ms=5),
    "idle": Scene(("--load=none",), frozenset({"cpu_dma_latency"}), frozenset({"c_states"}), length_ms=1100),
}


@contextlib.contextmanager
def group(runtime_us: int) -> Iterator[None]:
    """This process and its children in a group whose real-time tasks may run so long in a second; 0: nothing."""
    if not runtime_us:
        yield
        return
    folder = CPU_GROUPS / f"howlate-bench-{os.getpid()}"
    folder.mkdir()
    try:
        (folder / "cpu.rt_runtime_us").write_text(str(runtime_us))
        (folder / "cpu.shares").write_text("20480")  # one group among many tasks would starve
        (folder / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        (CPU_GROUPS / "cgroup.procs").write_text(str(os.getpid()))
        leave(folder)


def leave(folder: Path) -> None:
    """Removes a group as soon as its last process has ended; of an interrupted run some are still at it."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            folder.rmdir()
            return
        for process in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                (CPU_GROUPS / "cgroup.procs").write_text(process)
        time.sleep(0.05)
    raise SystemExit(f"{folder} has processes that do not end: end them, and remove it")


def advised(scene: Scene, repetition: int, folder: Path) -> dict[str, Any]:
    """What one call of the command finds."""
    length_ms = scene.length_ms + repetition * scene.step_ms
    command = [str(ROOT / "howlate"), "advise", *scene.options, f"--cell-duration={length_ms}ms", "--json"]
    command += [f"--seed={repetition + 1}", f"--out={folder / str(repetition)}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def figures_of(name: str, repetitions: int) -> list[Figure]:
    """How often the known knob was named, and how often another was."""
    scene, right, wrong, tried = SCENES[name], 0, 0, sys.maxsize
    with tempfile.TemporaryDirectory(prefix="howlate-bench-") as folder, group(scene.runtime_us):
        for repetition in range(repetitions):
            found = advised(scene, repetition, Path(folder))
            standing = {text: knob["standing"] for knob in found["knobs"] for text in knob["knobs"]}
            tried = min(tried, sum(word != "not measured" for word in standing.values()))
            helps = {text.partition("=")[0] for text, word in standing.items() if word == "helps"}
            named = {text.partition("=")[0] for text, word in standing.items() if word in NAMED}
            right += scene.must <= helps
            others = sorted(named - scene.must - scene.may)
            wrong += bool(others)
            print(
                f"{name}, {repetition + 1}: helps {sorted(helps) or 'none'}; named wrongly {others or 'none'}",
                flush=True,
            )
    of = f"of {repetitions}"
    named_right = (
        [Figure(f"{name}: the knob that matters named", right, of, at_least=repetitions)]
        if scene.must
        else []
    )
    return [
        Figure(f"{name}: knobs measured, at least", tried, at_least=scene.knobs),
        *named_right,
        Figure(f"{name}: another one named", wrong, of, at_most=0),
    ]


def simulated(runs: int = 200) -> list[Figure]:
    """By the spread of a figure from cell to cell, the share of runs in which the knob that helps is named; over
    all of them, in which another is."""
    import numpy as np

    from howlate.sides.sides import decided_together

    draws, wrong, total, figures = np.random.default_rng(1), 0, 0, []
    for pairs in (12, 16):
        for spread in (0.1, 0.3, 0.5):
            for ratio in (0.5, 0.7):
                right = 0
                for _ in range(runs):
                    starts = draws.lognormal(0, spread, (2, pairs))
                    cells = draws.lognormal(0, spread, (8, 2, pairs))
                    cells[0] *= ratio
                    sides = {f"{k} {f}": (cells[k, f], starts[f]) for k in range(8) for f in range(2)}
                    named = {
                        key.split()[0]
                        for key, decision in decided_together(sides).items()
                        if decision.direction in ("smaller", "larger")
                    }
                    right += "0" in named
                    wrong += bool(named - {"0"})
                total += runs
                name = f"simulated: {pairs} pairs, spread {spread:.0%}, ratio {ratio}: named"
                figures.append(Figure(name, 100 * right / runs, "%"))
    return [*figures, Figure("simulated: another one named", 100 * wrong / total, "%", at_most=5)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=(*SCENES, SIMULATED), action="append")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    add_option(parser)
    options = parser.parse_args(arguments)
    figures = [
        figure
        for name in options.only or SCENES
        for figure in (simulated() if name == SIMULATED else figures_of(name, options.repetitions))
    ]
    for figure in figures:
        print(f"{figure.name}: {figure.value:.0f} {figure.unit}")
    return 0 if all_kept(figures, options.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
