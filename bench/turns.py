"""What the turns of several CPUs in virtual time do to what one CPU asks of another.

    ./dev bench turns [--cpus 2,4] [--points 200] [--page docs/lab/turns.md]

The test `cross` in the lab, each kind at turns of 20, 10 and 5 us, with 2 and with 4 CPUs. It prints median and
maximum, by how much halving the turn moves each, and that as a multiple of what the other CPUs' turns together became
shorter; `--page FILE` writes the table into the page, between its marks. The limit: no such multiple is above
`WAITS` of statistics/resolution.py, from which howlate tells from which size on a figure is the kernel's.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from figures import Figure, Part, add_option, all_kept  # noqa: E402
from table import commit  # noqa: E402

from howlate.statistics.resolution import WAITS  # noqa: E402

PARTS = (
    Part(
        "turns",
        "what the turns of several CPUs do to a wake-up, a barrier, a lock and a TLB shoot-down across them",
        deterministic=True,
    ),
)
KERNEL = "6.1-rt"
KINDS = ("wake", "membarrier", "lock", "shootdown", "migrate")
TURNS_US = (20, 10, 5)
BEGIN, END = "<!-- ./dev bench turns -->", "<!-- end -->"
STUDY = """
schema = 1
id = "turns"
title = "What turns do"
question = "What do the turns of several CPUs do to what one asks of another?"
test = "cross"
[settings]
policy = "fifo:80"
points = "{points}"
[axes]
kind = [{kinds}]
"""


class Answers(Struct, frozen=True):
    """What one kind took in one guest, in us."""

    median: float
    maximum: float


Series = tuple[Answers, ...]
"""By turn, the longest first."""


class Found(Struct, frozen=True):
    """All that was measured, and with what."""

    series: dict[tuple[str, int], Series]
    """By kind and number of CPUs."""
    kernel: str
    emulator: str


def lab_run(folder: Path, study: Path, cpus: int, turn_us: int) -> tuple[dict[str, Answers], dict[str, Any]]:
    """The answers by kind, and the facts of the guest."""
    out = folder / f"{cpus}-{turn_us}"
    command = [str(ROOT / "howlate"), "lab", "run", str(study), "--kernels", KERNEL, "--seeds", "1"]
    machine = ["--guest-cpus", str(cpus), "--turn", f"{turn_us}us"]
    done = subprocess.run(
        [*command, *machine, "--out", str(out), "--json"], stdout=subprocess.PIPE, check=True
    )
    answers = {}
    for group in json.loads(done.stdout)["groups"]:
        column = group["columns"]["answer_ns"]
        answers[group["labels"]["kind"]] = Answers(column["median"] / 1000, column["max"]["largest"] / 1000)
    facts = json.loads((out / "run.json").read_text())["machines"][KERNEL]["values"]
    return answers, facts


def measured(folder: Path, points: int, numbers: Sequence[int]) -> Found:
    """Each kind in each guest."""
    study = folder / "turns.toml"
    study.write_text(STUDY.format(points=points, kinds=", ".join(f'"{kind}"' for kind in KINDS)))
    series: dict[tuple[str, int], Series] = {}
    facts: dict[str, Any] = {}
    for cpus in numbers:
        runs = []
        for turn_us in TURNS_US:
            answers, facts = lab_run(folder, study, cpus, turn_us)
            runs.append(answers)
            print(f"{cpus} CPUs in turns of {turn_us} us: {answers}", file=sys.stderr, flush=True)
        series |= {(kind, cpus): tuple(run[kind] for run in runs) for kind in KINDS}
    return Found(series, facts["lab.kernel_package"], facts["lab.emulator"])


def moved(before: float, after: float) -> str:
    """By how much halving the turn moved a figure."""
    return f"{(after - before) / before:+.0%}".replace("%", " %")


def waits(before: float, after: float, shorter_us: float) -> float:
    """A move as a multiple of what the other CPUs' turns together became shorter."""
    return abs(after - before) / shorter_us


def steps_of(series: Series, name: str, cpus: int) -> list[tuple[float, float, float]]:
    """A figure before and after each halving, and what the other CPUs' turns together became shorter."""
    values = [getattr(answers, name) for answers in series]
    shorter = [(cpus - 1) * (before - after) for before, after in itertools.pairwise(TURNS_US)]
    return [(*pair, by) for pair, by in zip(itertools.pairwise(values), shorter, strict=True)]


def lines_of(found: Found) -> list[str]:
    """The table: a line for each kind and number of CPUs, once for the median and once for the maximum."""
    turns = " | ".join(f"{turn} us" for turn in TURNS_US)
    halved = [f"{a} to {b} us" for a, b in itertools.pairwise(TURNS_US)]
    head = f"| kind | CPUs | figure | {turns} | {' | '.join(halved)} | waits |"
    lines = [head, "|" + "---|" * (4 + len(TURNS_US) + len(halved))]
    for (kind, cpus), series in found.series.items():
        for name in ("median", "maximum"):
            values = [f"{getattr(answers, name):.1f}" for answers in series]
            steps = steps_of(series, name, cpus)
            most = max(waits(*step) for step in steps)
            cells = [*values, *(moved(before, after) for before, after, _ in steps), f"{most:.1f}"]
            lines.append(f"| {kind} | {cpus} | {name} | {' | '.join(cells)} |")
    return lines


def into_page(page: Path, text: str, begin: str = BEGIN) -> None:
    """Replaces what stands between the page's marks."""
    old = page.read_text()
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(old):
        raise SystemExit(f"{page} has no line {begin}")
    page.write_text(pattern.sub(lambda _: f"{begin}\n{text}\n{END}", old))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cpus", default="2,4", help="numbers of CPUs (default: %(default)s)")
    parser.add_argument("--points", type=int, default=200, help="of each cell (default: %(default)s)")
    parser.add_argument("--page", type=Path, help="write the table into this page")
    add_option(parser)
    asked = parser.parse_args()
    numbers = [int(number) for number in asked.cpus.split(",")]
    with tempfile.TemporaryDirectory(prefix="howlate-bench-") as name:
        found = measured(Path(name), asked.points, numbers)
    made = f"{found.kernel}, {found.emulator}, commit {commit()}; {asked.points} points a cell, us of virtual time."
    text = "\n".join([made, "", *lines_of(found)])
    print(text)
    if asked.page is not None:
        into_page(asked.page, text)
    figures = [
        Figure(f"{kind}, {cpus} CPUs, turns of {turn} us: {name}", round(getattr(answers, name), 3), "us")
        for (kind, cpus), series in found.series.items()
        for turn, answers in zip(TURNS_US, series, strict=True)
        for name in ("median", "maximum")
    ]
    figures += [
        Figure(
            f"{kind}, {cpus} CPUs: largest move of the {name}, in what the other CPUs' turns became shorter",
            round(max(waits(*step) for step in steps_of(series, name, cpus)), 2),
            at_most=WAITS,
        )
        for (kind, cpus), series in found.series.items()
        for name in ("median", "maximum")
    ]
    return 0 if all_kept(figures, asked.figures) else 1


if __name__ == "__main__":
    sys.exit(main())
