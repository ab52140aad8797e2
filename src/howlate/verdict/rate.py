"""The first question of a verdict: of all releases, which share misses the deadline? docs/verdict.md has the rules
with their reasons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from howlate.model.summary import DeadlineSummary, OfCpu
from howlate.statistics.bounds import (
    events_upper,
    lower_is_at_most,
    rate_lower,
    rate_upper,
    upper_is_at_most,
    with_reserve,
)
from howlate.verdict.evidence import Evidence
from howlate.verdict.forbids import (
    COARSE,
    NO_MAX,
    NO_ORDER,
    NOT_LOOKED,
    between_values,
    beyond_range,
    dependent,
    dispersion_of_misses,
    theta_of,
)
from howlate.verdict.ruling import Question, RateVerdict, Ruling
from howlate.verdict.sequential import Rounds, beyond_cap, rate_lower_always, rate_upper_always
from howlate.words.statement import Statement, message

NO_MISSED = message("verdict.no-missed", "it is not known how many releases had no activation")
NOT_COUNTED = message(
    "verdict.not-counted",
    "the file does not have the values of all samples, so more may have missed the deadline",
)
NO_TRIALS = message(
    "verdict.no-trials", "the test waits for events, so there is nothing that a rate could be of"
)
MORE_TOGETHER = message(
    "verdict.more-together",
    "one round had {misses:count} misses, more than groups of {cluster:number} make; --cluster states how many come "
    "together",
)
LONGER = 6
"""Where clusters are of unlike size, the bound is reckoned as if one more had come, this many times as large as the
largest: the largest one of a heavy tail has hardly been seen yet."""
OF_COUNTS = (NO_TRIALS.id, NO_MISSED.id, NOT_COUNTED.id, NO_MAX.id, COARSE.id, NO_ORDER.id)
"""Where it is not known how many missed."""
LONGEST = 1e6
"""No time is named that is more times as long as what was measured."""


class Trials(Struct, frozen=True):
    """The releases that a rate is of: those of one CPU, since a task that misses on its own CPU is not helped by the
    others."""

    cpu: str
    """"" where one alone measured, or nobody says which released how many."""
    counts: OfCpu
    theta: float | None
    """The extremal index of the tail; None where it is not known."""
    rounds: Rounds
    seconds: float
    """How long they were measured; 0 where nobody says it."""
    index: float = 1.0
    """By how much the clusters' counts vary more over time than those of independent ones would on average."""

    @property
    def share(self) -> float:
        return self.counts.misses / self.counts.releases if self.counts.releases else 0.0

    @property
    def squares(self) -> int:
        """The sum of the squares of the clusters' sizes; all misses are one cluster where nobody says it."""
        return self.counts.misses**2 if self.counts.squares is None else self.counts.squares

    def together(self, stated: float) -> float:
        """How many come together at most, as it is stated, or as it was seen."""
        return max(stated, float(self.counts.largest or 1))

    def independent(self, cluster: float = 1.0) -> float | None:
        """Which part of the releases tells as much as independent ones: the sum of the clusters' sizes over that of
        their squares (L. Kish 1965), at most the extremal index of the tail and 1 / `cluster`."""
        if self.theta is None:
            return None
        kish = self.counts.misses / self.squares if self.squares else 1.0
        return min(1.0, self.theta, kish, 1 / cluster) / self.index

    def for_upper(self, cluster: float) -> float | None:
        """The same with one cluster more, LONGER times as large as the largest, where their sizes differ."""
        part, counts = self.independent(cluster), self.counts
        if part is None or not counts.squares or not counts.largest or not counts.clusters:
            return part
        if counts.clusters * counts.squares <= counts.misses**2:
            return part
        more = LONGER * counts.largest
        return min(part, (counts.misses + more) / (counts.squares + more**2) / self.index)


def trials_of(evidence: Evidence) -> list[Trials]:
    """Of each measuring CPU; of all together where one alone measured, or nobody kept them apart."""
    counts = evidence.deadline
    by_cpu = {cpu: count for cpu, count in counts.by_cpu.items() if count.releases}
    if len(by_cpu) < 2 or sum(count.releases for count in by_cpu.values()) != counts.releases:
        return [_trials(evidence, "", _of_all(counts), _of_all)]
    return [_trials(evidence, cpu, count, partial(_of_cpu, cpu)) for cpu, count in by_cpu.items()]


