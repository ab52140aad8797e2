"""Connects the lab and the search of a landscape: probes are asked of a fork, several at once, and kept."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from howlate.analysis.landscape import Goal, Probed, ReleaseWindow, Search, excess_ns
from howlate.analysis.proof import Landscape, Proof, measured_eps_ns
from howlate.errors import TargetError
from howlate.lab.bench import Bench
from howlate.lab.cache import storing
from howlate.lab.fork import Fork
from howlate.lab.watch import Limits
from howlate.words.statement import rule

FORK_LATE = rule(
    "lab.fork-late",
    "the measuring task came to its stop {left_ns:time} before the window, and {least_ns:time} are needed",
    remedy="choose another --from",
)
WOKE_EARLY = rule("lab.woke-early", "the task woke up before its release at {at_ns:exact}")
OTHER_COURSE = rule(
    "lab.other-course",
    "a guest that was forked again planned its release at {actual_ns}, and at {kept_ns} before",
    remedy="remove {path}, and report it: equal inputs should give equal guests",
)

PAIRS = 12
PAIR_NS = (97, 5_003)
"""Pairs of probes that are this far apart measure eps before the search."""
LEAST_LEAD_NS = 1_000_000
"""From the stop to the window at least."""
CPU_S = 600.0
_KEEP_EVERY = 25

Told = Callable[[Search], None]


@dataclass
class KeptProbes:
    """The probes of one fork, in a file by the fork's key. A search that is asked again, or for more, costs only what
    is new."""

    path: Path
    planned_ns: int = 0
    latencies_ns: dict[int, int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path, fresh: bool) -> KeptProbes:
        """Nothing where the file is missing or damaged."""
        try:
            value = {} if fresh else json.loads(path.read_text(encoding="ascii"))
            probes = {int(at): int(latency) for at, latency in value.get("probes", {}).items()}
            return cls(path, int(value.get("planned_ns", 0)), probes)
        except (OSError, ValueError, TypeError, AttributeError):
            return cls(path)

    def write(self) -> None:
        """The whole file or nothing."""
        with storing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
            beside.write_text(json.dumps({"planned_ns": self.planned_ns, "probes": self.latencies_ns}))
            beside.replace(self.path)


class Prober:
    """Answers probes of one landscape, each in a copy of the fork; the fork is made when the first is missing."""

    def __init__(self, bench: Bench, lines: list[list[str]], jobs: int, fresh: bool) -> None:
        self._bench, self._lines = bench, lines
        place = bench.cache / "landscapes" / f"{bench.fork_key(lines)}.json"
        self.kept = KeptProbes.read(place, fresh)
        self._held = ExitStack()
        self._pool = self._held.enter_context(ThreadPoolExecutor(jobs, "probe"))
        self._fork: Fork | None = None
        self.made = 0
        """Probes that were not kept."""

    def __enter__(self) -> Prober:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._held.close()
        if self.made:
            self.kept.write()

    def fork(self) -> Fork:
        if self._fork is None:
            fork = self._held.enter_context(self._bench.forked(self._lines, Limits(CPU_S)))
            words = fork.words
            if words.planned_ns - words.now_ns < LEAST_LEAD_NS:
                raise TargetError(FORK_LATE(left_ns=words.planned_ns - words.now_ns, least_ns=LEAST_LEAD_NS))
            if self.kept.planned_ns not in (0, words.planned_ns):
                kept_ns = self.kept.planned_ns
                raise TargetError(
                    OTHER_COURSE(actual_ns=words.planned_ns, kept_ns=kept_ns, path=self.kept.path)
                )
            self.kept.planned_ns = words.planned_ns
            self._fork = fork
        return self._fork

    def ask(self, at_ns: int) -> Future[Probed]:
        """The answer, at once if it is kept."""
        known = self.kept.latencies_ns.get(at_ns)
        if known is not None:
            done: Future[Probed] = Future()
            done.set_result(Probed(at_ns, known))
            return done
        fork = self.fork()
        return self._pool.submit(_probe, fork, at_ns)

    def note(self, probe: Probed) -> None:
        """Keep an answer."""
        if probe.at_ns in self.kept.latencies_ns:
            return
        self.kept.latencies_ns[probe.at_ns] = probe.latency_ns
        self.made += 1
        if self.made % _KEEP_EVERY == 0:
            self.kept.write()

    def all(self, instants_ns: Iterable[int]) -> list[Probed]:
        """The answers to all, in order."""
        answers = [future.result() for future in [self.ask(at_ns) for at_ns in instants_ns]]
        for probe in answers:
            self.note(probe)
        return answers


def _probe(fork: Fork, at_ns: int) -> Probed:
    words = fork.probe(fork.words.planned_ns + at_ns)
    if words.early:
        raise TargetError(WOKE_EARLY(at_ns=at_ns))
    return Probed(at_ns, words.latency_ns)


def prove(
    of: Landscape, goal: Goal, window: ReleaseWindow, checks: int, prober: Prober, jobs: int, told: Told
) -> Proof:
    """Measure eps, search, check at random instants. Equal questions ask equal probes where one is asked at a
    time; several change the order of answers, and so which probes are chosen, never whether the bound holds."""
    draws = random.Random(f"{of.kernel} {of.load} {window}")
    search = Search(window, goal, measured_eps_ns(0))
    for probe in prober.all(_pairs(draws, window)):
        search.add(probe)
    search.assume(measured_eps_ns(excess_ns(search.probes)))
    _search(search, prober, jobs, told)
    instants = [draws.randrange(window.first_ns, window.end_ns) for _ in range(checks)]
    checked = prober.all(instants) if not search.refuted else []
    return Proof.of_search(of, search, excess_ns(search.probes), checked)


def _pairs(draws: random.Random, window: ReleaseWindow) -> list[int]:
    instants: list[int] = []
    for _ in range(PAIRS):
        at_ns = draws.randrange(window.first_ns, max(window.first_ns + 1, window.end_ns - PAIR_NS[1]))
        instants += [at_ns, at_ns + PAIR_NS[0], at_ns + PAIR_NS[1]]
    return [at_ns for at_ns in instants if at_ns < window.end_ns]


def _search(search: Search, prober: Prober, jobs: int, told: Told) -> None:
    waiting: set[Future[Probed]] = set()
    while not search.is_over:
        waiting |= {prober.ask(at_ns) for at_ns in search.propose(jobs - len(waiting))}
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            probe = future.result()
            prober.note(probe)
            search.add(probe)
        search.assume(measured_eps_ns(excess_ns(search.probes)))
        told(search)
