"""What a verdict says of quiet cells, of misses, and of everything that forbids a bound."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from howlate.model.knowledge import Knowledge
from howlate.model.summary import DeadlineSummary
from howlate.statistics.bounds import rate_upper
from howlate.statistics.valid import DROPPED
from howlate.verdict.document import sheet
from howlate.verdict.evidence import Evidence
from howlate.verdict.promise_bounds import horizon_line
from howlate.verdict.promise_sentence import run_sentence, sentence
from howlate.verdict.row_statements import statements
from howlate.verdict.ruling import Question, Ruling, Verdict
from howlate.verdict.verdict import verdict
from howlate.verdict.verdict_json import verdict_json
from howlate.words.say import english
from made_evidence import made_evidence, quiet
from statement_parts import parts

DEADLINE_NS = 200_000
PASS, FAIL, INCONCLUSIVE = Ruling


def told_of(found: Verdict) -> dict[str, Mapping[str, Any]]:
    return parts(*statements(found))


@pytest.mark.parametrize(("misses", "releases"), [(1, 202), (40, 202), (2, 3)])
def test_what_is_exact_is_counted(misses: int, releases: int) -> None:
    values = np.full(releases, 5_000)
    values[:misses] = 2 * DEADLINE_NS
    found = verdict(made_evidence(DEADLINE_NS, values, virtual=True), Question(DEADLINE_NS, 0.5))
    assert told_of(found)["verdict.exactly"] == {"misses": misses, "releases": releases}


def text(evidence: object, asked: Question) -> str:
    return " ".join(map(english, statements(verdict(evidence, asked))))  # type: ignore[arg-type]


def test_a_quiet_cell_passes_for_a_nineteenth_of_its_time() -> None:
    """100 s bound the next 100 / 19 s with 95 %."""
    found = verdict(made_evidence(DEADLINE_NS, quiet()), Question(DEADLINE_NS))
    assert (found.outcome, found.rate.outcome, found.stretch.outcome) == (PASS, None, PASS)
    assert found.stretch.horizon_s == pytest.approx(100 / 19)
    assert found.stretch.confidence == pytest.approx(0.95)
    said = sentence(found)
    assert (said.rule, said.values["seconds"], said.values["deadline_ns"]) == (
        *("verdict.pass-so-far", 100.0),
        DEADLINE_NS,
    )
    told = parts(said)
    assert (told["verdict.missed"]["misses"], told["verdict.missed"]["releases"]) == (0, 100_000)
    assert told["verdict.next"] == {"confidence": 0.95, "horizon_s": pytest.approx(100 / 19)}


def test_a_longer_horizon_says_how_long_it_needs() -> None:
    """The next 10 s need 190 s: 90 more than the 100 that were measured."""
    found = verdict(made_evidence(DEADLINE_NS, quiet()), Question(DEADLINE_NS, horizon_s=10))
    assert (found.outcome, found.stretch.outcome) == (INCONCLUSIVE, INCONCLUSIVE)
    assert found.needed_s == pytest.approx(90)
    assert told_of(found)["verdict.needed-calm"] == {"seconds": pytest.approx(90)}


def test_a_rate_that_the_samples_can_show() -> None:
    evidence = made_evidence(DEADLINE_NS, quiet())
    found = verdict(evidence, Question(DEADLINE_NS, miss_rate=1e-4))
    assert (found.outcome, found.rate.outcome) == (PASS, PASS)
    assert found.rate.theta is not None and found.rate.theta > 0.9
    assert found.rate.upper == pytest.approx(rate_upper(0, found.rate.theta * 100_000, 0.95))
    rarer = verdict(evidence, Question(DEADLINE_NS, miss_rate=1e-6))
    assert (rarer.outcome, rarer.rate.outcome, rarer.stretch.outcome) == (INCONCLUSIVE, INCONCLUSIVE, None)
    assert rarer.needed_s == pytest.approx((2_995_733 / found.rate.theta - 100_000) / 1_000, rel=1e-3)


def test_a_miss_fails_where_none_is_tolerated() -> None:
    values = quiet()
    values[500] = 300_000
    found = verdict(made_evidence(DEADLINE_NS, values), Question(DEADLINE_NS))
    assert (found.outcome, found.rate.outcome, found.stretch.outcome) == (FAIL, FAIL, FAIL)
    told = parts(sentence(found))
    assert told["verdict.fail"]["deadline_ns"] == DEADLINE_NS
    assert (told["verdict.missed"]["misses"], told["verdict.missed"]["releases"]) == (1, 100_000)


def test_a_rate_that_is_surely_exceeded_fails() -> None:
    values = quiet()
    values[::1_000] = 300_000
    evidence = made_evidence(DEADLINE_NS, values)
    assert verdict(evidence, Question(DEADLINE_NS, miss_rate=1e-4)).outcome is FAIL
    near = verdict(evidence, Question(DEADLINE_NS, miss_rate=1e-3))
    assert near.rate.outcome is INCONCLUSIVE and near.rate.lower < 1e-3 < (near.rate.upper or 0)
    far = verdict(evidence, Question(DEADLINE_NS, miss_rate=1e-2, horizon_s=0))
    assert (far.outcome, far.stretch.outcome) == (PASS, None)


def test_a_rate_that_passes_does_not_hide_that_the_deadline_was_missed() -> None:
    """The two answers stand apart; no time makes the largest value smaller. The rate alone passes."""
    values = quiet()
    values[500] = 300_000
    evidence = made_evidence(DEADLINE_NS, values)
    found = verdict(evidence, Question(DEADLINE_NS, miss_rate=1e-3, horizon_s=1))
    assert (found.outcome, found.rate.outcome, found.stretch.outcome) == (INCONCLUSIVE, PASS, INCONCLUSIVE)
    assert found.needed_s is None
    assert statements(found)[-1].rule == "verdict.rate-alone"
    assert verdict(evidence, Question(DEADLINE_NS, miss_rate=1e-3)).outcome is PASS


RISE = np.linspace(1, 3, 100_000)
STEP = np.where(np.arange(100_000) < 93_000, 1.0, 2.0)


@pytest.mark.parametrize(
    ("course", "deadline_ns", "outcome", "bounds"),
    [
        (RISE, 50_000, INCONCLUSIVE, False),
        (RISE, 200_000, PASS, False),
        (STEP, 30_000, INCONCLUSIVE, False),
        (STEP, 200_000, PASS, False),
        (RISE[::-1], 50_000, PASS, True),
        (STEP[::-1], 30_000, PASS, True),
    ],
)
def test_a_rise_forbids_what_it_would_reach(
    course: np.ndarray, deadline_ns: int, outcome: Ruling, bounds: bool
) -> None:
    """A rise by as much again as was seen; the largest value bounds nothing then, be the deadline as far as it may. A
    fall forbids nothing."""
    drifting = (quiet() * course).astype(np.int64)
    found = verdict(made_evidence(deadline_ns, drifting), Question(deadline_ns))
    assert (found.outcome, found.stretch.bound) == (outcome, bounds)
    why = {told.rule for told in (*found.stretch.forbids, *found.stretch.rises)}
    assert bounds or (why and why <= {"verdict.rising", "verdict.step-up"})


def test_bursts_forbid_the_rate_and_not_the_next_stretch() -> None:
    values = quiet()
    values[40_000:60_000] = values[40_000:60_000] * 3 // 2
    found = verdict(made_evidence(DEADLINE_NS, values), Question(DEADLINE_NS, miss_rate=1e-2, horizon_s=1))
    assert {told.rule for told in found.rate.forbids} == {"verdict.bursts"}
    assert (found.rate.outcome, found.stretch.outcome) == (INCONCLUSIVE, PASS)


def test_three_clusters_are_too_few_to_reckon_with() -> None:
    """Their mean size says nothing, and no count of them is spread over fifty stretches."""
    values = quiet()
    for start in (5_000, 31_000, 77_000):
        values[start : start + 100] *= 6
    found = verdict(made_evidence(DEADLINE_NS, values), Question(DEADLINE_NS, miss_rate=1e-2))
    assert {told.rule for told in found.rate.forbids} == {"verdict.too-few"}


def test_repetitions_that_differ_are_the_blocks() -> None:
    runs = [quiet(20_000, seed) for seed in range(4)]
    alike = verdict(made_evidence(DEADLINE_NS, *runs), Question(DEADLINE_NS))
    assert (alike.outcome, alike.stretch.blocks) == (PASS, "time")
    runs[2] = runs[2] * 3
    differ = verdict(made_evidence(DEADLINE_NS, *runs), Question(DEADLINE_NS))
    assert (differ.outcome, differ.stretch.blocks, differ.stretch.confidence) == (INCONCLUSIVE, "runs", 0.8)
    assert "verdict.runs-differ" in {told.rule for told in differ.rate.forbids}


def test_runs_that_differ_need_more_runs() -> None:
    """Four of 20 s bound the next one with 4 / 5; 95 % takes nineteen."""
    runs = [quiet(20_000, seed) * (3 if seed == 2 else 1) for seed in range(4)]
    found = verdict(made_evidence(DEADLINE_NS, *runs), Question(DEADLINE_NS))
    assert found.needed_s == pytest.approx(15 * 20)
    longer = verdict(made_evidence(DEADLINE_NS, *runs), Question(DEADLINE_NS, horizon_s=30))
    assert longer.needed_s == pytest.approx(34 * 20)


def test_no_time_bounds_the_next_stretch_where_a_release_was_never_served() -> None:
    """The largest of those that were served says nothing of it."""
    for virtual, outcome in ((False, ["FAIL"]), (True, [])):
        evidence = made_evidence(DEADLINE_NS, quiet(2_000), quiet(2_000, 1), virtual=virtual, boots=2)
        never = replace(evidence, deadline=DeadlineSummary(DEADLINE_NS, 4_000, 0, 3, 1))
        (told,) = horizon_line(verdict(never, Question(DEADLINE_NS)))
        assert [part for part in told.values["clauses"] if isinstance(part, str)] == outcome
        assert parts(told)["extrapolation.unserved"] == {"count": 3}
        assert "verdict.nothing-later" not in parts(told)


def test_releases_without_an_activation_are_not_counted_where_they_are_not_known() -> None:
    evidence = made_evidence(DEADLINE_NS, quiet(2_000), known=Knowledge(missed_releases=False))
    told = told_of(verdict(evidence, Question(DEADLINE_NS)))
    assert "verdict.fact-late" in told and "verdict.fact-count" not in told
    assert (told["verdict.missed"]["misses"], told["verdict.missed"]["releases"]) == (0, 2_000)


def test_a_few_samples_bound_no_next_stretch() -> None:
    """One, and five: no trend among them could have been seen. More of them may decide it."""
    for n in (1, 5):
        found = verdict(made_evidence(DEADLINE_NS, quiet(n)), Question(DEADLINE_NS))
        assert found.outcome is INCONCLUSIVE and not found.stretch.bound
        assert told_of(found).keys() >= {"verdict.too-short", "verdict.more-may-help"}


def test_all_samples_miss() -> None:
    """They are one cluster, and tell as much as one sample."""
    late = made_evidence(DEADLINE_NS, quiet() * 1_000)
    assert verdict(late, Question(DEADLINE_NS)).outcome is FAIL
    found = verdict(late, Question(DEADLINE_NS, miss_rate=0.01))
    assert found.outcome is FAIL and found.rate.lower == pytest.approx(0.05, rel=0.01)
    assert found.rate.upper in (None, 1.0)


def test_where_clusters_are_not_known_all_misses_are_one() -> None:
    """30 of 100,000 in an imported histogram may be one stall: that shows no rate above 0.05 * 30 / 100,000."""
    values = quiet()
    values[::3_334] = 300_000
    evidence = made_evidence(DEADLINE_NS, values)
    known = verdict(evidence, Question(DEADLINE_NS, miss_rate=1e-4))
    assert known.outcome is FAIL and known.rate.lower > 1e-4
    unordered = replace(evidence, known=Knowledge(time_order=False), tails=(None,))
    found = verdict(unordered, Question(DEADLINE_NS, miss_rate=1e-4))
    assert found.outcome is INCONCLUSIVE
    assert found.rate.lower == pytest.approx(0.05 * 30 / 100_000, rel=0.03)
    assert verdict(unordered, Question(DEADLINE_NS, miss_rate=1e-5)).outcome is FAIL


def test_boots_are_the_blocks_where_there_are_enough() -> None:
    runs = [quiet(2_000, seed) for seed in range(19)]
    found = verdict(made_evidence(DEADLINE_NS, *runs, boots=19), Question(DEADLINE_NS, horizon_s=2))
    assert (found.outcome, found.stretch.blocks, found.stretch.confidence) == (PASS, "boots", 0.95)
    same_boot = verdict(made_evidence(DEADLINE_NS, *runs), Question(DEADLINE_NS, horizon_s=2))
    assert same_boot.stretch.blocks == "time"
    assert "same boot" in text(same_boot.evidence, same_boot.question)


def test_an_invalid_cell_has_no_verdict_and_says_why() -> None:
    evidence = made_evidence(DEADLINE_NS, quiet(), failed_checks=(DROPPED(count=3),))
    found = verdict(evidence, Question(DEADLINE_NS))
    assert found.outcome is INCONCLUSIVE
    said = text(evidence, found.question)
    assert "3 samples dropped" in said and "confidence" not in said


def test_a_row_without_a_valid_cell_shows_no_counts() -> None:
    nothing = Evidence(DeadlineSummary(), 0.0, None, "none", (DROPPED(count=3),))
    found = [verdict(e, Question(DEADLINE_NS)) for e in (nothing, made_evidence(DEADLINE_NS, quiet()))]
    counts = [
        [c.text for c in col.cells] for col in sheet(found).columns if col.key in ("misses", "releases")
    ]
    assert counts == [["–", "0"], ["–", "100\u202f000"]]


@pytest.mark.parametrize(("share", "outcome"), [(0.0099, PASS), (0.0101, INCONCLUSIVE)])
def test_a_percent_of_steal_leaves_no_verdict(share: float, outcome: Ruling) -> None:
    found = verdict(made_evidence(DEADLINE_NS, quiet(), steal=share), Question(DEADLINE_NS))
    assert found.outcome is outcome
    assert "hypervisor" in text(found.evidence, found.question)


@pytest.mark.parametrize(
    ("known", "rule_id", "stretch"),
    [
        (Knowledge(time_order=False), "verdict.no-order", INCONCLUSIVE),
        (Knowledge(missed_releases=False), "verdict.no-missed", PASS),
        (Knowledge(overflow=None, exact_max=False), "verdict.no-max", INCONCLUSIVE),
        (
            Knowledge(overflow=3, overflow_from_ns=DEADLINE_NS, exact_max=False),
            "verdict.no-max",
            INCONCLUSIVE,
        ),
    ],
)
def test_what_a_file_cannot_know_is_not_claimed(known: Knowledge, rule_id: str, stretch: Ruling) -> None:
    evidence = made_evidence(DEADLINE_NS, quiet(), known=known)
    found = verdict(evidence, Question(DEADLINE_NS, miss_rate=1e-3, horizon_s=1))
    assert found.rate.upper is None and rule_id in {told.rule for told in found.rate.forbids}
    assert (found.outcome, found.stretch.outcome) == (INCONCLUSIVE, stretch)


def test_what_is_not_known_does_not_make_a_measurement_invalid() -> None:
    evidence = made_evidence(DEADLINE_NS, quiet(), known=Knowledge(time_order=False))
    assert sentence(verdict(evidence, Question(DEADLINE_NS))).rule == "verdict.inconclusive"


def test_a_rounded_value_at_the_deadline_may_have_missed_it() -> None:
    """cyclictest's 200 us are up to 201: no PASS at 200, one at 201, and what bounds the next stretch is 201."""
    values = quiet() // 1_000 * 1_000
    values[500] = 200_000
    known = Knowledge(resolution_ns=1_000)
    edge = verdict(made_evidence(DEADLINE_NS, values, known=known), Question(DEADLINE_NS))
    assert edge.outcome is INCONCLUSIVE
    assert {told.rule for told in edge.stretch.forbids} == {"verdict.coarse"}
    passed = verdict(made_evidence(201_000, values, known=known), Question(201_000))
    assert passed.outcome is PASS
    assert verdict_json(passed)["stretch"]["bound_ns"] == 200_999


