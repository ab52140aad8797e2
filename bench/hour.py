"""How often a verdict on a rate of misses is wrong beside a neighbour that comes and goes, through the whole of
`verdict()`: an hour of this machine, and a process of two states fitted to it.

    ./dev bench hour --record [--seconds 3600]     record an hour here: cyclic releases each 1 ms
    ./dev bench hour [--segments 1000] [--seed 1] [--only TEXT]

What is kept of an hour are the groups of misses and the misses of each second, by deadline, outside the repository
($HOWLATE_CACHE, else ~/.cache/howlate; --series FILE). Where no hour was recorded a simulated one stands in, and
its figures say so.

Fitted: a machine that is calm or busy, with its own Poisson rate of groups in either state, and changes its state
with a fixed probability a second (a hidden Markov chain, by the algorithm of Baum and Welch, 1970); the sizes of
groups are geometric. Of the process: 1,000 segments of 300 s, whose false PASS and false FAIL at the true rate are
each held to 5 %, and a fifth as many of 60 and 12 s. Of the hour itself: its own segments against its own share. What
no test can see from inside a segment shorter than a turn is published as it is. Exit code 1 if a limit is not kept, 3
where the machine cannot record.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from figures import Figure, Measure, Part, add_option, simulated  # noqa: E402
from misses import share  # noqa: E402

from howlate.lab.cache import cache_folder  # noqa: E402
from howlate.statistics.tail import clusters_of_misses  # noqa: E402
from howlate.store.stream import StreamReader  # noqa: E402
from howlate.verdict.ruling import Question, Ruling  # noqa: E402
from howlate.verdict.verdict import verdict  # noqa: E402
from made_misses import DEADLINE_NS, Round, evidence_of  # noqa: E402

PARTS = (
    Part(
        "hour",
        "how often a verdict on a rate of misses is wrong or withheld beside a neighbour that comes and goes",
        deterministic=True,
    ),
)
FILE = "hour.json.gz"
DEADLINES_NS = (100_000, 300_000, 1_000_000, 5_000_000)
PER_S = 1_000
"""Releases a second."""
LENGTHS_S = (300, 60, 12)
HELD_S = 300
SHORT = 5
"""Of the shorter segments, which are held to nothing, a fifth as many are judged."""
FEWEST = 50
"""Groups of misses in an hour that a process is fitted to."""
MOST = 0.01
"""Of a larger share of misses nobody asks whether it is tolerated."""
SIMULATED = {100_000: (0.38, 3.8), 1_000_000: (0.084, 0.84), 5_000_000: (0.01, 0.1)}
"""By deadline: groups a second while it is calm and while it is busy. In a virtual machine beside a busy neighbour
one release of 160 was later than 100 us, one of 720 later than 1 ms."""
TURN_S, SIZE = 100.0, 3.0
"""Of the simulated hour: the mean length of a turn, and of a group in misses."""
ITERATIONS = 40

Counts = npt.NDArray[np.int64]
Random = np.random.Generator


class Course(Struct, frozen=True):
    """The misses of one deadline, second for second."""

    groups: Counts
    misses: Counts


class Hour(Struct, frozen=True):
    """What was measured, or made."""

    name: str
    courses: dict[int, Course]

    def write(self, path: Path) -> None:
        courses = {
            str(deadline_ns): {"groups": course.groups.tolist(), "misses": course.misses.tolist()}
            for deadline_ns, course in self.courses.items()
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(path, "wt") as file:
            json.dump({"name": self.name, "courses": courses}, file)

    @classmethod
    def read(cls, path: Path) -> Hour:
        with gzip.open(path, "rt") as file:
            value = json.load(file)
        courses = {
            int(deadline_ns): Course(np.array(course["groups"]), np.array(course["misses"]))
            for deadline_ns, course in value["courses"].items()
        }
        return cls(value["name"], courses)


def counted(at: Counts, latency_ns: Counts, seconds: int) -> dict[int, Course]:
    """By deadline, from releases (by their number) and how late they were answered; a latency of three and a half
    periods swallowed three releases."""
    courses = {}
    for deadline_ns in DEADLINES_NS:
        late = latency_ns > deadline_ns
        clusters = clusters_of_misses(
            at[late], latency_ns[late], seconds * PER_S, 10**9 // PER_S, 1, deadline_ns
        )
        second = clusters.starts // PER_S
        misses = np.bincount(second, clusters.sizes, seconds).astype(np.int64)
        courses[deadline_ns] = Course(np.bincount(second, minlength=seconds), misses)
    return courses


def record(seconds: int, path: Path) -> int:
    """Measure and keep it; the exit code."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        stream = Path(folder) / "stream"
        command = [os.environ["HOWLATE_PROBE"], "cyclic", "--quiet", "--period=1ms", f"--duration={seconds}s"]
        done = subprocess.run([*command, f"--stream={stream}"], stderr=subprocess.PIPE, text=True)
        if done.returncode:
            print(done.stderr.strip(), file=sys.stderr)
            return done.returncode
        at, latency_ns = _late(stream)
    when, system = f"{datetime.now(UTC):%Y-%m-%d}", f"Linux {platform.release()}"
    hour = Hour(f"{seconds} s recorded on {when}, {system}", counted(at, latency_ns, seconds))
    hour.write(path)
    print(f"kept in {path}: {path.stat().st_size} bytes")
    for deadline_ns, course in hour.courses.items():
        print(
            f"later than {deadline_ns // 1_000} us: {course.misses.sum()} of {seconds * PER_S} releases, "
            f"in {course.groups.sum()} groups"
        )
    return 0


