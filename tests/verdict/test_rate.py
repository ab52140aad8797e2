"""The rate of misses: clusters of them, bursts, events an hour, and several CPUs."""

import re

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from howlate.model.summary import DeadlineSummary, OfCpu
from howlate.model.tail import BLOCKS
from howlate.statistics.bounds import rate_upper
from howlate.statistics.deadline import together
from howlate.statistics.describe import Int64s
from howlate.statistics.tail import clusters_of_misses, with_clusters
from howlate.statistics.valid import DROPPED
from howlate.verdict.evidence import Evidence
from howlate.verdict.forbids import bursts_of_misses
from howlate.verdict.on_screen import promised
from howlate.verdict.promise_bounds import assumptions, events_line
from howlate.verdict.promise_sentence import sentence
from howlate.verdict.row_statements import statements
from howlate.verdict.ruling import Question, Ruling
from howlate.verdict.verdict import verdict
from howlate.words.say import english, english_text
from made_evidence import made_evidence, quiet
from made_misses import DEADLINE_NS as LATE_NS
from made_misses import PROCESSES, Round, calm_and_busy, evidence_of, misses_of
from made_misses import of_cpus as round_of_cpus
from statement_parts import parts

DEADLINE_NS = 200_000
PASS, FAIL, INCONCLUSIVE = Ruling


QUIET = verdict(made_evidence(DEADLINE_NS, quiet()), Question(DEADLINE_NS, miss_rate=1e-3))


@given(st.floats(1e-6, 1e7))
def test_no_bound_on_a_rate_is_printed_below_itself(per_h: float) -> None:
    """Nor a quarter above it."""
    bounded = replace(QUIET, rate=replace(QUIET.rate, events_per_h=per_h))
    seconds = 3 * 3600 / per_h
    unseen = replace(QUIET, evidence=replace(QUIET.evidence, seconds=seconds))
    told = [
        *map(english, events_line(bounded)),
        *map(english_text, promised([bounded, bounded])),
        *map(english, assumptions(unseen)),
    ]
    stated = re.findall(
        r"(?:fewer than|more than|comes up to) (\S+) (?:late events |times )?an hour", " ".join(told)
    )
    for text, bound in zip(stated, (per_h, per_h, 3 * 3600 / seconds), strict=True):
        assert bound <= float(text.replace(",", "")) <= 1.25 * bound, told