def test_a_largest_value_that_is_known_bounds_what_overflowed() -> None:
    """cyclictest keeps its maximum apart from its histogram."""
    known = Knowledge(overflow=3, overflow_from_ns=10_000)
    assert verdict(made_evidence(DEADLINE_NS, quiet(), known=known), Question(DEADLINE_NS)).outcome is PASS


def test_of_an_unknown_time_no_next_stretch_is_bounded() -> None:
    evidence = made_evidence(DEADLINE_NS, quiet(), seconds=0.0)
    found = verdict(evidence, Question(DEADLINE_NS))
    assert found.outcome is INCONCLUSIVE
    assert "verdict.no-time" in parts(*horizon_line(found))
    assert " 0 s" not in text(evidence, found.question)


def test_virtual_time_is_exact_for_its_seeds() -> None:
    """Eight seeds bound the next one with 8 / 9, and 19 are needed for 95 %."""
    runs = [quiet(2_000, seed) for seed in range(8)]
    evidence = made_evidence(DEADLINE_NS, *runs, virtual=True, boots=8)
    found = verdict(evidence, Question(DEADLINE_NS))
    assert (found.outcome, found.stretch.outcome) == (PASS, None)
    assert parts(sentence(found))["verdict.exact"] == {"seeds": 8}
    assert "confidence" not in english(sentence(found))
    assert told_of(found)["verdict.nothing-later"]["confidence"] == pytest.approx(8 / 9)
    asked = verdict(evidence, Question(DEADLINE_NS, horizon_s=2))
    assert asked.outcome is INCONCLUSIVE and asked.needed_s == pytest.approx(22)
    runs[3][7] = 300_000
    missed = verdict(made_evidence(DEADLINE_NS, *runs, virtual=True), Question(DEADLINE_NS))
    counts = parts(sentence(missed))["verdict.missed"]
    assert (missed.outcome, counts["misses"], counts["releases"]) == (FAIL, 1, 16_000)
    tolerated = verdict(
        made_evidence(DEADLINE_NS, *runs, virtual=True), Question(DEADLINE_NS, miss_rate=1e-3)
    )
    assert tolerated.outcome is PASS and tolerated.rate.upper == 1 / 16_000


