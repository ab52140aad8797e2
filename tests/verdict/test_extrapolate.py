"""Extrapolation: what it says of a tail that it may be asked about, and each guard that refuses it, by its name."""

from typing import Any

import numpy as np
import pytest

from howlate.model.knowledge import Knowledge
from howlate.model.summary import DeadlineSummary
from howlate.statistics.describe import Int64s
from howlate.statistics.peaks import MOST_PEAKS, Peaks
from howlate.statistics.valid import DROPPED
from howlate.verdict.extrapolate import Extrapolation
from howlate.verdict.row_statements import statements
from howlate.verdict.ruling import Question, Verdict
from howlate.verdict.verdict import verdict, with_extrapolation
from howlate.verdict.verdict_json import verdict_json
from howlate.words.say import english
from made_evidence import made_evidence, made_peaks
from made_series import AUTOCORRELATED, INDEPENDENT, drifting
from statement_parts import parts

DEADLINE_NS = 200_000
NO_MISS = Question(DEADLINE_NS)


def judged(*runs: Int64s, asked: Question = NO_MISS, **changes: Any) -> Verdict:
    evidence = made_evidence(DEADLINE_NS, *runs, **changes)
    ordered = evidence.known.time_order
    return with_extrapolation(verdict(evidence, asked), made_peaks(*runs, ordered=ordered))


def model(found: Verdict) -> Extrapolation:
    assert found.extrapolation is not None
    return found.extrapolation


def refused(*runs: Int64s, **changes: Any) -> set[str]:
    return {
        statement.rule.removeprefix("extrapolation.") for statement in model(judged(*runs, **changes)).refused
    }


def exponential(n: int = 100_000, seed: int = 1) -> Int64s:
    """A tail of the model's family, with shape 0 and a scale of 2 us."""
    samples: Int64s = (3_000 + 2_000 * np.random.default_rng(seed).exponential(size=n)).astype(np.int64)
    return samples


def test_an_exponential_tail_is_extrapolated_tenfold() -> None:
    """One in a million of these is later than 3 us + 2 us ln(1e6) = 30.6 us; 100,000 samples show 26."""
    found = judged(exponential())
    said = model(found)
    assert said.refused == () and said.share == pytest.approx(1e-6)
    assert said.level_ns == pytest.approx(30_631, rel=0.15)
    assert said.level_ns < said.upper_ns < 60_000
    told = parts(*statements(found))
    assert told["extrapolation.stated"]["times"] == 1_000_000
    assert told["extrapolation.stated"]["confidence"] == 0.95


def test_it_changes_no_verdict() -> None:
    """Not even where the model's level is beyond the deadline, or the question is open."""
    for asked in (Question(28_000), Question(DEADLINE_NS, horizon_s=60), Question(DEADLINE_NS, 2e-6)):
        evidence = made_evidence(asked.deadline_ns, exponential())
        before = verdict(evidence, asked)
        after = with_extrapolation(before, made_peaks(exponential()))
        assert (after.outcome, after.rate, after.stretch) == (before.outcome, before.rate, before.stretch)
        assert model(after).refused == ()


def test_no_sentence_has_both_a_bound_and_a_models_answer() -> None:
    found = judged(exponential(), asked=Question(DEADLINE_NS, 1e-4))
    for told in statements(found):
        text = english(told)
        if "model" in text:
            assert "at most" not in text and "bound" not in text and "nothing is later" not in text


def test_a_tolerated_rate_beyond_the_data_is_what_is_extrapolated() -> None:
    assert model(judged(exponential(), asked=Question(DEADLINE_NS, 2e-6))).share == 2e-6
    assert model(judged(exponential(), asked=Question(DEADLINE_NS, 1e-3))).share == pytest.approx(1e-6)


def test_it_reaches_ten_times_beyond_the_data() -> None:
    assert "too-far" in refused(exponential(), asked=Question(DEADLINE_NS, 9e-7))
    assert "too-far" in refused(exponential(), asked=Question(DEADLINE_NS, horizon_s=1_001))
    assert "too-far" not in refused(exponential(), asked=Question(DEADLINE_NS, horizon_s=999))


def test_virtual_time_is_no_random_sample() -> None:
    assert refused(exponential(20_000), exponential(20_000, 2), virtual=True) == {"virtual"}


def test_an_invalid_measurement_is_not_extrapolated() -> None:
    found = judged(exponential(), failed_checks=(DROPPED(count=1),))
    assert {told.rule for told in model(found).refused} == {"extrapolation.no-verdict"}
    assert statements(found)[-1].rule == "extrapolation.refused"


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"known": Knowledge(time_order=False)}, "verdict.no-order"),
        ({"known": Knowledge(missed_releases=False)}, "verdict.no-missed"),
        ({"known": Knowledge(overflow=None, exact_max=False)}, "verdict.no-max"),
        ({"trials": False}, "verdict.no-trials"),
        ({"tails": (None,)}, "verdict.not-looked"),
        ({"deadline": DeadlineSummary(DEADLINE_NS, 100_000, 0, 3, 1)}, "unserved"),
    ],
)
def test_what_is_not_known_is_not_extrapolated(changes: dict[str, Any], name: str) -> None:
    assert name in refused(exponential(), **changes)


