"""Verdicts on runs of guests whose first column does not answer "how late", or that cannot see what is asked."""

from pathlib import Path

import pytest

from howlate import __main__ as entry
from lab.guests import STANDARD, run_study, warm_cache

HEAD = 'schema = 1\nid = "asked"\ntitle = "Asked"\nquestion = "How late?"\n'
IRQ = HEAD + 'test = "irq"\n[settings]\nduration = "300ms"\nload = "cpu:100"\n'
GAP = HEAD + 'test = "hardware-gap"\n[settings]\nduration = "500ms"\nthreshold = "5s"\n'


def measured(folder: Path, study: str) -> None:
    (folder / "asked.toml").write_text(study)
    run_study("asked.toml", (STANDARD,), warm_cache(folder / "cache", STANDARD), folder)


def verdict(folder: Path, deadline: str) -> int:
    return entry.main(["verdict", str(folder / "r"), "--deadline", deadline])


@pytest.mark.long
@pytest.mark.parametrize(
    ("study", "codes"),
    [
        # No gap was seen, and none below the threshold could be.
        (GAP, {"1us": 5, "4s": 5}),
        # In virtual time the handler keeps 1 us, and the task that it wakes does not.
        pytest.param(IRQ, {"1us": 1, "2us": 1}, marks=pytest.mark.sweep),
    ],
    ids=["gap", "irq"],
)
def test_a_verdict_is_of_what_was_asked_or_is_none(study: str, codes: dict[str, int], tmp_path: Path) -> None:
    (tmp_path / "asked.toml").write_text(study)
    run_study("asked.toml", (STANDARD,), warm_cache(tmp_path / "cache", STANDARD), tmp_path)
    found = {
        deadline: entry.main(["verdict", str(tmp_path / "r"), "--deadline", deadline]) for deadline in codes
    }
    assert found == codes