def test_below_the_labs_resolution_only_what_is_later_than_it_decides() -> None:
    """In a guest of several CPUs turns can make or hide a miss of a shorter deadline."""
    runs = [quiet(2_000, seed) for seed in range(8)]
    below = made_evidence(DEADLINE_NS, *runs, virtual=True, lab_resolution_ns=2 * DEADLINE_NS)
    found = verdict(below, Question(DEADLINE_NS))
    assert found.outcome is INCONCLUSIVE and found.needed_s is None
    assert told_of(found)["verdict.below-resolution"] == {"least_ns": 2 * DEADLINE_NS}
    assert "verdict.no-time-helps" in told_of(found)
    fine = made_evidence(DEADLINE_NS, *runs, virtual=True, lab_resolution_ns=DEADLINE_NS)
    assert verdict(fine, Question(DEADLINE_NS)).outcome is PASS
    runs[3][7] = 3 * DEADLINE_NS
    missed = made_evidence(DEADLINE_NS, *runs, virtual=True, lab_resolution_ns=2 * DEADLINE_NS)
    assert verdict(missed, Question(DEADLINE_NS)).outcome is FAIL
    assert verdict(missed, Question(DEADLINE_NS, miss_rate=1e-3)).outcome is INCONCLUSIVE


def test_several_rows_fail_by_their_worst() -> None:
    kept = verdict(made_evidence(DEADLINE_NS, quiet(), name="none"), Question(DEADLINE_NS))
    late = made_evidence(DEADLINE_NS, quiet() * 100, name="disk")
    missed = verdict(late, Question(DEADLINE_NS))
    assert parts(*run_sentence([kept, kept])) == {
        "verdict.run-pass": {"rows": 2, "deadlines": ("200 µs",)},
        "verdict.run-each": {"confidence": 0.95, "rows": 2, "all": pytest.approx(0.9)},
    }
    failed = {"rows": 2, "count": 1, "names": ("disk",), "deadlines": ("200 µs",)}
    assert parts(*run_sentence([kept, missed])) == {"verdict.run-fail": failed}