def _late(stream: Path) -> tuple[Counts, Counts]:
    """The releases of a stream that were answered later than the shortest deadline, and by how much."""
    at: list[Counts] = [np.empty(0, np.int64)]
    latency_ns = list(at)
    with StreamReader.open(stream) as reader:
        for batch in reader.batches():
            if batch.table.name == "samples":
                late = batch.columns["latency_ns"] > DEADLINES_NS[0]
                at.append(batch.columns["release"][late].astype(np.int64))
                latency_ns.append(batch.columns["latency_ns"][late].astype(np.int64))
    return np.concatenate(at), np.concatenate(latency_ns)


# --- A machine of two states ----------------------------------------------------------------------------------


class TwoStates(Struct, frozen=True):
    """Groups of misses, calm and busy."""

    groups_per_s: tuple[float, float]
    leaves: tuple[float, float]
    """The probability of a change of state, a second."""
    size: float
    """The mean number of misses of a group."""

    @property
    def busy(self) -> float:
        """The share of the time."""
        return self.leaves[0] / sum(self.leaves)

    @property
    def rate(self) -> float:
        """Misses for each release."""
        calm_per_s, busy_per_s = self.groups_per_s
        return ((1 - self.busy) * calm_per_s + self.busy * busy_per_s) * self.size / PER_S

    def course(self, random: Random, seconds: int) -> Course:
        """So many seconds of it, which begin at any time."""
        is_busy, states = bool(random.random() < self.busy), np.zeros(seconds, np.int64)
        at = 0
        while at < seconds:
            end = at + int(random.geometric(self.leaves[is_busy]))
            states[at:end] = is_busy
            at, is_busy = end, not is_busy
        groups = random.poisson(np.array(self.groups_per_s)[states])
        return Course(
            groups, groups + random.negative_binomial(np.maximum(groups, 1), 1 / self.size) * (groups > 0)
        )


def fitted(course: Course) -> TwoStates:
    """The likeliest process, begun at a half and twice the mean."""
    counts = course.groups.astype(np.float64)
    low, high, leaves = counts.mean() / 2, counts.mean() * 2, (0.01, 0.01)
    for _ in range(ITERATIONS):
        weights, changes = _expected(counts, (low, high), leaves)
        low, high = ((counts * weight).sum() / weight.sum() for weight in weights)
        low, high = max(low, 1e-9), max(high, 1e-9)
        leaves = (
            min(0.5, max(1e-4, changes[0] / weights[0][:-1].sum())),
            min(0.5, max(1e-4, changes[1] / weights[1][:-1].sum())),
        )
    return TwoStates((low, high), leaves, course.misses.sum() / course.groups.sum())


def _expected(
    counts: npt.NDArray[np.float64], per_s: tuple[float, float], leaves: tuple[float, float]
) -> tuple[list[npt.NDArray[np.float64]], tuple[float, float]]:
    """The probability of either state in each second, and the expected number of changes out of either."""
    logs = np.stack([counts * math.log(rate) - rate for rate in per_s])
    likely = np.exp(logs - logs.max(axis=0))
    stay = (1 - leaves[0], 1 - leaves[1])
    forward, backward = np.empty_like(likely), np.ones_like(likely)
    calm = leaves[1] / sum(leaves)
    busy = 1 - calm
    for i, (of_calm, of_busy) in enumerate(likely.T.tolist()):
        if i:
            calm, busy = calm * stay[0] + busy * leaves[1], calm * leaves[0] + busy * stay[1]
        calm, busy = calm * of_calm, busy * of_busy
        calm, busy = calm / (calm + busy), busy / (calm + busy)
        forward[:, i] = calm, busy
    after_calm = after_busy = 1.0
    for i in range(likely.shape[1] - 1, 0, -1):
        of_calm, of_busy = after_calm * float(likely[0, i]), after_busy * float(likely[1, i])
        after_calm, after_busy = (
            stay[0] * of_calm + leaves[0] * of_busy,
            leaves[1] * of_calm + stay[1] * of_busy,
        )
        after_calm, after_busy = (
            after_calm / (after_calm + after_busy),
            after_busy / (after_calm + after_busy),
        )
        backward[:, i - 1] = after_calm, after_busy
    weights = forward * backward
    weights /= weights.sum(axis=0)
    later = likely[:, 1:] * backward[:, 1:]
    total = forward[0, :-1] * (stay[0] * later[0] + leaves[0] * later[1]) + forward[1, :-1] * (
        leaves[1] * later[0] + stay[1] * later[1]
    )
    changes = (
        float((forward[0, :-1] * leaves[0] * later[1] / total).sum()),
        float((forward[1, :-1] * leaves[1] * later[0] / total).sum()),
    )
    return list(weights), changes


