"""What cells of the lab cost on this host, against the model that a plan's times follow (lab/cost.py).

    ./dev bench lab_costs [--kernel 6.1] [--activations 1500] [--loads none,cpu:100,...]

Each load once, in virtual time, with no result from the cache; the CPU time of its QEMU, which other work on the
host hardly lengthens, against the model's. The limit: a factor of 1.5 in both directions, relative to the median of
all (a host is slower or faster as a whole; howlate learns by how much). Loads that are held against themselves are
also in a cell of 30 ms: the stretch in which the probe runs them alone is most of it. Exit code 0 or 1.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from figures import Figure, Part, add_option, all_kept  # noqa: E402

from howlate.lab.bench import Bench, Line  # noqa: E402
from howlate.lab.guest import Tick  # noqa: E402
from howlate.model.study import read_study  # noqa: E402
from howlate.plan import planned_length  # noqa: E402
from howlate.plan.cost import cell_cost_s  # noqa: E402
from howlate.prepare import Asked, prepare  # noqa: E402
from howlate.targets import open_lab  # noqa: E402

PARTS = (
    Part("lab_costs", "CPU time of the lab's cells, against the model that a plan's times follow, by load"),
)
LIMIT = 1.5
SHORT = ("activations=30", "load=hackbench:10,disk:max")
"""Cells of 30 ms, whose loads the probe runs alone for 250 ms first."""
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
    ratios = measured(asked.kernel, changes)
    ratios |= {f"{load}, 30 ms": ratio for load, ratio in measured(asked.kernel, [*SHORT]).items()}
    host = statistics.median(ratios.values())
    for load, ratio in ratios.items():
        print(f"{load:20} {ratio:5.2f} of the model, {ratio / host:5.2f} of this host's")
    figures = [
        Figure(
            f"CPU time under {load} by the model's, relative to the median",
            ratio / host,
            "",
            LIMIT,
            1 / LIMIT,
        )
        for load, ratio in ratios.items()
    ]
    return 0 if all_kept(figures, asked.figures) else 1


def measured(kernel: str, changes: list[str]) -> dict[str, float]:
    """CPU time by the model's, for each load."""
    target = open_lab(kernel, cached=False)
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.toml"
        file.write_text(STUDY)
        prepared = prepare(Asked(read_study(file), tuple(changes), seeds=1), target)
        for cell in prepared.run.plan.cells:
            used: list[float] = []
            with patch.object(Bench, "run", _noting(used)):
                target.run_cell(cell, Path(folder) / "stream", lambda _: None)
            model_s = cell_cost_s(cell, planned_length(cell, prepared.can))
            found[cell.labels["load"]] = max(used) / model_s
            print(f"{cell.labels['load']:20} {max(used):6.2f} s, model {model_s:6.2f} s", flush=True)
    return found


def _noting(used: list[float]) -> Callable[..., list[Line]]:
    """Bench.run, with the guest's CPU time so far noted at each tick."""
    run = Bench.run

    def noting(self: Bench, lines: Sequence[Sequence[str]], limit_s: float, _tick: Tick) -> list[Line]:
        return run(self, lines, limit_s, used.append)

    return noting


if __name__ == "__main__":
    sys.exit(main())
