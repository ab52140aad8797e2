"""Connects the lab and the search of a landscape: probes are asked of a fork, several at once, and kept."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.lab.bench import Bench
from howlate.lab.problems import UNUSABLE
from howlate.model.cause import Lateness
from howlate.model.study import Part, Study, Value, spell
from howlate.prove.forked_part import AROUND_NS, ForkedPart
from howlate.prove.landscape import Goal, Probed, ReleaseWindow, Search
from howlate.prove.proof import Landscape, Proof, objections_of, shown_eps_ns
from howlate.replay.premises import ComparedPair, Throttling, Witness
from howlate.system.interrupts import result_of

CYCLIC, LOAD = "cyclic", "load"
PAIRS = 12
PAIR_NS = (97, 5_003)
"""Pairs of probes that are this far apart measure eps before the search."""
TILE_NS = 40_000_000
"""A longer window has several forks, so that every probe is near to one."""
AMID_NS, BEGUN_NS = 400, 400
"""A release this long after a tick comes during it, if there is one: something has interrupted it before this much
more has passed."""
AT_ONCE = 4
"""Probes of a search that are on their way, whatever the jobs and in whichever order they are answered: what is
probed next follows from the answers alone."""
_KEEP_EVERY = 25
_TELL_EVERY = 6
"""Probes before the search between two reports."""

Report = Callable[[Search], None]
"""How far a search is."""
Lines = Callable[[int], list[list[str]]]
"""The job of a single release that is planned `at_ns` after the window's origin."""


def loads_of(study: Study) -> tuple[str, ...]:
    """The loads of a study that measures wake-ups, each once; "none" where it names none."""
    pieces: Sequence[Study | Part] = study.parts or (study,)
    if any(piece.test != CYCLIC for piece in pieces):
        reason = f"it does not measure by {CYCLIC}, whose single releases are proved"
        raise UsageError(UNUSABLE(what=study.id, reason=reason, hint="name the loads with --load"))
    loads = [spell(value) for piece in pieces for value in _values(piece, LOAD)]
    return tuple(dict.fromkeys(loads)) or ("none",)


def _values(study: Study | Part, name: str) -> Sequence[Value]:
    if name in study.axes:
        return study.axes[name]
    return (study.settings[name],) if name in study.settings else ()


class Prober:
    """Answers probes of one landscape, each in a copy of a fork."""

    def __init__(
        self,
        bench: Bench,
        lines: Lines,
        window: ReleaseWindow,
        jobs: int,
        *,
        fresh: bool,
        throttling: Throttling | None = None,
    ) -> None:
        tiles = window.tiled(TILE_NS)
        self.window = window
        self.throttling = throttling
        self.parts = tuple(ForkedPart(bench, lines(tile.first_ns), tile, fresh=fresh) for tile in tiles)
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
        """One of each part. The releases that they are of are among the known ones then."""
        return [replace(part.witness(), throttling=self.throttling) for part in self.parts]

    def pairs(self) -> list[ComparedPair]:
        return [part.pair() for part in self.parts]

    def multiples_ns(self, draws: random.Random) -> list[list[int]]:
        """Of each part, instants at which the kernel may have ticks."""
        return [part.multiples_ns(draws) for part in self.parts]

    def shift_ns(self, tick_ns: int) -> int:
        """What a tick moves."""
        return self._part(tick_ns).shift_ns(tick_ns)

    def ask(self, at_ns: int, *, logged: bool = True) -> Future[Probed]:
        """The answer, at once if it is kept."""
        part = self._part(at_ns)
        known = part.known(at_ns, logged=logged)
        if known is not None:
            done: Future[Probed] = Future()
            done.set_result(known)
            return done
        part.fork()  # one at a time, and not by the threads that wait for it
        if logged:
            part.symbols()
        return self._pool.submit(part.logged if logged else part.probe, at_ns)

    def known(self) -> list[Probed]:
        """The answers that are kept of the window's instants, ascending."""
        return [probe for part in self.parts for probe in part.all_known()]

    @property
    def eps_ns(self) -> int:
        """The largest eps of the searches whose probes are kept."""
        return max(part.kept.eps_ns for part in self.parts)

    def keep_eps(self, eps_ns: int) -> None:
        for part in self.parts:
            if part.kept.eps_ns < eps_ns:
                part.kept.eps_ns = eps_ns
                part.kept.write()

    def why(self, probe: Probed) -> Lateness:
        """Where the time of a release that was asked went."""
        return self._part(probe.at_ns).why(probe)

    def note(self, probe: Probed) -> None:
        if not self._part(probe.at_ns).note(probe):
            return
        self.made += 1
        if self.made % _KEEP_EVERY == 0:
            self._write()

    def all(self, instants_ns: Iterable[int], *, logged: bool = True) -> list[Probed]:
        """The answers to all, in order."""
        answers = [result_of(future) for future in [self.ask(at_ns, logged=logged) for at_ns in instants_ns]]
        for probe in answers:
            self.note(probe)
        return answers

    def _part(self, at_ns: int) -> ForkedPart:
        return next((part for part in self.parts if at_ns < part.window.end_ns), self.parts[-1])

    def _write(self) -> None:
        for part in self.parts:
            part.kept.write()


