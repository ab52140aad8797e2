"""The published studies on two kernels of the lab, at a scale of seconds: standard without preemption, and RT."""

import json
from pathlib import Path

import pytest

from howlate.model.study import read_study
from howlate.studies import studies
from lab.guests import RT, STANDARD, run_study, warm_cache

TINY: dict[str, tuple[str, ...]] = {
    "rts7751-2007": (
        "--scale=0.005",
        "--set=tasks.tasks=16",
        "--set=slice.tasks=4",
        "--set=shares.nice=10",
        "--set=sleeper.policy=other",
        "--set=throttling.spin=20ms",
    ),
    "sh7780-2008": (
        "--scale=0.002",
        "--set=time.load=hackbench:1",
        "--set=latency.load=hackbench:1",
        "--set=course.load=hackbench:2",
    ),
    "toshiba-2010": ("--scale=0.00005", "--set=period=300us"),
    "toshiba-mem-2010": ("--scale=0.0005", "--set=period=300us", "--set=load=none,memory-fault:100"),
    "tut-2017": ("--scale=0.00005", "--guest-cpus=2", "--turn=20us"),
}
"""What keeps each to a few cells of some milliseconds; which modules the guests can have is not said. A
second of spinning is a minute of TCG: throttling is waited for on the machine itself (tests/e2e), given up here."""


QUICK = {"toshiba-mem-2010": (STANDARD,)}
"""The kernels of the quick suite. All five studies run in it on the machine itself (tests/e2e/test_published.py)."""


@pytest.mark.parametrize(
    ("name", "kernels"),
    [
        *QUICK.items(),
        *(
            pytest.param(name, (STANDARD, RT), marks=pytest.mark.sweep)
            for name in sorted(TINY)
            if len(QUICK.get(name, ())) < 2
        ),
    ],
)
def test_a_published_study_runs_to_its_end_in_the_lab(
    tmp_path: Path, name: str, kernels: tuple[str, ...]
) -> None:
    cache = warm_cache(tmp_path / "cache", *kernels)
    printed = run_study(name, kernels, cache, tmp_path, *TINY[name], timeout_s=1800)
    plan = json.loads((tmp_path / "r" / "run.json").read_text())["plan"]["cells"]
    impossible = {one["id"]: one["message"] for one in printed["failed"] if one["exit_code"] == 3}
    assert {cell["id"] for cell in printed["cells"]} | set(impossible) == {cell["id"] for cell in plan}
    assert {cell["test"] for cell in plan if cell["id"] in impossible} <= {"irq", "uio"} and all(
        impossible.values()
    )
    parts = [part.id for part in read_study(studies()[name]).parts] or [""]
    found = {(cell["labels"].get("part", ""), cell["labels"]["kernel"]) for cell in plan}
    assert found == {(part, kernel) for part in parts for kernel in kernels}
    assert (tmp_path / "r" / "report.html").is_file()
