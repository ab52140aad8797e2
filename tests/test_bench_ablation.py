"""The benchmark that leaves out a part of the rule: the rule is whole again after it, and each part is missed."""

import sys
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parent.parent / "bench"
sys.path.append(str(BENCH))

from ablation import EVERY, LEFT, is_needed, without  # noqa: E402

QUICK = ("the test whether misses come in bursts", "the sizes of the groups of misses")


@pytest.mark.parametrize("name", LEFT)
def test_the_rule_is_whole_again(name: str) -> None:
    part = LEFT[name]
    before = [vars(of)[member] for of, member in part.replaced]
    with pytest.raises(ZeroDivisionError), without(part):
        assert all(
            vars(of)[member] is not was for (of, member), was in zip(part.replaced, before, strict=True)
        )
        1 / 0  # noqa: B018
    assert [vars(of)[member] for of, member in part.replaced] == before
    assert part.process in EVERY


@pytest.mark.parametrize("name", QUICK)
def test_a_part_that_is_needed_is_missed(name: str) -> None:
    """Of 50 series at the tolerated rate more than a twelfth are judged wrongly without it, and few with it."""
    figures = is_needed(name, LEFT[name], 50, np.random.default_rng(1))
    values = {figure.name: figure.value for figure in figures}
    wrong = [value for label, value in values.items() if label.endswith(("false PASS", "false FAIL"))]
    whole = [value for label, value in values.items() if label.endswith("by the whole rule")]
    assert len(wrong) == len(whole) == 2
    assert sum(wrong) > 8 > sum(whole), (wrong, whole)
