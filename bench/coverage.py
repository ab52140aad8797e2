"""Whether the bounds of the verdict hold as often as they say, on series whose truth is known.

    ./dev bench coverage [--repetitions 1000] [--samples 20000] [--seed 1] [--only TEXT]

Fixed seeds, so equal figures each time (of one numpy), and of a part as of the whole. For each kind of series: how
often a stated bound held, and how often it was withheld. Exit code 1 if a limit is not kept. The limits are what is
promised, not what was measured: 95 % less twice the binomial error of the repetitions; 93 % for the next stretch;
90 % of drifts withheld. A cause that mostly stays unseen has none: no bound can know of it. Independent samples must
not be kept from their bound in more than 5 % (each of four diagnostics forbids in 1 %).
"""

import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from figures import Figure, Measure, Part, asked_of, simulated  # noqa: E402

from howlate.verdict.extrapolate import REACH, extrapolated  # noqa: E402
from howlate.verdict.rate import rate_of  # noqa: E402
from howlate.verdict.ruling import Question  # noqa: E402
from howlate.verdict.stretch import horizon_verdict  # noqa: E402
from made_evidence import made_evidence, made_peaks  # noqa: E402
from made_series import (  # noqa: E402
    AUTOCORRELATED,
    DRIFTS,
    INDEPENDENT,
    MIXTURES,
    STALLS,
    STOLEN,
    Series,
    drifting,
)

PARTS = (
    Part(
        "coverage",
        "how often the verdict's bounds hold, on series whose truth is known",
        ("--repetitions", "400"),
    ),
)
"""The same on any machine, but it takes ten minutes: CI runs a part of it (tests/verdict/test_coverage.py)."""
CONFIDENCE = 0.95
RATES = (1e-3, 1e-4, 3e-5)
MOST_WITHHELD = 5


def least(promised: float, repetitions: int) -> float:
    """The smallest share that `promised` is compatible with: less twice the binomial error."""
    return promised - 2 * math.sqrt(promised * (1 - promised) / max(1, repetitions))


def rate_coverage(
    name: str,
    series: Series,
    rate: float,
    repetitions: int,
    samples: int,
    random: np.random.Generator,
    *,
    seen: bool = True,
) -> list[Figure]:
    """How often the upper bound of the rate is above the true one, where it is stated, and the lower one not above
    it. `seen`: what makes samples late occurs in nearly every repetition."""
    deadline = int(series.deadline(rate))
    held = stated = below = 0
    for _ in range(repetitions):
        evidence = made_evidence(deadline, series.samples(random, samples))
        bounds = rate_of(evidence, Question(deadline, rate))
        stated += bounds.upper is not None
        held += bounds.upper is not None and bounds.upper >= rate
        below += bounds.lower <= rate
    label = f"rate {rate:g}, {name}"
    withheld = round(100 * (1 - stated / repetitions), 1)
    most = MOST_WITHHELD if name in INDEPENDENT else None
    found = [Figure(f"{label}: withheld", withheld, "%", at_most=most)]
    limit = round(100 * least(CONFIDENCE, repetitions), 1) if seen else None
    found.append(
        Figure(f"{label}: lower bound held", round(100 * below / repetitions, 1), "%", at_least=limit)
    )
    right = round(100 * (repetitions - stated + held) / repetitions, 1)
    limit = round(100 * least(CONFIDENCE, repetitions), 1) if seen else None
    found.insert(0, Figure(f"{label}: bound held or withheld", right, "%", at_least=limit))
    if 2 * stated >= repetitions:  # what is rarely stated is so where chance hid that it should not be
        limit = round(100 * least(CONFIDENCE, stated), 1) if seen else None
        found.insert(0, Figure(f"{label}: bound held", round(100 * held / stated, 1), "%", at_least=limit))
    return found


def rate_coverage_unseen(
    name: str, series: Series, rate: float, repetitions: int, samples: int, random: np.random.Generator
) -> list[Figure]:
    """Of a cause that mostly does not occur: without limits."""
    return rate_coverage(name, series, rate, repetitions, samples, random, seen=False)


def block_coverage(
    name: str, series: Series, repetitions: int, samples: int, random: np.random.Generator
) -> list[Figure]:
    """How often nothing in the next nineteenth is above the largest value, where that is stated."""
    ahead = samples // 19
    held = stated = 0
    for _ in range(repetitions):
        values = series.samples(random, samples + ahead)
        evidence = made_evidence(1 << 40, values[:samples])
        stretch = horizon_verdict(evidence, Question(1 << 40))
        stated += stretch.bound
        held += stretch.bound and int(values[samples:].max()) <= (evidence.max_ns or 0)
    withheld = round(100 * (1 - stated / repetitions), 1)
    most = MOST_WITHHELD if name in INDEPENDENT else None
    return [
        Figure(f"next stretch, {name}: bound held", round(100 * held / max(1, stated), 1), "%", at_least=93),
        Figure(f"next stretch, {name}: withheld", withheld, "%", at_most=most),
    ]


def drift_withheld(repetitions: int, samples: int, random: np.random.Generator) -> list[Figure]:
    """How often a drift takes the bound on the next stretch away."""
    found = []
    for factor in DRIFTS:
        withheld = 0
        for _ in range(repetitions):
            evidence = made_evidence(1 << 40, drifting(random, samples, factor))
            withheld += not horizon_verdict(evidence, Question(1 << 40)).bound
        share = round(100 * withheld / repetitions, 1)
        found.append(Figure(f"drift by {factor:g}: withheld", share, "%", at_least=90))
    return found