def _nothing(_: Search) -> None:
    """Who looks at no search."""


def prove(
    of: Landscape,
    goal: Goal,
    checks: int,
    prober: Prober,
    told: Report = _nothing,
    begins: Report = _nothing,
    *,
    late: bool = False,
) -> Proof:
    """Ask for the witnesses, search, check at random instants and by state, explain the worst cases. `begins` is told
    once, when all that is asked before the search has been, if that has not answered the question.

    A bound to which the witnesses object is not searched for. A deadline that is missed, or the late releases
    themselves (`late`), are: those need no premise.

    Equal questions ask equal probes, and all that is kept is in the search from its first step on: a question that is
    asked again asks no probe, and has the same answer.
    """
    witnesses = prober.witnesses()
    search = Search(prober.window, goal, prober.eps_ns, prober.tiles)
    for probe in prober.known():
        search.know(probe)
    if objections_of(witnesses, of.parameters) and not (goal.deadline_ns or late):
        proof = _unsearched(of, search, witnesses)
    else:
        draws = random.Random(f"{of.kernel} {of.load} {prober.window}")
        _prepare(search, prober, draws, told)
        search.assume(shown_eps_ns(search))
        if not search.refuted:
            begins(search)
        _search(search, prober, told)
        proof = _checked(of, search, checks, prober, witnesses)
    return replace(proof, why=prober.why(proof.latest))


def _unsearched(of: Landscape, search: Search, witnesses: Sequence[Witness]) -> Proof:
    """The proof before a search. No release is compared with the bounds, which hold for no eps yet."""
    search.assume(shown_eps_ns(search))
    return replace(Proof.of_search(of, search, (), witnesses), beside=0, above=())


def _checked(
    of: Landscape, search: Search, checks: int, prober: Prober, witnesses: Sequence[Witness]
) -> Proof:
    drawn = drawn_checks(of, prober.window, checks)
    checked = prober.all(drawn, logged=False) if not search.refuted else []
    for probe in checked:
        search.beside.setdefault(probe.at_ns, probe)
    if search.refuted:  # by a check perhaps: what else was asked on the way to it is no part of the answer
        search.ticks_met = search.ticks_ns = 0
        search.eps_ns = max(prober.eps_ns, shown_eps_ns(search))
        return Proof.of_search(of, search, (), witnesses)
    prober.keep_eps(search.eps_ns)
    return Proof.of_search(of, search, checked, witnesses, prober.pairs())


def drawn_checks(of: Landscape, window: ReleaseWindow, checks: int) -> list[int]:
    """The first of an endless row of random instants: more of them are these and others."""
    draws = random.Random(f"checks {of.kernel} {of.load} {window}")
    return [draws.randrange(window.first_ns, window.end_ns) for _ in range(checks)]


def _prepare(search: Search, prober: Prober, draws: random.Random, told: Report) -> None:
    """What is asked before the search, as far as nothing that is known decides the question already."""
    edges = [tile.first_ns for tile in search.tiles]  # else no probe stands left of a part's first stretch
    first = [*edges, *_pairs(draws, search.tiles)]
    for at in range(0, len(first), _TELL_EVERY):
        if search.refuted:
            return
        for probe in prober.all(first[at : at + _TELL_EVERY]):
            search.add(probe)
        told(search)
    for looked_ns in prober.multiples_ns(draws):
        if search.refuted:
            return
        _meet_ticks(search, prober, looked_ns)
        told(search)


def _meet_ticks(search: Search, prober: Prober, multiples_ns: Sequence[int]) -> None:
    """Releases that meet ticks, which few of a search's do; and what a tick moves."""
    looked = prober.all(at_ns + AMID_NS for at_ns in multiples_ns)
    ticks_ns = [
        at_ns
        for at_ns, probe in zip(multiples_ns, looked, strict=True)
        if probe.path is not None and any(each.from_ns < BEGUN_NS for each in probe.path.interruptions)
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


def _search(search: Search, prober: Prober, told: Report) -> None:
    """Answers are taken in the order of their questions."""
    waiting: deque[Future[Probed]] = deque()
    while not search.is_over:
        waiting += [prober.ask(at_ns) for at_ns in search.propose(AT_ONCE - len(waiting))]
        probe = result_of(waiting.popleft())
        prober.note(probe)
        search.add(probe)
        search.assume(shown_eps_ns(search))
        told(search)