def test_too_few_samples() -> None:
    assert refused(exponential(19_000)) == {"too-few"}


def test_a_drift_and_runs_that_differ() -> None:
    drift = refused(drifting(np.random.default_rng(1), 100_000, 3.0))
    assert "verdict.rising" in drift
    assert "verdict.runs-differ" in refused(exponential(50_000), exponential(50_000, 2) * 2)


def test_clusters_leave_too_few_peaks_and_more_samples_do_not_hide_them() -> None:
    """The largest of the last five come in fives."""
    clusters = AUTOCORRELATED["clusters of 5 (moving maximum)"]
    assert "too-few" in refused(clusters.samples(np.random.default_rng(2), 20_000))
    said = model(judged(clusters.samples(np.random.default_rng(2), 200_000)))
    assert said.refused or said.peaks < 2_500


def test_peaks_that_resemble_the_ones_before() -> None:
    """The scale of the tail goes up and down every 4,000 samples, too fast for a trend."""
    random = np.random.default_rng(3)
    scale = 2_000 * (1.6 + np.sin(np.arange(100_000) / 4_000 * 2 * np.pi))
    assert "alike" in refused((3_000 + scale * random.exponential(size=100_000)).astype(np.int64))


def test_a_second_mode_is_seen_however_few_it_has() -> None:
    """30 ms in one, ten and a thousand of 100,000."""
    for outliers in (1, 10, 1_000):
        values = exponential()
        values[np.random.default_rng(4).choice(len(values), outliers, replace=False)] = 30_000_000
        assert "second-mode" in refused(values), outliers


def test_a_second_mode_that_touches_the_first_is_not_of_the_models_shape() -> None:
    random = np.random.default_rng(5)
    values = exponential()
    late = random.choice(len(values), 1_500, replace=False)
    values[late] = (18_000 + random.normal(0, 1_000, 1_500)).astype(np.int64)
    assert {"not-pareto", "unstable"} & refused(values)


def test_a_heavy_tail_and_one_that_ends() -> None:
    random = np.random.default_rng(6)
    assert "shape" in refused((4_000 * random.random(100_000) ** -1.0).astype(np.int64))
    assert "shape" in refused(INDEPENDENT["bounded (uniform)"].samples(random, 100_000))


def test_microseconds_are_too_coarse() -> None:
    """And what lies between them is no gap between modes."""
    body = np.random.default_rng(1).lognormal(np.log(8_000), 0.12, 100_000).astype(np.int64)
    for samples in (exponential(), exponential(seed=2), body):
        found = refused(samples // 1_000 * 1_000)
        assert "too-coarse" in found and "second-mode" not in found
    assert "too-coarse" not in refused(exponential() // 50 * 50)


def test_a_model_that_fails_inside_the_data() -> None:
    """In one tenth all peaks are small: what is fitted there does not hold for the others."""
    values = exponential()
    calm = slice(40_000, 50_000)
    values[calm] = np.minimum(values[calm], 9_000 + values[calm] % 500)
    assert {"back-test", "too-few"} & refused(values)


def of_counts(values_us: Int64s, counts: Int64s) -> tuple[Verdict, set[str]]:
    """A histogram of microseconds, as an importer gives it: without an order."""
    largest = np.repeat(values_us[::-1], np.minimum(counts[::-1], MOST_PEAKS))[:MOST_PEAKS] * 1_000
    total = int(counts.sum())
    known = Knowledge(time_order=False, missed_releases=False, resolution_ns=1_000)
    evidence = made_evidence(DEADLINE_NS, largest, known=known, samples=(total,), tails=(None,))
    found = with_extrapolation(verdict(evidence, Question(DEADLINE_NS)), Peaks(largest, None, 0, total))
    return found, {told.rule for told in model(found).refused}


def test_a_histogram_of_four_modes_is_refused_for_what_it_does_not_know_and_for_what_it_shows() -> None:
    """486 million samples in bins of 1 us, with modes at 17, 21, 32 and 56 us, like those that are published."""
    us = np.arange(200)
    modes = ((3e8, 17, 0.13), (1.5e8, 21, 0.11), (3.5e7, 32, 0.13), (2e5, 56, 0.1))
    logs = np.log(np.maximum(us, 1))
    density = np.zeros(len(us))
    for n, at, width in modes:
        density += n / (us + 1) / width / 2.5 * np.exp(-0.5 * ((logs - np.log(at)) / width) ** 2)
    counts = density.astype(np.int64)
    seen = counts > 0
    found, rules = of_counts(us[seen].astype(np.int64), counts[seen])
    assert {"verdict.no-order", "verdict.no-missed", "extrapolation.too-coarse"} <= rules
    assert found.outcome == "INCONCLUSIVE"


def test_programs_get_the_same() -> None:
    stated = verdict_json(judged(exponential()))["extrapolation"]
    assert stated["refused_by"] == [] and stated["level_ns"] < stated["upper_ns"]
    few = verdict_json(judged(exponential(1_000)))["extrapolation"]
    assert few["refused_by"][0]["rule"] == "extrapolation.too-few"
    assert verdict_json(verdict(made_evidence(1, exponential(1_000)), Question(1)))["extrapolation"] is None