def extrapolation_coverage(
    name: str, series: Series, repetitions: int, samples: int, random: np.random.Generator
) -> list[Figure]:
    """How often the model's upper limit is above the latency that 1 in ten times as many samples exceeds, and how
    often it is refused."""
    share = 1 / (REACH * samples)
    truth = series.deadline(share)
    held = stated = 0
    for _ in range(repetitions):
        values = series.samples(random, samples)
        evidence = made_evidence(1 << 40, values)
        forbids = rate_of(evidence, Question(1 << 40)).forbids
        model = extrapolated(evidence, forbids, made_peaks(values), share, CONFIDENCE)
        stated += not model.refused
        held += not model.refused and model.upper_ns >= truth
    right = round(100 * (repetitions - stated + held) / repetitions, 1)
    limit = round(100 * least(CONFIDENCE, repetitions), 1)
    label = f"extrapolation, {name}"
    found = [
        Figure(f"{label}: held or refused", right, "%", at_least=limit),
        Figure(f"{label}: refused", round(100 * (1 - stated / repetitions), 1), "%"),
    ]
    if 2 * stated >= repetitions:
        limit = round(100 * least(CONFIDENCE, stated), 1)
        found.insert(0, Figure(f"{label}: held", round(100 * held / stated, 1), "%", at_least=limit))
    return found


def hypervisors_share(
    name: str, series: Series, share: float, repetitions: int, samples: int, random: np.random.Generator
) -> list[Figure]:
    """Which share of the releases met stolen time, over the stolen share, and where the p99 lies: what the limit on
    steal rests on (docs/verdict.md)."""
    met, p99 = [], []
    for _ in range(repetitions):
        values = series.samples(random, samples)
        met.append(float((values > 50_000).mean()))
        p99.append(float(np.quantile(values, 0.99)))
    return [
        Figure(f"{name}: releases that met it, over the share", round(float(np.mean(met)) / share, 2)),
        Figure(f"{name}: median of the p99", round(float(np.median(p99)) / 1000, 1), "us"),
    ]


def second_modes_refused(
    share: float, repetitions: int, samples: int, random: np.random.Generator
) -> list[Figure]:
    """Of repetitions in which an outlier of 30 ms was seen, how many refuse to extrapolate: all. Where nobody saw
    one, no guard can; those are not looked at."""
    series = MIXTURES[share]
    seen = refused = 0
    for _ in range(repetitions):
        values = series.samples(random, samples)
        if values.max() < 30_000_000:
            continue
        seen += 1
        evidence = made_evidence(1 << 40, values)
        forbids = rate_of(evidence, Question(1 << 40)).forbids
        model = extrapolated(evidence, forbids, made_peaks(values), 1 / (REACH * samples), CONFIDENCE)
        refused += bool(model.refused)
    label = f"extrapolation, outliers of 30 ms at {share:g}, seen in {seen}"
    if not seen:
        return []
    return [Figure(f"{label}: refused", round(100 * refused / seen, 1), "%", at_least=100)]


def measures(repetitions: int, samples: int) -> list[tuple[str, Measure]]:
    """What is measured, by name. New ones go to the end, so that the others keep their generators."""
    found: list[tuple[str, Measure]] = []

    def add(name: str, measure: Callable[..., list[Figure]], *given: object) -> None:
        found.append((name, lambda random: measure(*given, random)))

    for name, series in {**INDEPENDENT, **AUTOCORRELATED}.items():
        for rate in RATES:
            add(f"rate, {name}", rate_coverage, name, series, rate, repetitions, samples)
        add(f"stretch, {name}", block_coverage, name, series, repetitions, samples)
    for share, series in MIXTURES.items():
        add("rate, outliers", rate_coverage, "outliers of 30 ms", series, share, repetitions, samples)
        add(
            "stretch, outliers",
            block_coverage,
            f"outliers of 30 ms at {share:g}",
            series,
            repetitions,
            samples,
        )
    for rate, series in STALLS.items():
        of_rate = rate_coverage if rate > 5e-3 else rate_coverage_unseen
        add("rate, stalls", of_rate, "stalls of 30 periods", series, rate, repetitions, samples)
        add(
            "stretch, stalls",
            block_coverage,
            f"stalls of 30 periods at {rate:g}",
            series,
            repetitions,
            samples,
        )
    add("drift", drift_withheld, repetitions, samples)
    for name, series in {**INDEPENDENT, **AUTOCORRELATED}.items():
        add(f"extrapolation, {name}", extrapolation_coverage, name, series, repetitions, samples)
    for share in MIXTURES:
        add("extrapolation, outliers", second_modes_refused, share, repetitions, samples)
    for (share, on), series in STOLEN.items():
        name = f"{share:.1%} stolen, the neighbour busy for {on:.0%}"
        add("steal", rate_coverage_unseen, name, series, 0.3 * share, repetitions, samples)
        add("steal", hypervisors_share, name, series, share, repetitions, samples)
    return found


if __name__ == "__main__":
    asked = asked_of(__doc__, repetitions=1_000, samples=20_000)
    sys.exit(simulated(measures(asked.repetitions, asked.samples), asked))
