"""What cells of the lab cost on this host, against the model that a plan's times follow (plan/cost.py).

    ./dev bench lab_costs [--kernel 6.1] [--activations 1500] [--loads none,cpu:100,...]
    ./dev bench lab_costs --kernel 6.1-rt --cpus 2,4 [--turn 20us] [--repeat 3] [--page docs/lab/guests.md]

Each load once, in virtual time, with no result from the cache; the CPU time of its QEMU, which other work on the
host lengthens less than the time of day, against the model's. The limit: a factor of 1.5 in both directions, relative
to the median of all (a host is slower or faster as a whole; howlate learns by how much). Loads that are held against
themselves are also in a cell of 30 ms: the stretch in which the probe runs them alone is most of it.

Guests of several CPUs are measured as well: 2 and 4 CPUs in turns of 5 and of 20 us, idle, beside memory-alloc on
one CPU and on all, and with the test `cross`. Each of their cells is measured `--repeat` times, and the least of its
times counts. `--page FILE` writes the table of costs by number of CPUs and turn into the page, between its marks.

The same cells are then a run: the time left that it would have shown at each cell's begin (pace.py) against what the
rest took, both in CPU time. Exit code 0 or 1.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from figures import Figure, Part, add_option, all_kept  # noqa: E402
from table import commit  # noqa: E402
from turns import into_page  # noqa: E402

from howlate.lab.bench import Bench, LineResult  # noqa: E402
from howlate.lab.guests.guest import Tick  # noqa: E402
from howlate.lab.guests.watch import Limits  # noqa: E402
from howlate.lab.targets.lab import open_lab  # noqa: E402
from howlate.measure.pace import Pace  # noqa: E402
from howlate.measure.prepare import RunRequest, prepare  # noqa: E402
from howlate.model.study import read_study  # noqa: E402
from howlate.model.units import format_duration, parse_duration_ns  # noqa: E402
from howlate.plan.cost import cell_cost_s, kind_of  # noqa: E402
from howlate.targets import LabOptions, Target  # noqa: E402

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
CROSS = """
schema = 1
id = "lab-costs-cross"
title = "What cells of several CPUs cost"
question = "How long does it take on this host to ask another CPU?"
test = "cross"
[settings]
policy = "fifo:80"
points = "500"
kind = "wake"
[axes]
load = ["none", "memory-alloc:100,cpus=other"]
"""
IDLE, ONE, ALL = "none", "memory-alloc:100,cpus=0", "memory-alloc:100"
SHORTEST, LONGEST = 20, 1020
"""Activations at 1 ms: a virtual second lies between the two."""
SEVERAL = (
    ("20 ms", STUDY, (f"activations={SHORTEST}", f'load=["{IDLE}","{ONE}"]')),
    ("1.02 s", STUDY, (f"activations={LONGEST}", f'load=["{IDLE}","{ONE}"]')),
    ("500 ms", STUDY, ("activations=500", f"load={ALL}")),
    ("cross", CROSS, ()),
)
"""What is measured in each of them."""
HEAD = ("CPUs", "turn", "a cell of 20 ms, idle", "a virtual second more, idle", f"the same beside `{ONE}`")
BEGIN = "<!-- ./dev bench lab_costs -->"
KERNEL, EMULATOR = "lab.kernel_package", "lab.emulator"


def main() -> int:
    asked = _parser().parse_args()
    numbers = [int(number) for number in asked.cpus.split(",")]
    turns_ns = [parse_duration_ns(turn) for turn in asked.turn.split(",")]
    costs = []
    if 1 in numbers:
        changes = [f"activations={asked.activations}", *([f"load={asked.loads}"] if asked.loads else [])]
        target = open_lab(asked.kernel, LabOptions(cached=False))
        costs = measured(target, changes) + measured(target, [*SHORT], ", 30 ms")
    rows = []
    for cpus, turn_ns in itertools.product((n for n in numbers if n > 1), turns_ns):
        found, row = of_guest(asked.kernel, cpus, turn_ns, asked.repeat)
        costs += found
        rows.append(row)
    if rows:
        text = table([of_one(asked.kernel, asked.repeat), *rows])
        print(text)
        if asked.page is not None:
            into_page(asked.page, text, BEGIN)
    return judged(costs, asked.figures)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernel", default="6.1")
    parser.add_argument("--activations", type=int, default=1500, help="with one CPU (default: %(default)s)")
    parser.add_argument("--loads", default="", help="with one CPU")
    parser.add_argument("--cpus", default="1,2,4", help="numbers of CPUs (default: %(default)s)")
    parser.add_argument("--turn", default="5us,20us", help="turns of several CPUs (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=2, help="of several CPUs (default: %(default)s)")
    parser.add_argument("--page", type=Path, help="write the table into this page")
    add_option(parser)
    return parser


def judged(costs: Sequence[Cost], path: Path | None) -> int:
    """Prints what each took, and holds it against the limits."""
    host = of_host(costs)
    for cost in costs:
        print(f"{cost.name:52} {cost.ratio:5.2f} of the model, {cost.ratio / host:5.2f} of this host's")
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
    return 0 if all_kept(figures, path) else 1


class Cost(Struct, frozen=True):
    """What a cell took, and what the model says."""

    name: str
    kind: str
    model_s: float
    used_s: float

    @property
    def ratio(self) -> float:
        return self.used_s / self.model_s


class GuestRow(Struct, frozen=True):
    """A row of the table: what a guest's cells cost, in CPU seconds."""

    cpus: int
    turn_ns: int
    short_s: float
    second_s: float
    loaded_second_s: float
    facts: dict[str, str]

    def __str__(self) -> str:
        turn = format_duration(self.turn_ns) if self.turn_ns else ""
        figures = (f"{value:.2g}" for value in (self.short_s, self.second_s, self.loaded_second_s))
        return f"| {self.cpus} | {turn} | {' | '.join(figures)} |"


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


