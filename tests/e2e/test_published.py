"""The published studies end to end on this machine, at a scale of seconds: every cell is whole or says why it is not
possible here, and tables, report and exports of several tests in one run come out."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.commands import howlate
from howlate.model.study import read_study
from howlate.studies import studies

TINY: dict[str, tuple[str, ...]] = {
    "rts7751-2007": (
        *("--scale", "0.01", "--set", "tasks.tasks=1,16", "--set", "slice.tasks=1,16"),
        *("--set", "shares.nice=0,19"),
    ),
    "sh7780-2008": (
        *("--scale", "0.005", "--set", "time.load=hackbench:1"),
        *("--set", "latency.load=hackbench:1,hackbench:2"),
    ),
    "toshiba-2010": (
        *("--scale", "0.00002", "--set", "period=300us", "--set", "load=none,cpu:100+disk:max"),
        *("--set", "late-policy=as-published"),
    ),
    "toshiba-mem-2010": (
        *("--scale", "0.0002", "--set", "period=300us"),
        *("--set", "load=none,cpu:100,memory-alloc:50,memory-fault:100,memory-access:50"),
    ),
    "tut-2017": (
        *("--scale", "0.00002", "--set", "preemption.load=none", "--set", "clock.load=none"),
        *("--set", "switch.load=none", "--set", "timer-relative.load=none"),
    ),
}
"""What keeps each to seconds; axes are shortened where each value starts hundreds of tasks, or many are alike."""
WHOLE = {
    "rts7751-2007": ("--scale", "0.01", "--set", "tasks.tasks=1,16"),
    "toshiba-2010": ("--scale", "0.00002"),
    "toshiba-mem-2010": ("--scale", "0.0002", "--set", "period=300us"),
    "tut-2017": ("--scale", "0.00002"),
}
"""With the axes that are shortened there, for the sweep."""
LONGEST = ("rts7751-2007", "toshiba-mem-2010")


@pytest.mark.alone
@pytest.mark.parametrize(
    ("name", "words"),
    [
        *(
            pytest.param(*case, marks=[pytest.mark.long] if case[0] in LONGEST else [], id=case[0])
            for case in sorted(TINY.items())
        ),
        *(pytest.param(*case, marks=pytest.mark.sweep, id=f"{case[0]}-whole") for case in WHOLE.items()),
    ],
)
def test_a_published_study_runs_to_its_end_here(tmp_path: Path, name: str, words: tuple[str, ...]) -> None:
    study = read_study(studies()[name])
    code, out, err = howlate(tmp_path, "run", name, *words, "--out", "r", "--json")
    assert code == 0, err
    said: dict[str, Any] = json.loads(out)
    planned = json.loads((tmp_path / "r" / "run.json").read_text())["plan"]["cells"]
    impossible = {failed["id"]: failed["message"] for failed in said["failed"] if failed["exit_code"] == 3}
    assert {cell["id"] for cell in said["cells"]} | set(impossible) == {cell["id"] for cell in planned}
    assert all(impossible.values())
    assert {cell["test"] for cell in planned if cell["id"] in impossible} <= {"irq", "uio"}
    for cell in said["cells"]:
        assert cell["labels"].get("part", "") in {"", *(part.id for part in study.parts)}
        account = cell["accounting"]
        assert account["releases"] == account["recorded"] + account["overruns"] + account["dropped"]
    code, out, err = howlate(tmp_path, "show", "r", "--all")
    assert code == 0, err
    assert "times the study's (--scale)" in " ".join(out.split())
    page = (tmp_path / "r" / "report.html").read_text()
    assert "--scale" in page
    measured = {cell["labels"].get("part", "") for cell in said["cells"]} - {""}
    for part in study.parts:
        if part.id in measured:
            assert f"{part.id}: {part.title}"[:60] in " ".join(out.split())
            assert f'id="part-{part.id}"' in page
    code, out, err = howlate(tmp_path, "export", "r", "--format", "csv", "-o", "r.csv")
    assert code == 0, err
    rows = (tmp_path / "r.csv").read_text().splitlines()[1:]
    assert {row.split(",")[0].strip('"') for row in rows} <= {cell["id"] for cell in said["cells"]}
    assert len(rows) >= sum(cell["accounting"]["recorded"] for cell in said["cells"])


def test_a_plan_of_parts_says_the_time_of_each_and_of_all(tmp_path: Path) -> None:
    code, out, err = howlate(tmp_path, "run", "tut-2017", "--dry-run", "--json")
    assert code == 0, err
    plan = json.loads(out)
    assert [part["id"] for part in plan["parts"]] == [
        "preemption",
        "clock",
        "switch",
        "timer-absolute",
        "timer-relative",
        "smi",
    ]
    assert sum(part["expected_s"] for part in plan["parts"]) == pytest.approx(plan["expected_s"])
    assert [cell["labels"]["part"] for cell in plan["cells"]] == [
        part["id"] for part in plan["parts"] for _ in range(part["cells"])
    ]
    code, out, err = howlate(tmp_path, "run", "tut-2017", "--dry-run", "--scale", "0.1")
    assert code == 0, err
    for text in (
        "preemption: PreemptionTest",
        "smi: SMITest",
        "preemption: points 10000 for 100000",
    ):
        assert text in " ".join(out.split())
    assert not list(tmp_path.iterdir()), "a dry run writes nothing"
