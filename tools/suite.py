"""Runs the host's tests, and says what they cost and what was skipped: tools/suite.py MARKS [PYTEST ARGUMENTS].

What may run beside others comes first, on all CPUs, then what needs the machine to itself, one test after the other
(tests/conftest.py says which is which). Then it prints the most expensive tests of both parts, and about how long the
whole takes on a quiet machine with two CPUs: half of the CPU time of what runs side by side and of what the caller
built before, and the clock for the rest. Another's work on a shared machine stretches the clock alone.

$HOWLATE_OUTCOMES names a file for the counts and the reasons of skips as JSON (tools/systems.py reads it).
$HOWLATE_BUDGET_MIN is the most minutes that this may be; beyond them the exit code is 1 though no test fails.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec import Struct

BUDGET = "HOWLATE_BUDGET_MIN"
OUTCOMES = "HOWLATE_OUTCOMES"
CPUS = 2
"""Of the machine that the budget is for."""
MOST_WORKERS = 8
MORE_WORKERS = 1
"""Than CPUs: some tests wait for a connection, a guest's boot by another test, or a measurement of a second."""
SHOWN = 20
USAGE = 2

Costs = Mapping[str, tuple[float, float, str, str]]
"""Of each test: CPU seconds, seconds on the clock, the outcome, the reason of a skip (tests/spent.py)."""


class Part(Struct, frozen=True):
    """A part of the suite that has run."""

    name: str
    code: int
    costs: Costs
    cpu_s: float
    clock_s: float

    @property
    def failed(self) -> bool:
        return self.code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def children_cpu_s() -> float:
    """The CPU time of all children that have ended. It outlives exec, so a shell that becomes this program hands over
    what its own commands took."""
    times = os.times()
    return times.children_user + times.children_system


def run_part(name: str, arguments: Sequence[str]) -> Part:
    with tempfile.TemporaryDirectory() as folder:
        spent = Path(folder) / "spent.json"
        cpu_s, clock_s = children_cpu_s(), time.monotonic()
        code = subprocess.run([sys.executable, "-m", "pytest", f"--spent={spent}", *arguments]).returncode
        costs = json.loads(spent.read_text()) if spent.exists() else {}
        return Part(name, code, costs, children_cpu_s() - cpu_s, time.monotonic() - clock_s)


def run_parts(marks: str, arguments: Sequence[str]) -> list[Part]:
    """The second part does not begin where the first did not end by itself."""
    workers = str(min(len(os.sched_getaffinity(0)) + MORE_WORKERS, MOST_WORKERS))
    beside = run_part(
        "beside each other", ["-m", f"({marks}) and not alone", "-n", workers, "--dist=worksteal", *arguments]
    )
    if beside.failed and beside.code != pytest.ExitCode.TESTS_FAILED:
        return [beside]
    return [beside, run_part("one by one", ["-m", f"({marks}) and alone", "--alone", *arguments])]


def exit_code(parts: Sequence[Part], minutes: float, budget_min: float) -> int:
    """That of the last part that failed, else 1 beyond the budget. A part without tests fails only if both are."""
    failures = [part.code for part in parts if part.failed]
    code = failures[-1] if failures else min(part.code for part in parts)
    return code or int(minutes > budget_min)


def slowest(parts: Sequence[Part]) -> list[str]:
    """By what each adds to the whole: where the CPUs are shared its CPU time, else the clock."""
    rows = []
    for part in parts:
        for test, (cpu_s, clock_s, _, _) in part.costs.items():
            weight_s = cpu_s / CPUS if part is parts[0] else clock_s
            rows.append((weight_s, f"{cpu_s:8.1f} {clock_s:8.1f}  {test}"))
    rows.sort(reverse=True)
    head = f"the {min(SHOWN, len(rows))} most expensive tests\n   CPU s  clock s"
    return [head, *(line for _, line in rows[:SHOWN])] if rows else []


def whole_min(built_cpu_s: float, parts: Sequence[Part]) -> float:
    """About how long all of it takes on a quiet machine."""
    shared_s = built_cpu_s + parts[0].cpu_s
    return (shared_s / CPUS + sum(part.clock_s for part in parts[1:])) / 60


def account(built_cpu_s: float, parts: Sequence[Part]) -> list[str]:
    lines = [f"building: {built_cpu_s / 60:.1f} min of CPU time"]
    for part in parts:
        times = f"{part.cpu_s / 60:.1f} min of CPU time, {part.clock_s / 60:.1f} min on the clock"
        lines.append(f"{part.name}: {len(part.costs)} tests, {times}")
    lines.append(f"about {whole_min(built_cpu_s, parts):.1f} min on a quiet machine with {CPUS} CPUs")
    return lines


def counts(parts: Sequence[Part]) -> dict[str, int]:
    """How many tests passed, failed and were skipped."""
    ended = Counter(outcome for part in parts for _, _, outcome, _ in part.costs.values())
    return {outcome: ended[outcome] for outcome in ("passed", "failed", "skipped")}


def skips(parts: Sequence[Part]) -> dict[str, int]:
    """How many tests were skipped for each reason, the commonest first."""
    reasons = Counter(
        reason for part in parts for _, _, outcome, reason in part.costs.values() if outcome == "skipped"
    )
    return dict(reasons.most_common())


def outcome_lines(parts: Sequence[Part]) -> list[str]:
    """In the form that test runners close with, after a line for each reason of a skip."""
    lines = [f"{count:6d} skipped: {reason}" for reason, count in skips(parts).items()]
    return [*lines, ", ".join(f"{count} {outcome}" for outcome, count in counts(parts).items())]


def write_outcomes(parts: Sequence[Part]) -> None:
    if path := os.environ.get(OUTCOMES):
        Path(path).write_text(json.dumps({"counts": counts(parts), "skips": skips(parts)}, indent=1))


def read_budget_min() -> float:
    text = os.environ.get(BUDGET) or "inf"
    with suppress(ValueError):
        if (budget_min := float(text)) > 0:
            return budget_min
    print(f'{BUDGET} is "{text}"; set it to a number of minutes, or unset it', file=sys.stderr)
    sys.exit(USAGE)


def main(marks: str, *arguments: str) -> int:
    built_cpu_s, budget_min = children_cpu_s(), read_budget_min()
    parts = run_parts(marks, arguments)
    minutes = whole_min(built_cpu_s, parts)
    print("\n".join([*slowest(parts), *account(built_cpu_s, parts), *outcome_lines(parts)]), flush=True)
    write_outcomes(parts)
    if minutes > budget_min:
        print(f"that is beyond the budget of {budget_min:g} min ({BUDGET})", file=sys.stderr)
    return exit_code(parts, minutes, budget_min)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
