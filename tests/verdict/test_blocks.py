"""The blocks that the horizon rests on: repetitions that differ, rounds far apart, boots, seeds."""

from functools import lru_cache

import numpy as np
import pytest
from msgspec.structs import replace

from howlate.verdict.evidence import Evidence
from howlate.verdict.ruling import Question, Ruling
from howlate.verdict.verdict import verdict
from made_evidence import made_evidence, quiet

DEADLINE_NS = 200_000
RUN_S = 1.5
PASS, FAIL, INCONCLUSIVE = Ruling


@lru_cache
def made(kind: str, repetitions: int) -> Evidence:
    """Repetitions of 1.5 s."""
    unlike = 500 if kind == "differ" else 0
    runs = [quiet(1_500, 100 + seed, 4_000 + unlike * (seed % 3)) for seed in range(repetitions)]
    evidence = made_evidence(DEADLINE_NS, *runs)
    if kind == "apart":
        return replace(evidence, apart=True)
    return replace(evidence, virtual=kind == "seeds", boots=repetitions if kind in ("boots", "seeds") else 1)


@pytest.mark.parametrize("kind", ["differ", "apart", "boots"])
@pytest.mark.parametrize("repetitions", [19, 20, 22, 29, 37, 38, 41])
def test_nineteen_repetitions_or_more_bound_the_next_one(kind: str, repetitions: int) -> None:
    """With n / (n + 1): a nineteenth of the time is longer than one of them from twenty on."""
    found = verdict(made(kind, repetitions), Question(DEADLINE_NS))
    assert found.outcome is PASS
    assert found.stretch.blocks == ("boots" if kind == "boots" else "runs")
    assert found.stretch.horizon_s == pytest.approx(RUN_S)
    assert found.stretch.confidence == pytest.approx(repetitions / (repetitions + 1))
    assert found.bounded_s == found.stretch.horizon_s


@pytest.mark.parametrize("kind", ["differ", "apart", "boots", "seeds", "alike"])
@pytest.mark.parametrize("horizon_s", [None, 0.4, RUN_S, 1.6, 7.5])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_time_to_go_is_positive_and_decides_it(
    kind: str, horizon_s: float | None, confidence: float
) -> None:
    """Whatever the repetitions, so much more of the same passes."""
    asked = Question(DEADLINE_NS, horizon_s=horizon_s, confidence=confidence)
    evidence = {n: made(kind, n) for n in (2, 6, 18, 21, 40)}
    for repetitions, measured in evidence.items():
        found = verdict(measured, asked)
        assert found.outcome is PASS or found.needed_s is not None, repetitions
        if found.needed_s is None:
            continue
        assert found.outcome is INCONCLUSIVE and found.needed_s > 0
        longer = (measured.seconds + found.needed_s) / measured.seconds
        more = replace(
            measured,
            seconds=measured.seconds * longer,
            repetitions=round(repetitions * longer),
            boots=measured.boots if measured.boots == 1 else round(repetitions * longer),
        )
        assert verdict(more, asked).outcome is PASS, (repetitions, found.needed_s)


@pytest.mark.parametrize("boots", [1, 19])
@pytest.mark.parametrize("factor", [1.05, 1.1, 1.3])
def test_repetitions_that_rise_bound_nothing(factor: float, boots: int) -> None:
    runs = [(quiet(2_000, seed) * factor**seed).astype(np.int64) for seed in range(19)]
    found = verdict(made_evidence(1 << 40, *runs, boots=boots), Question(1 << 40))
    assert found.bounded_s is None and found.stretch.rises
    mixed = [runs[at] for at in np.random.default_rng(1).permutation(19)]
    found = verdict(made_evidence(1 << 40, *mixed, boots=boots), Question(1 << 40))
    assert found.bounded_s == pytest.approx(2.0)