def of_guest(kernel: str, cpus: int, turn_ns: int, repeat: int) -> tuple[list[Cost], GuestRow]:
    """What the cells of a guest of several CPUs took."""
    target = open_lab(kernel, LabOptions(cached=False, cpus=cpus, turn_ns=turn_ns))
    guest = f", {cpus} CPUs, {format_duration(turn_ns)}"
    costs: list[Cost] = []
    for name, text, changes in SEVERAL:
        costs += measured(target, [*changes], f", {name}{guest}", text, repeat)
    idle, one, longer_idle, longer_one = (cost.used_s for cost in costs[:4])
    facts = target.facts(kernel)["values"]
    return costs, GuestRow(cpus, turn_ns, idle, longer_idle - idle, longer_one - one, facts)


def of_one(kernel: str, repeat: int) -> GuestRow:
    """The same of the usual guest, for the table."""
    target = open_lab(kernel, LabOptions(cached=False))
    idle, one, longer_idle, longer_one = (
        cost.used_s
        for name, text, changes in SEVERAL[:2]
        for cost in measured(target, [*changes], f", {name}, 1 CPU", text, repeat)
    )
    return GuestRow(1, 0, idle, longer_idle - idle, longer_one - one, target.facts(kernel)["values"])


def table(rows: Sequence[GuestRow]) -> str:
    """What guests cost by the number of their CPUs and their turn, and what it was measured with."""
    first, last = rows[0].facts, rows[-1].facts
    emulators = f"{last[EMULATOR]}; one CPU: {first[EMULATOR]}"
    lines = [f"{last[KERNEL]}, {emulators}, commit {commit()}; CPU seconds of the host."]
    lines += ["", f"| {' | '.join(HEAD)} |", "|---:|---:|---:|---:|---:|", *map(str, rows)]
    return "\n".join(lines)


def measured(
    target: Target, changes: list[str], more: str = "", text: str = STUDY, repeat: int = 1
) -> list[Cost]:
    """What each cell of the study took, at least."""
    found: list[Cost] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "study.toml"
        file.write_text(text)
        prepared = prepare(RunRequest(read_study(file), tuple(changes), seeds=1), target)
        for cell in prepared.run.plan.cells:
            used_s = []
            for _ in range(repeat):
                used: list[float] = []
                with patch.object(Bench, "run", _noting(used)):
                    target.run_cell(cell, Path(folder) / "stream", lambda _: None)
                used_s.append(max(used))
            model_s = cell_cost_s(cell)
            name = cell.labels["load"] + more
            found.append(Cost(name, kind_of(cell), model_s, min(used_s)))
            print(f"{name:52} {min(used_s):6.2f} s, model {model_s:6.2f} s", flush=True)
    return found


def _noting(used: list[float]) -> Callable[..., list[LineResult]]:
    """Bench.run, with the guest's CPU time so far noted at each tick."""
    run = Bench.run

    def noting(self: Bench, lines: Sequence[Sequence[str]], limits: Limits, _tick: Tick) -> list[LineResult]:
        return run(self, lines, limits, used.append)

    return noting


if __name__ == "__main__":
    sys.exit(main())
