"""Connects the lab and the search of a landscape: probes are asked of a fork, several at once, and kept."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from howlate.analysis.landscape import Goal, Probed, ReleaseWindow, Search
from howlate.analysis.lateness import Lateness, explain
from howlate.analysis.premises import ComparedPair, Witness, witness_from_json, witness_to_json
from howlate.analysis.proof import Landscape, Proof, shown_eps_ns
from howlate.analysis.release_path import PATH_FORMAT, ReleasePath, release_path
from howlate.analysis.symbols import Symbols
from howlate.analysis.tick_shift import COMPARED_NS, shift_ns
from howlate.errors import TargetError, UsageError
from howlate.lab.bench import Bench
from howlate.lab.cache import storing
from howlate.lab.fork import Fork
from howlate.lab.logged_release import LEAST_LEAD_NS as LEAST_LOGGED_NS
from howlate.lab.logged_release import LoggedRelease, logged_release
from howlate.lab.replay import LEAD_NS, STAMP_NOT_FOUND, most_off_ns, symbols_of
from howlate.lab.same_state import unexplained
from howlate.lab.single import SingleWords
from howlate.lab.watch import Limits
from howlate.model.study import Part, Study, Value, spell
from howlate.words.statement import rule

FORK_LATE = rule(
    "lab.fork-late",
    "the measuring task stopped {left_ns:time} before the window, and {least_ns:time} are needed",
    remedy="choose a later --from: before it the guest lists its tasks, which takes 0.1 ms a task or more",
)
WOKE_EARLY = rule("lab.woke-early", "the task woke up before its release at {at_ns:exact}")
OTHER_COURSE = rule(
    "lab.other-course",
    "a guest that was forked again planned its release at {actual_ns}, and at {kept_ns} before",
    remedy="remove {path}, and report it: equal inputs should give equal guests",
)

OTHER_LATENCY = rule(
    "lab.other-latency",
    "played again, the release at {at_ns:exact} is {again_ns:exact} late, not {latency_ns:exact}",
    remedy="report it: equal inputs should give equal guests",
)
OTHER_TEST = rule(
    "lab.other-test",
    "{study} does not measure by {test}, whose single releases are proved",
    remedy="name the loads with --load",
)

CYCLIC, LOAD = "cyclic", "load"
PAIRS = 12
PAIR_NS = (97, 5_003)
"""Pairs of probes that are this far apart measure eps before the search."""
LEAST_LEAD_NS = 1_000_000
"""From the stop to the window at least."""
TILE_NS = 40_000_000
"""A longer window has several forks, so that none of its probes is far from one."""
APART_POWERS, BEFORE_POWER, SOON_NS = (2, 4), 5.5, 2_000
"""Two guests that are compared wait for instants 10^2 to 10^4 ns apart, and are stopped 2 us before the first, and
up to 10^5.5 ns earlier."""
TICKS_NS = 1_000_000
"""A kernel's ticks are at multiples of this."""
LOOKED_AT, AMID_NS = 10, 400
"""So many of each part are looked at, and a release so long after one comes amid its tick, if there is one."""
AROUND_NS = (-4_000, -2_500, -1_500, -700, -200, 0, 1_200)
"""Where releases meet a tick: on their way, in their interrupt, and amid the tick's."""
ACROSS_NS = 20_000
"""From a tick to each of the two releases that tell what it moves."""
CPU_S = 600.0
_KEEP_EVERY = 25
_TELL_EVERY = 6
"""Of the probes before the search."""

Told = Callable[[Search], None]
Lines = Callable[[int], list[list[str]]]
"""The job of a single release that is planned so many ns after the window's origin."""