def _trials(evidence: Evidence, cpu: str, counts: OfCpu, of: Callable[[DeadlineSummary], OfCpu]) -> Trials:
    spread = None if evidence.by_rounds else dispersion_of_misses(evidence, cpu)
    index = 1.0 if spread is None else max(1.0, spread.index)
    rounds = [of(each) for each in evidence.rounds]
    pairs = Rounds.of([(count.releases, count.misses) for count in rounds])
    return Trials(cpu, counts, theta_of(evidence, cpu), pairs, evidence.seconds, index)


def _of_cpu(cpu: str, counts: DeadlineSummary) -> OfCpu:
    return counts.by_cpu.get(cpu, OfCpu())


def _of_all(counts: DeadlineSummary) -> OfCpu:
    return OfCpu(
        counts.releases, counts.late, counts.unserved, counts.clusters, counts.squares, counts.largest
    )


def rate_of(evidence: Evidence, asked: Question) -> RateVerdict:
    """Clopper and Pearson's bounds on the effective number of samples, where the diagnostics are clean; of several
    CPUs those of the worst. Where it was looked at after each round: those of bets on each round."""
    trials = trials_of(evidence)
    forbids = _forbids(evidence, asked, trials)
    is_dependent = not evidence.by_rounds and bool(dependent(evidence))
    lowers = lowers_of(evidence, asked, trials, is_dependent=is_dependent)
    at_most = list(map(_at_most(evidence), trials))
    uppers = [] if forbids else [_upper(evidence, asked, of) for of in at_most]
    known = [upper for upper in uppers if upper is not None]
    is_bounded = len(known) == len(trials)
    decisive = known if is_bounded else lowers
    worst = max(range(len(trials)), key=lambda at: (decisive[at], trials[at].share))
    upper = max(known) if is_bounded else None
    needs_s = [_needs_s(evidence, asked, of) for of in at_most] if is_bounded else []
    of = trials[worst]
    return RateVerdict(
        _outcome(evidence, asked, upper, max(lowers)),
        tuple(forbids),
        None if None in needs_s else max((needed for needed in needs_s if needed is not None), default=None),
        upper,
        max(lowers),
        of.independent(asked.cluster),
        cpu=of.cpu,
        releases=of.counts.releases,
        misses=of.counts.misses,
        events=evidence.deadline.clusters or 0,
        events_per_h=_events_per_h(evidence, asked, forbids),
        cluster=of.together(asked.cluster),
    )


def _upper(evidence: Evidence, asked: Question, of: Trials) -> float | None:
    if evidence.by_rounds:
        return rate_upper_always(of.rounds, asked.confidence, of.together(asked.cluster))
    part = of.for_upper(asked.cluster)
    if part is None:
        return None
    misses = with_reserve(part * of.counts.misses, of.seconds)
    return rate_upper(misses, part * of.counts.releases, asked.confidence)


