"""What an open verdict says to do: what may decide it, in the unit that decides."""

from typing import cast

import numpy as np
import pytest
from msgspec.structs import replace

from howlate.statistics.valid import DROPPED
from howlate.verdict.evidence import Evidence
from howlate.verdict.on_screen import waiting
from howlate.verdict.row_statements import remaining
from howlate.verdict.ruling import Question, Ruling, Verdict
from howlate.verdict.verdict import verdict
from howlate.words.say import text_of
from howlate.words.statement import Listed, Statement
from made_evidence import made_evidence, quiet
from made_misses import DEADLINE_NS, Round, evidence_of
from statement_parts import parts

RANDOM = np.random.default_rng(1)


def in_rounds(*misses: int, together: int = 1) -> Evidence:
    """Until decided, in rounds of 10,000 releases with so many misses each."""
    every = [
        (np.arange(count // together)[:, None] * 240 + np.arange(together)).ravel() + 50 for count in misses
    ]
    return evidence_of([Round.of(RANDOM, each, 10_000) for each in every], until_decided=True)


def apart(rounds: int) -> Evidence:
    return made_evidence(DEADLINE_NS, *(quiet(12, seed) for seed in range(rounds)), apart=True)


def refused(*rules: str) -> Evidence:
    """Of a row that is not valid."""
    return replace(apart(7), failed_checks=tuple(map(Statement, rules)))


BURSTS = evidence_of([Round.of(RANDOM, np.arange(0, 40_000, 500), 1_000_000)])
SEEDS = made_evidence(DEADLINE_NS, *(quiet(500, seed) for seed in range(8)), virtual=True, boots=8)


@pytest.mark.parametrize(
    ("evidence", "asked", "rule", "values"),
    [
        (in_rounds(2, 3, 1), Question(DEADLINE_NS, 1e-3), "verdict.more-may-help", {}),
        (in_rounds(40, 0, 0), Question(DEADLINE_NS, 1e-3), "verdict.larger-cluster", {}),
        (BURSTS, Question(DEADLINE_NS, 1e-4), "verdict.rounds-may-help", {}),
        (apart(7), Question(DEADLINE_NS), "verdict.needed-repetitions", {"count": 12}),
        (SEEDS, Question(DEADLINE_NS, horizon_s=0.5), "verdict.needed-repetitions", {"count": 11}),
        (refused("cell.account", "cell.account"), Question(DEADLINE_NS), "verdict.contradicted", {}),
        (refused("cell.account", "cell.failed"), Question(DEADLINE_NS), "verdict.again", {}),
    ],
    ids=[
        "rounds with misses",
        "more in a round than groups make",
        "bursts",
        "rounds far apart",
        "seeds",
        "contradicting numbers",
        "a failed measurement",
    ],
)
def test_what_may_decide_it_is_said(
    evidence: Evidence, asked: Question, rule: str, values: dict[str, int]
) -> None:
    found = verdict(evidence, asked)
    assert found.outcome is Ruling.INCONCLUSIVE
    (told,) = remaining(found)
    assert (told.rule, dict(told.values)) == (rule, values)


@pytest.mark.parametrize(("factor", "needed_s"), [(1.5, 648.5), (2.0, 248.1)])
def test_the_time_that_is_needed_with_misses_decides_it_and_less_does_not(
    factor: float, needed_s: float
) -> None:
    """Where misses keep coming at the rate of 20 in 100 s."""

    def after(more: float) -> Verdict:
        times = 1 + more / 100
        at = np.linspace(500, 100_000 * times - 500, int(20 * times)).astype(int)
        evidence = evidence_of([Round.of(np.random.default_rng(1), at, int(100_000 * times))])
        return verdict(evidence, Question(DEADLINE_NS, factor * 2e-4))

    (told,) = remaining(after(0))
    assert told.rule == "verdict.needed" and told.values["seconds"] == pytest.approx(needed_s, abs=0.1)
    outcomes = [after(part * needed_s).outcome for part in (0, 0.8, 1.05)]
    assert outcomes == [Ruling.INCONCLUSIVE, Ruling.INCONCLUSIVE, Ruling.PASS]


def test_the_first_screen_names_no_bound_that_nobody_asked_for() -> None:
    """A rate is tolerated, and open: that the largest value bounds no horizon is no reason."""
    evidence = evidence_of([Round.of(RANDOM, np.arange(20, 100_000, 8_000), 100_000)])
    found = verdict(evidence, Question(DEADLINE_NS, 2e-4))
    assert found.outcome is Ruling.INCONCLUSIVE and found.stretch.forbids
    told = parts(*waiting([found]))
    assert told["verdict.tolerated"] == {"tolerated": 2e-4} and "verdict.seen" not in told
    worse = verdict(evidence, Question(DEADLINE_NS, 1.5e-4))
    assert (worse.needed_s or 0) > (found.needed_s or 0) > 0
    assert waiting([found, worse]) == waiting([worse])
    missed = verdict(evidence, Question(DEADLINE_NS, 2e-4, horizon_s=1.0))
    assert "verdict.seen" in parts(*waiting([missed]))


def test_each_open_row_has_its_reason() -> None:
    """Those that differ with their rows; what is to be done once."""
    dropped = made_evidence(DEADLINE_NS, quiet(), failed_checks=(DROPPED(count=1),))
    rows = {
        "bursts": BURSTS,
        "dropped": dropped,
        "drops": dropped,
        "short": made_evidence(DEADLINE_NS, quiet(900)),
    }
    open_ = [verdict(replace(row, name=name), Question(DEADLINE_NS, 1e-4)) for name, row in rows.items()]
    assert {row.outcome for row in open_} == {Ruling.INCONCLUSIVE}
    *reasons, _do = waiting(open_)
    named = [part for told in reasons for part in cast(Listed, told).texts[:1]]
    assert sorted(name for part in named for name in cast(Listed, part).texts) == sorted(rows)
    told = [cast(Statement, cast(Listed, told).texts[1]).rule for told in reasons]
    assert len(set(told)) == len(told) and told[0] == DROPPED.id


def test_a_reason_of_several_rows_tells_the_values_of_none() -> None:
    """Unless they are the same."""
    counts = {"one": 1, "two": 2, "as two": 2}
    for names, told_of in ((["one", "two"], False), (["two", "as two"], True)):
        rows = [
            replace(
                made_evidence(DEADLINE_NS, quiet(), failed_checks=(DROPPED(count=counts[name]),)), name=name
            )
            for name in names
        ]
        reason, _do = waiting([verdict(row, Question(DEADLINE_NS)) for row in rows])
        told = text_of(cast(Listed, reason).texts[1])
        assert ("2" in told) is told_of and "1" not in told


def test_what_to_do_is_of_the_valid_rows() -> None:
    rows = {"short": made_evidence(DEADLINE_NS, quiet(900)), "dropped": refused("cell.failed")}
    open_ = [verdict(replace(row, name=name), Question(DEADLINE_NS, 1e-4)) for name, row in rows.items()]
    (expected,) = remaining(open_[0])
    for order in (1, -1):
        assert waiting(open_[::order])[-1] == expected


def test_the_larger_cluster_that_it_names_decides() -> None:
    evidence = in_rounds(*[40] + [0] * 9 + [40] + [0] * 189, together=40)
    assert verdict(evidence, Question(DEADLINE_NS, 5e-3, cluster=40)).outcome is Ruling.PASS


def test_rounds_far_apart_are_the_units_however_short_they_are() -> None:
    """Nineteen of twelve samples bound the next; where they rise they bound nothing."""
    assert verdict(apart(18), Question(DEADLINE_NS)).outcome is Ruling.INCONCLUSIVE
    assert verdict(apart(19), Question(DEADLINE_NS)).outcome is Ruling.PASS
    short = replace(apart(19), apart=False)
    assert verdict(short, Question(DEADLINE_NS)).outcome is Ruling.INCONCLUSIVE
    rising = made_evidence(DEADLINE_NS, *(quiet(12, n) * (n + 9) for n in range(19)), apart=True)
    assert not verdict(rising, Question(DEADLINE_NS)).stretch.bound
