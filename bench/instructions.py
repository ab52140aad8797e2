"""User-space instructions, system calls and page faults of one activation: ours, and cyclictest's beside it.

    ./dev bench instructions

Counted by single steps of the measuring thread (tests/probe/stepping.py), for every way to sleep, late policy and
schedule. Instructions of the program and its libraries are its own; those of the vDSO, which reads the clock, are
printed beside them. The limits: with clock_nanosleep at most half of cyclictest's own instructions; for each way to
sleep the budget that the tests hold it to as well. Exit code 0 or 1.
"""

import argparse
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from figures import Figure, Part, add_option, all_kept

from probe.activations import BUDGETS, RATIO, Task, step_cyclictest, step_task, tasks
from probe.stepping import Steps, possible

PARTS = (
    Part(
        "instructions",
        "user-space instructions, system calls and page faults of one activation, beside cyclictest's",
        deterministic=True,
    ),
)


def shown(name: str, steps: Steps) -> None:
    """One line of the output."""
    calls = " or ".join(" + ".join(made) for made in sorted(steps.calls))
    print(
        f"  {name:44} own {steps.own:4d}   with the vDSO {steps.own + steps.vdso:4d}   {calls}   "
        f"page faults {steps.faults}",
        flush=True,
    )


def figures_of(found: dict[Task, Steps]) -> list[Figure]:
    """An activation's instructions, and what it does beyond its sleep: nothing."""
    other_calls = sum(steps.calls != {BUDGETS[task.timer].calls} for task, steps in found.items())
    faults = sum(steps.faults for steps in found.values())
    return [
        *(
            Figure(f"{task}: instructions", steps.own, at_most=task.own_limit)
            for task, steps in found.items()
        ),
        Figure("loops with other system calls than their way to sleep", other_calls, at_most=0),
        Figure("page faults in all of them", faults, at_most=0),
    ]


def main() -> int:
    """Count both and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_option(parser)
    asked = parser.parse_args()
    if refusal := possible():
        print(refusal, file=sys.stderr)
        return 3
    print("user-space instructions of one activation (most common path; measuring thread)")
    found = {}
    for task in tasks():
        found[task] = step_task(task)
        shown(str(task), found[task])
    figures = figures_of(found)
    if shutil.which("cyclictest"):
        theirs = step_cyclictest()
        shown("cyclictest", theirs)
        ratio = found[Task("clock_nanosleep")].own / theirs.own
        figures.append(Figure("cyclictest: instructions", theirs.own))
        figures.append(Figure("ratio to cyclictest, clock_nanosleep", round(ratio, 3), at_most=RATIO))
        print(f"  ratio of clock_nanosleep to cyclictest {ratio:.2f}, limit {RATIO}")
    for figure in figures:
        if not figure.kept:
            print(f"  {figure.name}: {figure.value:g}, at most {figure.at_most:g}")
    kept = all_kept(figures, asked.figures)
    print("limits kept" if kept else "a limit is NOT kept")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
