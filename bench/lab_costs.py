"""What cells of the lab cost on this host, against the model that a plan's times follow (plan/cost.py).

    ./dev bench lab_costs [--kernel 6.1] [--activations 1500] [--loads none,cpu:100,...]

Each load once, in virtual time, with no result from the cache; the CPU time of its QEMU, which other work on the
host lengthens less than the time of day, against the model's. The limit: a factor of 1.5 in both directions, relative
to the median of all (a host is slower or faster as a whole; howlate learns by how much). Loads that are held against
themselves are also in a cell of 30 ms: the stretch in which the probe runs them alone is most of it.

The same cells are then a run: the time left that it would have shown at each cell's begin (pace.py) against what the
rest took, both in CPU time. Exit code 0 or 1.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from figures import Figure, Part, add_option, all_kept  # noqa: E402

from howlate.lab.bench import Bench, LineResult  # noqa: E402
from howlate.lab.guest import Tick  # noqa: E402
from howlate.lab.watch import Limits  # noqa: E402
from howlate.model.study import read_study  # noqa: E402
from howlate.pace import Pace  # noqa: E402
from howlate.plan.cost import cell_cost_s, kind_of  # noqa: E402
from howlate.prepare import Asked, prepare  # noqa: E402
from howlate.targets import LabOptions, Target, open_lab  # noqa: E402

PARTS = (
    Part("lab_costs", "CPU time of the lab's cells, against the model that a plan's times follow, by load"),
)
LIMIT = 1.5
SHORT = ("activations=30", "load=hackbench:10,disk:max")
"""Cells of 30 ms, whose loads the probe runs alone first: for 250 ms, hackbench for a second, or longer."""
STUDY = """
schema = 1
id = "lab-costs"
title = "What cells cost"
question = "How long does each load take on this host?"
test = "cyclic"
[settings]
policy = "fifo:80"
period = "1ms"
dither = true
[axes]
load = ["none", "cpu:100", "memory-alloc:100", "hackbench:10"]
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--activations", type=int, default=1500)
    parser.add_argument("--loads", default="")
    add_option(parser)
    asked = parser.parse_args()
    changes = [f"activations={asked.activations}", *([f"load={asked.loads}"] if asked.loads else [])]
    target = open_lab(asked.kernel, LabOptions(cached=False))
    costs = measured(target, changes) + measured(target, [*SHORT], ", 30 ms")
    host = of_host(costs)
    for cost in costs:
        print(f"{cost.name:20} {cost.ratio:5.2f} of the model, {cost.ratio / host:5.2f} of this host's")
    figures = [
        Figure(
            f"CPU time under {cost.name} by the model's, relative to the median",
            cost.ratio / host,
            "",
            LIMIT,
            1 / LIMIT,
        )
        for cost in costs
    ]
    shares = time_left(costs)
    figures += [
        Figure("all of them by the model's, relative to the median", whole(costs), "", LIMIT, 1 / LIMIT),
        Figure("time left by what was left, smallest", min(shares), "", None, 0.5),
        Figure("time left by what was left, largest", max(shares), "", 2.0),
    ]
    return 0 if all_kept(figures, asked.figures) else 1


@dataclass(frozen=True)
class Cost:
    """What a cell took, and what the model says."""

    name: str
    kind: str
    model_s: float
    used_s: float

    @property
    def ratio(self) -> float:
        return self.used_s / self.model_s


def of_host(costs: Sequence[Cost]) -> float:
    """How much slower than the model's this host is."""
    return statistics.median(cost.ratio for cost in costs)


def whole(costs: Sequence[Cost]) -> float:
    """What all cells took by what the model says, on a host of this speed."""
    return sum(c.used_s for c in costs) / sum(c.model_s for c in costs) / of_host(costs)


def time_left(costs: Sequence[Cost]) -> list[float]:
    """At each cell's begin, one after the other: the time left as a run would say it, by what is left. The clock is
    the CPU time that the cells have used; what a cell is expected to take is the model's on a host of this speed."""
    host = of_host(costs)
    clock_s = 0.0
    pace = Pace(
        {str(n): (cost.kind, cost.model_s * host) for n, cost in enumerate(costs)}, 1, lambda: clock_s
    )
    shares = []
    for number, cost in enumerate(costs):
        shares.append(pace.left_s() / sum(c.used_s for c in costs[number:]))
        pace.begin(str(number))
        clock_s += cost.used_s
        pace.done(str(number))
    return shares


def measured(target: Target, changes: list[str], more: str = "") -> list[Cost]:
    """What each cell of the study took."""
    found: list[Cost] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.toml"
        file.write_text(STUDY)
        prepared = prepare(Asked(read_study(file), tuple(changes), seeds=1), target)
        for cell in prepared.run.plan.cells:
            used: list[float] = []
            with patch.object(Bench, "run", _noting(used)):
                target.run_cell(cell, Path(folder) / "stream", lambda _: None)
            model_s = cell_cost_s(cell)
            name = cell.labels["load"] + more
            found.append(Cost(name, kind_of(cell), model_s, max(used)))
            print(f"{name:20} {max(used):6.2f} s, model {model_s:6.2f} s", flush=True)
    return found


def _noting(used: list[float]) -> Callable[..., list[LineResult]]:
    """Bench.run, with the guest's CPU time so far noted at each tick."""
    run = Bench.run

    def noting(self: Bench, lines: Sequence[Sequence[str]], limits: Limits, _tick: Tick) -> list[LineResult]:
        return run(self, lines, limits, used.append)

    return noting


if __name__ == "__main__":
    sys.exit(main())