def stalled(size: int, count: int = 1) -> Evidence:
    """100,000 releases with so many stalls of so many releases each."""
    misses = size * count
    counts = DeadlineSummary(
        DEADLINE_NS, 100_000, count, misses - count, count, squares=count * size**2, largest=size
    )
    values = quiet()
    values[500 :: 100_000 // count] = 30_000_000
    return made_evidence(DEADLINE_NS, values, deadline=counts)


def test_one_stall_counts_as_one_cluster_of_misses() -> None:
    """Thirty releases of one stall tell no more than one event: both bounds are those of a single miss in n / 30, the
    upper one with another that was not seen."""
    found = verdict(stalled(30), Question(DEADLINE_NS, miss_rate=1e-6))
    assert found.rate.theta == pytest.approx(1 / 30)
    assert found.rate.upper == pytest.approx(rate_upper(2, 100_000 / 30, 0.95))
    assert found.rate.lower == pytest.approx(0.05 * 30 / 100_000, rel=0.03)
    assert (found.outcome, found.rate.events) == (FAIL, 1)


def test_clusters_of_unlike_size_are_reckoned_with_a_larger_one() -> None:
    """Nine single misses and a stall of 91: one of 546 more might have come."""
    evidence = stalled(10, 10)
    unlike = replace(evidence.deadline, squares=9 + 91**2, largest=91)
    found = [
        verdict(replace(evidence, deadline=counts), Question(DEADLINE_NS, miss_rate=1e-6)).rate
        for counts in (evidence.deadline, unlike)
    ]
    part = (100 + 546) / (9 + 91**2 + 546**2)
    assert found[0].upper == pytest.approx(rate_upper(20, 10_000, 0.95))
    assert found[1].upper == pytest.approx(rate_upper(2 * part * 100, part * 100_000, 0.95))


def test_the_time_to_go_does_not_grow_with_the_time_measured() -> None:
    """Misses in fours at two thirds of what is tolerated: each measurement is nearer to its end than a shorter
    one."""
    open_s = []
    for longer in (1, 2, 8, 40):
        evidence = stalled(4, 20)
        counts = DeadlineSummary(
            *(DEADLINE_NS, 50_000 * longer, 4 * longer, 12 * longer, 4 * longer),
            squares=64 * longer,
            largest=4,
        )
        evidence = replace(evidence, deadline=counts, seconds=50.0 * longer)
        found = verdict(evidence, Question(DEADLINE_NS, miss_rate=1.5 * 16 / 50_000))
        open_s.append(0.0 if found.rate.outcome is PASS else found.needed_s or 1e9)
    assert 1e9 > open_s[0] > open_s[1] > open_s[2] > open_s[3] == 0


UNSEEN = {
    "three seconds in two minutes": (calm_and_busy(121, 3.4, 40), 7e-4),
    "the same, in threes": (calm_and_busy(121, 3.4, 40, 3), 2.1e-3),
    "twenty seconds, two and a half times": (calm_and_busy(121, 20, 2.6), 2.4e-3),
    "twenty seconds, four times, in pairs": (calm_and_busy(100, 20, 4), 6e-3),
    "longer busy than calm": (calm_and_busy(100, 150, 1.5, 2), 5e-3),
    "nearly as long busy as calm": (calm_and_busy(150, 100, 1.8), 2.6e-3),
    "a minute, one and a half times": (calm_and_busy(150, 60, 1.7), 2e-3),
    "a second, sixty times": (calm_and_busy(90, 1.5, 60), 1e-3),
}
"""Turns of which a run of 300 s may have seen none, and the rate over all of them."""


@pytest.mark.parametrize("name", UNSEEN)
def test_a_turn_that_was_not_seen_makes_no_false_pass(name: str) -> None:
    """At the true rate, in 150 runs of 300 s: 13 are within chance of 5 %."""
    random, n, passed = np.random.default_rng(7), 300_000, 0
    process, rate = UNSEEN[name]
    for _ in range(150):
        measured = Round.of(random, misses_of(process, random, n, rate), n)
        passed += verdict(evidence_of([measured]), Question(LATE_NS, rate)).outcome is PASS
    assert passed <= 13


def test_a_turn_that_was_not_seen_matters_less_the_longer_the_run() -> None:
    """Both bounds converge to the rate: 100 misses in 100,000 releases, as often in 10 and 1,000 times the time."""
    known = []
    for longer in (1, 10, 1_000):
        counts = DeadlineSummary(
            *(DEADLINE_NS, 100_000 * longer, 100 * longer, 0, 100 * longer), squares=100 * longer, largest=1
        )
        evidence = made_evidence(DEADLINE_NS, quiet(), deadline=counts, seconds=100.0 * longer)
        known.append(verdict(evidence, Question(DEADLINE_NS, miss_rate=1e-3)).rate)
    uppers, lowers = zip(*[((of.upper or 0.0) / 1e-3, of.lower / 1e-3) for of in known], strict=True)
    assert uppers[0] > 2 > uppers[1] > uppers[2] and uppers[2] == pytest.approx(1, abs=0.05)
    assert lowers[0] < 0.5 < lowers[1] < lowers[2] and lowers[2] == pytest.approx(1, abs=0.05)


def test_misses_that_come_in_bursts_forbid_the_rate_though_the_tail_does_not() -> None:
    """Forty misses in four groups of ten within a second each: the p99.9 has a hundred other samples."""
    values = quiet()
    for start in (11_000, 42_000, 57_000, 83_000):
        values[start : start + 1_000 : 100] = 300_000
    found = verdict(made_evidence(DEADLINE_NS, values), Question(DEADLINE_NS, miss_rate=1e-3))
    (why,) = found.rate.forbids
    assert (why.rule, why.values["misses"], why.values["hit"]) == ("verdict.miss-bursts", 40, 4)
    assert (found.rate.outcome, found.rate.events_per_h) == (INCONCLUSIVE, None)
    spread = quiet()
    spread[1_000::2_500] = 300_000
    assert verdict(made_evidence(DEADLINE_NS, spread), Question(DEADLINE_NS, miss_rate=1e-3)).outcome is PASS


@pytest.mark.parametrize("misses", [0, 3])
def test_late_events_an_hour(misses: int) -> None:
    """Three in 100 s, and three more that were not seen: at most 11.84, that is 426 an hour; none: 2.996, that is 108
    (Garwood)."""
    values = quiet()
    values[[20_000, 50_000, 80_000][:misses]] = 300_000
    found = verdict(made_evidence(DEADLINE_NS, values), Question(DEADLINE_NS, miss_rate=1e-3))
    expected = scipy.stats.chi2.ppf(0.95, 2 * 2 * misses + 2) / 2 * 36
    assert found.rate.events_per_h == pytest.approx(expected) and found.rate.events == misses
    assert "verdict.events" in {told.rule for told in statements(found)}


def singly(misses: int) -> tuple[int | None, int | None, int | None]:
    """Clusters, squares of their sizes, largest of them."""
    return (misses, misses, 1) if misses else (None, None, None)


def of_cpus(*misses: int, each: int = 25_000, **changes: object) -> Evidence:
    """CPUs with so many misses, far apart, among so many releases."""
    by_cpu = {str(cpu): OfCpu(each, late, 0, *singly(late)) for cpu, late in enumerate(misses)}
    total = sum(misses)
    clusters, squares, largest = singly(total)
    counts = DeadlineSummary(
        *(DEADLINE_NS, each * len(misses), total, 0, clusters),
        by_cpu=by_cpu,
        squares=squares,
        largest=largest,
    )
    values = quiet(each * len(misses))
    values[:: len(values) // max(1, total)][:total] = 300_000
    max_by_cpu = {str(cpu): 300_000 if late else 9_000 for cpu, late in enumerate(misses)}
    given = {"deadline": counts, "max_by_cpu": max_by_cpu, **changes}
    return made_evidence(DEADLINE_NS, values, **given)


def several_cpus(*rounds: list[Int64s]) -> Evidence:
    """CPUs with these misses in each of their rounds of 100,000 releases."""
    n, random = 100_000, np.random.default_rng(1)
    made = [[Round.of(random, misses, n) for misses in cpu] for cpu in rounds]
    counts = []
    for at in range(len(made[0])):
        of_cpus = {
            str(cpu): OfCpu(
                *(c.releases, c.late, 0, c.clusters, c.squares, c.largest, c.by_stretch),
            )
            for cpu, own in enumerate(made)
            for c in [own[at].counts]
        }
        every = together([own[at].counts for own in made])
        assert every is not None
        by_stretch = tuple(
            sum(own) for own in zip(*(c.by_stretch or (0,) * BLOCKS for c in of_cpus.values()), strict=True)
        )
        counts.append(replace(every, by_cpu=of_cpus, by_stretch=by_stretch))
    of_all = together(counts)
    assert of_all is not None
    return replace(evidence_of(made[0]), deadline=of_all, rounds=tuple(counts), max_ns=2 * LATE_NS)


def test_bursts_of_one_cpu_do_not_hide_behind_the_others() -> None:
    """Three bursts of ten on one of eight CPUs, thirty single misses on each of the others."""
    random = np.random.default_rng(3)
    bursts = np.concatenate([start + np.arange(10) * 60 for start in (11_000, 42_000, 83_000)])
    others = [[np.sort(random.choice(100_000, 30, replace=False))] for _ in range(7)]
    found = verdict(several_cpus([bursts], *others), Question(LATE_NS, 1e-3))
    assert "verdict.miss-bursts" in {told.rule for told in found.rate.forbids}
    spread = np.linspace(1_000, 99_000, 30).astype(np.int64)
    alike = verdict(several_cpus([spread], *others), Question(LATE_NS, 1e-3))
    assert alike.rate.upper is not None


@pytest.mark.parametrize("misses", [0, 300])
def test_until_decided_takes_all_misses_for_one_cpus_where_nobody_kept_them_apart(misses: int) -> None:
    late = np.linspace(1_000, 99_000, misses).astype(np.int64)
    evidence = replace(several_cpus([late], [late], [late], [late]), until_decided=True)
    pooled = replace(
        evidence,
        deadline=replace(evidence.deadline, by_cpu={}),
        rounds=tuple(replace(of, by_cpu={}) for of in evidence.rounds),
        max_by_cpu={str(cpu): 1 for cpu in range(4)},
    )
    apart, together_ = (verdict(each, Question(LATE_NS, 1e-2)).rate.upper for each in (evidence, pooled))
    assert apart is not None and together_ is not None and together_ >= apart * (1 - 1e-9)


def test_what_was_seen_together_contradicts_what_is_stated() -> None:
    """Stalls of 15: the bets reckon with 15 together, whatever is stated."""
    stalls_ = np.concatenate([start + np.arange(15) for start in (11_000, 42_000)])
    evidence = replace(
        evidence_of([Round.of(np.random.default_rng(1), stalls_, 100_000)]), until_decided=True
    )
    found = [verdict(evidence, Question(LATE_NS, 1e-2, cluster=cluster)).rate for cluster in (1.0, 15.0)]
    assert found[0].upper == found[1].upper and [rate.cluster for rate in found] == [15, 15]


def test_a_release_that_was_never_served_leaves_the_rate_stated() -> None:
    """One late answer and one unserved release are two clusters, of which one has no place."""
    late = Round.of(np.random.default_rng(1), np.array([50_000]), 100_000)
    counts = with_clusters(
        DeadlineSummary(LATE_NS, 100_001, 1, 1),
        [clusters_of_misses(np.array([50_000]), np.array([1]), 100_000, None)],
        100_000,
    )
    found = verdict(evidence_of([replace(late, counts=counts)]), Question(LATE_NS, 1e-2))
    assert (found.outcome, found.rate.events, found.rate.forbids) == (PASS, 2, ())


def test_an_invalid_run_that_was_looked_at_fails_as_any_other() -> None:
    evidence = evidence_of([Round.of(np.random.default_rng(1), np.arange(0, 100_000, 20), 100_000)])
    invalid = replace(evidence, failed_checks=(DROPPED(count=1),), seen=evidence.deadline, rounds=())
    outcomes = [
        verdict(replace(invalid, until_decided=looked), Question(LATE_NS, 1e-3)).outcome
        for looked in (False, True)
    ]
    assert outcomes == [FAIL, FAIL]


@pytest.mark.parametrize("worst", range(4))
def test_the_worst_cpu_decides_a_tolerated_rate(worst: int) -> None:
    """Pooled, 30 of 100,000 would pass; of the CPU's own 25,000 they are more than tolerated."""
    late = [30 if cpu == worst else 0 for cpu in range(4)]
    asked = Question(DEADLINE_NS, 7e-4, 0)
    pooled = verdict(of_cpus(30, each=100_000, seconds=1e5), asked)
    found = verdict(of_cpus(*late, seconds=1e5), asked)
    assert (pooled.outcome, found.outcome, found.rate.cpu) == (PASS, FAIL, str(worst))
    told = parts(sentence(found))
    assert (told["verdict.missed"]["misses"], told["verdict.missed"]["releases"]) == (30, 25_000)
    assert told["verdict.part"]["parts"] == (f"CPU {worst}",) and "verdict.at-least" in told
    assert verdict(of_cpus(*late, seconds=1e5), Question(DEADLINE_NS, 1e-2, 0)).outcome is PASS
    steal = verdict(of_cpus(*late, steal=0.5), Question(DEADLINE_NS, 1e-6, 0))
    assert (steal.outcome, steal.rate.cpu) == (FAIL, str(worst))
    exact = verdict(of_cpus(*late, virtual=True), asked)
    assert (exact.outcome, exact.rate.upper) == (FAIL, 30 / 25_000)


@pytest.mark.parametrize("misses", [(0, 0), (3, 0), (3, 3), (0, 1, 0, 9)])
def test_several_cpus_pass_where_each_of_them_passes_alone(misses: tuple[int, ...]) -> None:
    evidence = of_cpus(*misses)
    for rate in (1e-4, 2e-4, 5e-4, 1e-3):
        alone = [verdict(of_cpus(late), Question(DEADLINE_NS, rate, 0)).rate for late in misses]
        together = verdict(evidence, Question(DEADLINE_NS, rate, 0)).rate
        assert together.upper is not None
        assert together.upper >= max(one.upper for one in alone if one.upper is not None) * 0.999
        assert together.outcome is not FAIL or FAIL in [one.outcome for one in alone]


def test_where_cpus_were_not_kept_apart_all_misses_are_those_of_one() -> None:
    evidence = of_cpus(0, 0, 0, 0)
    apart = verdict(evidence, Question(DEADLINE_NS, 1e-3, 0)).rate
    counts = replace(evidence.deadline, by_cpu={})
    together = verdict(replace(evidence, deadline=counts), Question(DEADLINE_NS, 1e-3, 0)).rate
    assert apart.upper == together.upper == pytest.approx(rate_upper(0, apart.theta * 25_000, 0.95))  # type: ignore[operator]


def test_misses_of_a_cpu_that_nobody_clustered_are_one_event() -> None:
    """An older howlate kept each CPU's misses, and not how they lie: five may be one stall of five releases."""
    evidence = of_cpus(5, 0)
    unclustered = {cpu: OfCpu(count.releases, count.late) for cpu, count in evidence.deadline.by_cpu.items()}
    older = replace(evidence, deadline=replace(evidence.deadline, by_cpu=unclustered))
    asked = Question(DEADLINE_NS, 7e-4, 0)
    assert [verdict(each, asked).outcome for each in (evidence, older)] == [PASS, INCONCLUSIVE]


@pytest.mark.parametrize("bad", range(4))
def test_the_worst_of_several_cpus_is_named_however_good_the_others_are(bad: int) -> None:
    """One has five times of what is tolerated, the others a hundredth; all together have less than twice."""
    random, n, rate = np.random.default_rng(bad), 200_000, 2e-4
    rates = [rate * (5 if cpu == bad else 0.01) for cpu in range(4)]
    measured = round_of_cpus(random, [misses_of(PROCESSES["single"], random, n, own) for own in rates], n)
    assert sum(of.misses for of in measured.counts.by_cpu.values()) == measured.counts.misses
    assert sum(measured.counts.by_stretch) == measured.counts.clusters
    found = verdict(evidence_of([measured]), Question(LATE_NS, miss_rate=rate))
    assert (found.outcome, found.rate.cpu) == (FAIL, str(bad))
    assert found.rate.lower > 3 * rate


@pytest.mark.parametrize("cpus", [9, 10, 16, 64])
def test_a_few_misses_in_a_burst_on_one_of_many_cpus_are_seen(cpus: int) -> None:
    """Seven of CPU 0 within a second, a dozen spread on each other CPU; p is multiplied by one more than the CPUs."""
    burst = np.arange(41_000, 42_000, 150)
    random = np.random.default_rng(5)
    others = [[np.sort(random.choice(100_000, 12, replace=False))] for _ in range(1, cpus)]
    (why,) = bursts_of_misses(several_cpus([burst], *others))
    assert (why.rule, why.values["misses"], why.values["hit"]) == ("verdict.miss-bursts", 7, 1)
    assert why.values["p"] < 0.01
    spread = np.linspace(2_000, 97_000, 7).astype(np.int64)
    assert bursts_of_misses(several_cpus([spread], *others)) == []