@dataclass
class KeptProbes:
    """The probes of one fork, in a file by the fork's key. A search that is asked again, or for more, costs only what
    is new."""

    path: Path
    planned_ns: int = 0
    latencies_ns: dict[int, int] = field(default_factory=dict)
    paths: dict[int, ReleasePath] = field(default_factory=dict)
    witnesses: dict[int, Witness] = field(default_factory=dict)
    """By the instant of their release: windows of several lengths begin with one fork, and a witness says nothing of
    what comes after its release."""
    pair: ComparedPair | None = None
    shifts_ns: dict[int, int] = field(default_factory=dict)
    """By the instant of a tick: what it moves (lab/tick_shift.py)."""

    @classmethod
    def read(cls, path: Path, fresh: bool) -> KeptProbes:
        """Nothing where the file is missing or damaged."""
        try:
            value = {} if fresh else json.loads(path.read_text(encoding="ascii"))
            probes = {int(at): int(latency) for at, latency in value.get("probes", {}).items()}
            logs = value.get("paths", {}) if value.get("path_format") == PATH_FORMAT else {}
            paths = {int(at): ReleasePath.from_json(one) for at, one in logs.items()}
            witnesses = {int(at): witness_from_json(one) for at, one in value.get("witnesses", {}).items()}
            pair = _pair_of(*value["pair"]) if value.get("pair") else None
            shifts_ns = {int(at): int(shift) for at, shift in value.get("shifts", {}).items()}
            return cls(path, int(value.get("planned_ns", 0)), probes, paths, witnesses, pair, shifts_ns)
        except (OSError, ValueError, TypeError, AttributeError, KeyError):
            return cls(path)

    def write(self) -> None:
        """The whole file or nothing."""
        with storing(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
            value = {
                "planned_ns": self.planned_ns,
                "witnesses": {at: witness_to_json(witness) for at, witness in self.witnesses.items()},
                "pair": tuple(vars(self.pair).values()) if self.pair else None,
                "shifts": self.shifts_ns,
                "probes": self.latencies_ns,
                "path_format": PATH_FORMAT,
                "paths": {at: path.to_json() for at, path in self.paths.items()},
            }
            beside.write_text(json.dumps(value), encoding="ascii")
            beside.replace(self.path)


def _pair_of(first_ns: int, later_ns: int, before_ns: int, words: Sequence[str]) -> ComparedPair:
    return ComparedPair(int(first_ns), int(later_ns), int(before_ns), tuple(map(str, words)))


def loads_of(study: Study) -> tuple[str, ...]:
    """The loads of a study that measures wake-ups, each once; "none" where it names none."""
    pieces: Sequence[Study | Part] = study.parts or (study,)
    if any(piece.test != CYCLIC for piece in pieces):
        raise UsageError(OTHER_TEST(study=study.id, test=CYCLIC))
    loads = [spell(value) for piece in pieces for value in _values(piece, LOAD)]
    return tuple(dict.fromkeys(loads)) or ("none",)


def _values(study: Study | Part, name: str) -> Sequence[Value]:
    if name in study.axes:
        return study.axes[name]
    return (study.settings[name],) if name in study.settings else ()


class ForkedPart:
    """A part of the window with a fork of its own, which is made when the first probe of it is missing."""

    def __init__(self, bench: Bench, lines: list[list[str]], window: ReleaseWindow, fresh: bool) -> None:
        self.window = window
        self._bench, self._lines = bench, lines
        self._symbols: Symbols | None = None
        place = bench.cache / "landscapes" / f"{bench.fork_key(lines)}.json"
        self.kept = KeptProbes.read(place, fresh)
        self._held = ExitStack()
        self._fork: Fork | None = None
        self._clocks_off: tuple[int, int] | None = None
        """Of the first logged release: its instant, and `LoggedRelease.off_ns`."""

    def close(self) -> None:
        self._held.close()

    def known(self, at_ns: int, logged: bool) -> Probed | None:
        """An answer that is kept, with its log's summary if that is wanted."""
        place_ns = at_ns - self.window.first_ns
        latency_ns, path = self.kept.latencies_ns.get(place_ns), self.kept.paths.get(place_ns)
        return None if latency_ns is None or (logged and path is None) else Probed(at_ns, latency_ns, path)

    def note(self, probe: Probed) -> bool:
        """Keep an answer; whether it is new."""
        place_ns = probe.at_ns - self.window.first_ns
        new = place_ns not in self.kept.latencies_ns or (probe.path and place_ns not in self.kept.paths)
        self.kept.latencies_ns[place_ns] = probe.latency_ns
        if probe.path is not None:
            self.kept.paths[place_ns] = probe.path
        return bool(new)

    def fork(self) -> Fork:
        if self._fork is None:
            fork = self._held.enter_context(self._bench.forked(self._lines, Limits(CPU_S)))
            words = fork.words
            left_ns = words.planned_ns - words.stopped_ns
            if left_ns < LEAST_LEAD_NS:
                raise TargetError(FORK_LATE(left_ns=left_ns, least_ns=LEAST_LEAD_NS))
            if self.kept.planned_ns not in (0, words.planned_ns):
                kept_ns = self.kept.planned_ns
                raise TargetError(
                    OTHER_COURSE(actual_ns=words.planned_ns, kept_ns=kept_ns, path=self.kept.path)
                )
            self.kept.planned_ns = words.planned_ns
            self._fork = fork
        return self._fork

    def probe(self, at_ns: int) -> Probed:
        """A release that nothing is logged of."""
        return _checked(self.fork().probe(self._instant_ns(at_ns)), at_ns)

    def logged(self, at_ns: int) -> Probed:
        """The same, with what it and its holder executed."""
        logged = self._logged(at_ns)
        path = release_path(logged.execution, logged.release_ns, logged.words.latency_ns, logged.stamp)
        return replace(_checked(logged.words, at_ns), path=path)

    def why(self, probe: Probed) -> Lateness:
        """Where the time of a release went; it is as late as before."""
        logged = self._logged(probe.at_ns, LEAD_NS)
        if logged.words.latency_ns != probe.latency_ns:
            again_ns = logged.words.latency_ns
            raise TargetError(
                OTHER_LATENCY(at_ns=probe.at_ns, again_ns=again_ns, latency_ns=probe.latency_ns)
            )
        return explain(logged.execution, logged.release_ns, probe.latency_ns, logged.stamp)

    def _logged(self, at_ns: int, lead_ns: int = LEAST_LOGGED_NS) -> LoggedRelease:
        """The guest's clock and the machine's are apart by the same in all: another reading than the time stamp
        would be told by that."""
        instant_ns, known = self._instant_ns(at_ns), self._clocks_off
        first_ns, off_ns = known or (instant_ns, 0)
        logged = logged_release(self._bench, self.symbols(), self.fork(), instant_ns, lead_ns, off_ns)
        if known is None:
            self._clocks_off = instant_ns, logged.off_ns
        elif abs(logged.off_ns - off_ns) > most_off_ns(instant_ns - first_ns, self._bench.kernel.arch):
            raise TargetError(STAMP_NOT_FOUND(cell=self._bench.label))
        return logged

    def multiples_ns(self, draws: random.Random) -> list[int]:
        """Neighbouring instants at which the kernel may have ticks, from a drawn one on."""
        origin_ns = self._instant_ns(self.window.first_ns) - self.window.first_ns
        first = -(-(origin_ns + self.window.first_ns - min(AROUND_NS)) // TICKS_NS)
        end = (origin_ns + self.window.end_ns - 1 - max(AROUND_NS)) // TICKS_NS + 1
        first += draws.randrange(max(1, end - LOOKED_AT - first))
        return [number * TICKS_NS - origin_ns for number in range(first, min(end, first + LOOKED_AT))]

    def shift_ns(self, tick_ns: int) -> int:
        """What a tick moves: of two releases around it, before the earlier one. Kept with the probes; 0 where the
        part does not hold both."""
        one_ns, later_ns, place_ns = tick_ns - ACROSS_NS, tick_ns + ACROSS_NS, tick_ns - self.window.first_ns
        if not (self.window.holds(one_ns) and self.window.holds(later_ns)):
            return 0
        if place_ns not in self.kept.shifts_ns:
            one = self._logged(one_ns)
            later = self._logged(later_ns, 2 * ACROSS_NS + COMPARED_NS + LEAST_LOGGED_NS)
            shifted_ns = shift_ns(one.execution, one.release_ns, later.execution)
            self.kept.shifts_ns[place_ns] = shifted_ns
            self.kept.write()
        return self.kept.shifts_ns[place_ns]

    def symbols(self) -> Symbols:
        """The guest's functions."""
        if self._symbols is None:
            self._symbols = symbols_of(self._bench, self._lines[:-1])
        return self._symbols

    def witness(self) -> Witness:
        """What the guest says of the time up to the last instant; kept with the probes."""
        at_ns = self.window.end_ns - 1
        place_ns = at_ns - self.window.first_ns
        if place_ns not in self.kept.witnesses:
            words, self.kept.witnesses[place_ns] = self.fork().witness(self._instant_ns(at_ns))
            self.note(_checked(words, at_ns))
            self.kept.write()
        return self.kept.witnesses[place_ns]

    def pair(self) -> ComparedPair:
        """Two releases that are drawn: one machine until the first? Kept with the probes, counted from the part's
        beginning."""
        begin_ns, kept = self.window.first_ns, self.kept.pair
        if kept is None or not self.window.holds(begin_ns + kept.first_ns):
            first_ns, later_ns, before_ns = self._drawn_pair()
            instants_ns = self._instant_ns(first_ns), self._instant_ns(later_ns)
            words = unexplained(self.fork(), self.symbols(), *instants_ns, before_ns)
            kept = self.kept.pair = ComparedPair(first_ns - begin_ns, later_ns - begin_ns, before_ns, words)
            self.kept.write()
        return replace(kept, first_ns=begin_ns + kept.first_ns, later_ns=begin_ns + kept.later_ns)

    def _drawn_pair(self) -> tuple[int, int, int]:
        """Two instants with no tick in between, because a guest that has one there sorts its timers in another order;
        and how long before the first both are stopped."""
        draws = random.Random(f"{self.kept.path.stem} {self.window.length_ns}")
        before_ns = SOON_NS + round(10 ** draws.uniform(0, BEFORE_POWER))
        while True:
            first_ns = draws.randrange(self.window.first_ns, self.window.end_ns)
            later_ns = first_ns + round(10 ** draws.uniform(*APART_POWERS)) | 1
            if self._instant_ns(first_ns) // TICKS_NS == self._instant_ns(later_ns) // TICKS_NS:
                return first_ns, later_ns, before_ns

    def _instant_ns(self, at_ns: int) -> int:
        return self.fork().words.planned_ns + at_ns - self.window.first_ns


def _checked(words: SingleWords, at_ns: int) -> Probed:
    if words.early:
        raise TargetError(WOKE_EARLY(at_ns=at_ns))
    return Probed(at_ns, words.latency_ns)


class Prober:
    """Answers probes of one landscape, each in a copy of a fork."""

    def __init__(self, bench: Bench, lines: Lines, window: ReleaseWindow, jobs: int, fresh: bool) -> None:
        tiles = window.tiled(TILE_NS)
        self.window = window
        self.parts = tuple(ForkedPart(bench, lines(tile.first_ns), tile, fresh) for tile in tiles)
        self.jobs = jobs
        self._pool = ThreadPoolExecutor(jobs, "probe")
        self.made = 0
        """Probes that were not kept."""

    def __enter__(self) -> Prober:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)
        for part in self.parts:
            part.close()
        if self.made:
            self._write()

    @property
    def tiles(self) -> tuple[ReleaseWindow, ...]:
        return tuple(part.window for part in self.parts)

    def witnesses(self) -> list[Witness]:
        return [part.witness() for part in self.parts]

    def pairs(self) -> list[ComparedPair]:
        """One of each part."""
        return [part.pair() for part in self.parts]

    def multiples_ns(self, draws: random.Random) -> list[list[int]]:
        """Of each part, instants at which the kernel may have ticks."""
        return [part.multiples_ns(draws) for part in self.parts]

    def shift_ns(self, tick_ns: int) -> int:
        """What a tick moves."""
        return self._part(tick_ns).shift_ns(tick_ns)

    def ask(self, at_ns: int, logged: bool = True) -> Future[Probed]:
        """The answer, at once if it is kept."""
        part = self._part(at_ns)
        known = part.known(at_ns, logged)
        if known is not None:
            done: Future[Probed] = Future()
            done.set_result(known)
            return done
        part.fork()  # one at a time, and not by the threads that wait for it
        if logged:
            part.symbols()
        return self._pool.submit(part.logged if logged else part.probe, at_ns)

    def why(self, probe: Probed) -> Lateness:
        """Where the time of a release that was asked went."""
        return self._part(probe.at_ns).why(probe)

    def note(self, probe: Probed) -> None:
        """Keep an answer."""
        if not self._part(probe.at_ns).note(probe):
            return
        self.made += 1
        if self.made % _KEEP_EVERY == 0:
            self._write()

    def all(self, instants_ns: Iterable[int], logged: bool = True) -> list[Probed]:
        """The answers to all, in order."""
        answers = [future.result() for future in [self.ask(at_ns, logged) for at_ns in instants_ns]]
        for probe in answers:
            self.note(probe)
        return answers

    def _part(self, at_ns: int) -> ForkedPart:
        return next((part for part in self.parts if at_ns < part.window.end_ns), self.parts[-1])

    def _write(self) -> None:
        for part in self.parts:
            part.kept.write()


def prove(of: Landscape, goal: Goal, checks: int, prober: Prober, told: Told = lambda _: None) -> Proof:
    """Ask for the witnesses, search, check at random instants and by state, explain what was found.

    Equal questions ask equal probes where one is asked at a time; several change the order of answers, and so which
    probes are chosen, never whether the bound holds.
    """
    window = prober.window
    draws = random.Random(f"{of.kernel} {of.load} {window}")
    witnesses = prober.witnesses()
    search = Search(window, goal, 0, prober.tiles)
    edges = [tile.first_ns for tile in search.tiles]  # else no probe stands left of a part's first stretch
    first = [*edges, *_pairs(draws, search.tiles)]
    for at in range(0, len(first), _TELL_EVERY):
        for probe in prober.all(first[at : at + _TELL_EVERY]):
            search.add(probe)
        told(search)
    for looked_ns in prober.multiples_ns(draws):
        _meet_ticks(search, prober, looked_ns)
        told(search)
    search.assume(shown_eps_ns(search))
    _search(search, prober, told)
    instants = [draws.randrange(window.first_ns, window.end_ns) for _ in range(checks)]
    checked = prober.all(instants, logged=False) if not search.refuted else []
    pairs = prober.pairs() if not search.refuted else []
    proof = Proof.of_search(of, search, checked, witnesses, pairs)
    return replace(proof, why=prober.why(proof.found))


def _meet_ticks(search: Search, prober: Prober, multiples_ns: Sequence[int]) -> None:
    """Releases that meet ticks, which few of a search's do; and what a tick moves."""
    looked = prober.all(at_ns + AMID_NS for at_ns in multiples_ns)
    ticks_ns = [
        at_ns
        for at_ns, probe in zip(multiples_ns, looked, strict=True)
        if probe.path is not None and any(each.from_ns < AMID_NS for each in probe.path.interruptions)
    ]
    met = prober.all(tick_ns + around_ns for tick_ns in ticks_ns for around_ns in AROUND_NS)
    for probe in (*looked, *met):
        search.add(probe)
    search.ticks_met += len(ticks_ns)
    search.ticks_ns = max((search.ticks_ns, *map(prober.shift_ns, ticks_ns)))


def _pairs(draws: random.Random, tiles: Sequence[ReleaseWindow]) -> list[int]:
    """Three neighbours at each of some random instants, all of one part."""
    instants: list[int] = []
    for group in range(PAIRS):
        tile = tiles[group * len(tiles) // PAIRS]
        at_ns = draws.randrange(tile.first_ns, max(tile.first_ns + 1, tile.end_ns - PAIR_NS[1]))
        instants += [one for one in (at_ns, at_ns + PAIR_NS[0], at_ns + PAIR_NS[1]) if tile.holds(one)]
    return instants


def _search(search: Search, prober: Prober, told: Told) -> None:
    waiting: set[Future[Probed]] = set()
    while not search.is_over:
        waiting |= {prober.ask(at_ns) for at_ns in search.propose(prober.jobs - len(waiting))}
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        for future in done:
            probe = future.result()
            prober.note(probe)
            search.add(probe)
        search.assume(shown_eps_ns(search))
        told(search)
