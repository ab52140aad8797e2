"""The benchmark of misses leaves out what cannot decide."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))

from misses import ROUND, ROUNDS_RATE, may_be_decided

from howlate.verdict.ruling import Question, Ruling
from howlate.verdict.verdict import verdict
from made_misses import DEADLINE_NS, PROCESSES, Round, evidence_of, misses_of


@pytest.mark.parametrize("times", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", ["single", "stalls of 4", "Pareto stalls, 1.2 up to 1,000"])
def test_a_look_that_is_left_out_is_open(name: str, times: float) -> None:
    """Of each of 12 looks, through the whole of `verdict()`."""
    random, rounds, left_out = np.random.default_rng(3), [], 0
    asked = Question(DEADLINE_NS, ROUNDS_RATE, cluster=4)
    for _ in range(12):
        misses = misses_of(PROCESSES[name], random, ROUND, ROUNDS_RATE * times)
        rounds.append(Round.of(random, misses, ROUND))
        if not may_be_decided([of.counts for of in rounds], asked):
            left_out += 1
            assert verdict(evidence_of(rounds, until_decided=True), asked).outcome is Ruling.INCONCLUSIVE
    assert left_out or times != 1.0