def test_every_bound_has_its_confidence_and_what_it_assumes() -> None:
    found = verdict(made_evidence(DEADLINE_NS, quiet()), Question(DEADLINE_NS, miss_rate=1e-3))
    for told in statements(found):
        if "at most" in english(told).lower():
            assert "95 % confidence" in english(told)
    rules = {told.rule for told in statements(found)}
    assert {"verdict.assumes-like", "verdict.assumes-unseen", "verdict.fact-count"} <= rules
    assert json.loads(json.dumps(verdict_json(found)))["outcome"] == "PASS"


ASSUMES = {"verdict.assumes-like", "verdict.assumes-unseen", "verdict.assumes-inputs"}
BOUNDS = {
    *("verdict.at-most", "verdict.at-least", "verdict.next", "verdict.exactly", "verdict.nothing-later"),
    "verdict.fact-quantile",
}


@pytest.mark.parametrize(
    "asked", [Question(DEADLINE_NS), Question(DEADLINE_NS, 1e-3), Question(DEADLINE_NS, 1e-3, 0)]
)
def test_what_is_assumed_is_said_where_a_bound_is_and_nowhere_else(asked: Question) -> None:
    values = quiet(20_000)
    late = values.copy()
    late[500] = 300_000
    unordered = Knowledge(time_order=False)
    made = [
        *(made_evidence(DEADLINE_NS, values), made_evidence(DEADLINE_NS, late)),
        *(made_evidence(DEADLINE_NS, each, known=unordered, tails=(None,)) for each in (values, late)),
        made_evidence(DEADLINE_NS, np.arange(20_000)),
        made_evidence(DEADLINE_NS, values[:30]),
        made_evidence(DEADLINE_NS, late, deadline=DeadlineSummary(DEADLINE_NS, 20_000, 1, 3)),
        made_evidence(DEADLINE_NS, values, failed_checks=(DROPPED(count=1),)),
        *(made_evidence(DEADLINE_NS, each, virtual=True) for each in (values, late)),
        made_evidence(DEADLINE_NS, values, virtual=True, lab_resolution_ns=10**6),
    ]
    for evidence in made:
        found = verdict(evidence, asked)
        rules = told_of(found).keys()
        is_stated = bool(rules & BOUNDS) or found.rate.upper is not None  # in the table and the JSON
        assert bool(rules & ASSUMES) == is_stated, rules