def simulated_hour(random: Random, seconds: int = 3_600) -> Hour:
    """One neighbour, whose turns are the same for each deadline."""
    leaves = (1 / TURN_S, 1 / TURN_S)
    seed = int(random.integers(2**32))
    courses = {
        deadline_ns: TwoStates(per_s, leaves, SIZE).course(np.random.default_rng(seed), seconds)
        for deadline_ns, per_s in SIMULATED.items()
    }
    return Hour("a simulated hour", courses)


# --- Its verdicts ---------------------------------------------------------------------------------------------


def positions_of(random: Random, course: Course) -> Counts:
    """Releases that missed: each group at a random place of its second."""
    starts = np.repeat(np.arange(len(course.groups)), course.groups) * PER_S
    starts += random.integers(0, PER_S, len(starts))
    more = np.repeat(np.arange(len(course.groups)), course.misses - course.groups)
    first = np.cumsum(course.groups) - course.groups
    chosen = first[more] + (random.random(len(more)) * course.groups[more]).astype(np.int64)
    sizes = 1 + np.bincount(chosen, minlength=len(starts))
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    found = np.repeat(starts, sizes) + within
    return np.unique(found[found < len(course.groups) * PER_S])


def judged(random: Random, courses: list[Course], rate: float, name: str, *, limited: bool) -> list[Figure]:
    """How often the verdict on segments is wrong at their true rate."""
    outcomes: Counter[str] = Counter()
    withheld = 0
    for course in courses:
        n = len(course.groups) * PER_S
        measured = Round.of(random, positions_of(random, course), n, max(50, n // 1_000))
        found = verdict(evidence_of([measured]), Question(DEADLINE_NS, rate))
        outcomes[str(found.outcome)] += 1
        withheld += found.rate.upper is None
    return [
        *share(f"{name}: false PASS", outcomes[str(Ruling.PASS)], len(courses), is_held=limited),
        *share(f"{name}: false FAIL", outcomes[str(Ruling.FAIL)], len(courses), is_held=limited),
        Figure(f"{name}: withheld", round(100 * withheld / len(courses), 1), "%"),
    ]


def of_process(process: TwoStates, label: str, seconds: int, segments: int, random: Random) -> list[Figure]:
    courses = [process.course(random, seconds) for _ in range(segments)]
    return judged(random, courses, process.rate, label, limited=seconds == HELD_S)


def of_hour(course: Course, label: str, seconds: int, random: Random) -> list[Figure]:
    """Its own segments, one after the other."""
    total = len(course.groups)
    cuts = range(0, total - seconds + 1, seconds)
    courses = [Course(course.groups[at : at + seconds], course.misses[at : at + seconds]) for at in cuts]
    return judged(random, courses, course.misses.sum() / total / PER_S, label, limited=False)


def described(process: TwoStates, label: str, _random: Random) -> list[Figure]:
    """What was fitted."""
    found = []
    for i, state in enumerate(("calm", "busy")):
        found += [
            Figure(f"{label}, {state}: groups of misses an hour", round(3_600 * process.groups_per_s[i], 1)),
            Figure(f"{label}, {state}: mean turn", round(1 / process.leaves[i], 1), "s"),
        ]
    return found


def measures(hour: Hour, segments: int) -> list[tuple[str, Measure]]:
    """What is measured, by name."""
    found: list[tuple[str, Measure]] = []

    def add(label: str, measure: Callable[..., list[Figure]], *given: object) -> None:
        found.append((label, lambda random: measure(*given, random)))

    for deadline_ns, course in hour.courses.items():
        total = len(course.groups)
        if course.groups.sum() < FEWEST or course.misses.sum() > MOST * total * PER_S:
            continue
        name, process = f"{hour.name}, deadline {deadline_ns // 1_000} us", fitted(course)
        add(f"{name}, fitted", described, process, f"{name}, fitted")
        for seconds in LENGTHS_S:
            label = f"{name}, the fitted process, segments of {seconds} s"
            number = segments if seconds == HELD_S else max(1, segments // SHORT)
            add(label, of_process, process, label, seconds, number)
        for seconds in (each for each in LENGTHS_S if each <= total):
            label = f"{name}, the hour itself, its {total // seconds} segments of {seconds} s"
            add(label, of_hour, course, label, seconds)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", action="store_true", help="measure, and keep what was measured")
    parser.add_argument("--seconds", type=int, default=3_600, help="of what is recorded")
    parser.add_argument("--series", type=Path, metavar="FILE", help="where an hour is kept")
    for name, default in {"segments": 1_000, "seed": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="what is measured whose name contains this"
    )
    add_option(parser)
    asked = parser.parse_args()
    path = asked.series or cache_folder() / FILE
    if asked.record:
        return record(asked.seconds, path)
    hour = Hour.read(path) if path.exists() else simulated_hour(np.random.default_rng(asked.seed))
    return simulated(measures(hour, asked.segments), asked)


if __name__ == "__main__":
    sys.exit(main())