def _at_most(evidence: Evidence) -> Callable[[Trials], Trials]:
    """Where several CPUs measured and nobody kept them apart, all misses may have been on one of them."""

    def of_one(of: Trials) -> Trials:
        cpus = 1 if of.cpu else max(1, len(evidence.cpus))
        rounds = replace(of.rounds, releases=tuple(count // cpus for count in of.rounds.releases))
        return replace(of, counts=replace(of.counts, releases=of.counts.releases // cpus), rounds=rounds)

    return of_one


def lowers_of(
    evidence: Evidence, asked: Question, trials: Sequence[Trials], *, is_dependent: bool
) -> list[float]:
    """The lower bound of each, which hold together with the required confidence."""
    confidence = _confidence_of_lower(asked, len(trials))
    if evidence.by_rounds:
        return [rate_lower_always(of.rounds, confidence) for of in trials]
    return [_lower(of, asked, confidence, is_dependent=is_dependent) for of in trials]


def _confidence_of_lower(asked: Question, trials: int) -> float:
    """The confidence of each lower bound, so that those of all trials of all rows hold together (Bonferroni)."""
    return 1 - (1 - asked.confidence) / (trials * asked.rows)


def _lower(of: Trials, asked: Question, confidence: float, *, is_dependent: bool) -> float:
    """If nobody knows how misses depend on each other, a twentieth of their share: their number is 20 times its
    mean with a probability of at most a twentieth, however they come (Markov's inequality)."""
    misses, releases = of.counts.misses, of.counts.releases
    if not misses or not releases:
        return 0.0
    part = of.independent(asked.cluster)
    least = (1 - confidence) * misses / releases
    if part is None or of.counts.clusters is None or is_dependent or part * misses < 1:
        return least
    return max(least, rate_lower(part * misses, with_reserve(part * releases, of.seconds), confidence))


def _outcome(evidence: Evidence, asked: Question, upper: float | None, lower: float) -> Ruling | None:
    if not asked.miss_rate:
        return Ruling.FAIL if evidence.deadline.misses else None
    if evidence.trials and lower > asked.miss_rate:
        return Ruling.FAIL
    return Ruling.PASS if upper is not None and upper <= asked.miss_rate else Ruling.INCONCLUSIVE


def _needs_s(evidence: Evidence, asked: Question, of: Trials) -> float | None:
    """How much longer to measure at the pace of before, if misses go on coming as often as they did; None where no
    time is enough, or nobody can say how much."""
    counts, part = of.counts, of.for_upper(asked.cluster)
    if not asked.miss_rate or not part or not counts.releases or evidence.seconds <= 0 or evidence.by_rounds:
        return None

    confidence = _confidence_of_lower(asked, len(trials_of(evidence)))

    def is_open(longer: float) -> bool:
        """After `longer` times the measured time; compares probabilities, which spares inversions."""
        limit, seconds = asked.miss_rate, of.seconds * longer
        misses, releases = part * counts.misses * longer, part * counts.releases * longer
        passes = upper_is_at_most(limit, with_reserve(misses, seconds), releases, asked.confidence)
        return not passes and lower_is_at_most(limit, misses, with_reserve(releases, seconds), confidence)

    low, high = 1.0, 1.0
    while is_open(high):
        low, high = high, 2 * high
        if high > LONGEST:
            return None
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if is_open(middle) else (low, middle)
    return (high - 1) * evidence.seconds


def _events_per_h(evidence: Evidence, asked: Question, forbids: Sequence[Statement]) -> float | None:
    """The upper bound of how many groups of late releases come an hour, on all CPUs of the row together. Of none it
    holds whatever the tail looks like."""
    counts = evidence.deadline
    is_known = counts.clusters is not None or not counts.misses
    is_forbidden = any(counts.misses or told.rule in OF_COUNTS for told in forbids)
    if evidence.by_rounds or evidence.seconds <= 0 or not is_known or is_forbidden:
        return None
    events = with_reserve(counts.clusters or 0, evidence.seconds)
    return events_upper(events, asked.confidence) * 3600 / evidence.seconds


def _forbids(evidence: Evidence, asked: Question, trials: Sequence[Trials]) -> list[Statement]:
    known = evidence.known
    if not evidence.trials:
        return [NO_TRIALS()]
    forbids = [NO_ORDER()] if not known.time_order else []
    if not known.missed_releases:
        forbids.append(NO_MISSED())
    if beyond_range(evidence):
        forbids.append(NOT_COUNTED() if known.exact_max else NO_MAX())
    elif evidence.deadline.at_least:
        forbids.append(NOT_COUNTED())
    if between_values(evidence):
        forbids.append(COARSE(resolution_ns=known.resolution_ns))
    if not evidence.by_rounds:
        return forbids + [why for why in dependent(evidence) if why not in forbids]
    if not evidence.rounds:
        return [*forbids, NOT_LOOKED()]
    beyond = [
        (most, of.together(asked.cluster))
        for of in trials
        if (most := beyond_cap(of.rounds, asked.miss_rate or of.share, of.together(asked.cluster)))
    ]
    return [*forbids, *(MORE_TOGETHER(misses=most, cluster=cluster) for most, cluster in beyond[:1])]
