"""A part of a window whose releases are asked of copies of one fork (docs/lab/prove.md). Their answers are kept in a
file of the cache."""

from __future__ import annotations

import dataclasses
import random
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from howlate.errors import TargetError
from howlate.lab.archive.packages import Say, silent
from howlate.lab.bench import Bench
from howlate.lab.cache import read_sealed_json, say_changed, storing, write_sealed_json
from howlate.lab.guests.fork import Fork
from howlate.lab.guests.single import SingleWords
from howlate.lab.guests.watch import Limits
from howlate.lab.replay import (
    CLOCK_STEPS_NS,
    LOG_LEAD_NS,
    STAMP_NOT_FOUND,
    counts_of,
    execution_of,
    most_off_ns,
    stamp_readings,
    symbols_of,
)
from howlate.model.cause import Lateness
from howlate.prove.landscape import Probed, ReleaseWindow
from howlate.prove.same_state import unexplained
from howlate.replay.execution import Execution
from howlate.replay.instructions import AMD64
from howlate.replay.lateness import lateness_of
from howlate.replay.log import LoggedSpan, LogPlan
from howlate.replay.premises import ComparedPair, Witness
from howlate.replay.release_path import PATH_FORMAT, ReleasePath, release_path
from howlate.replay.symbols import Symbols
from howlate.replay.tick_shift import COMPARED_NS, shift_ns
from howlate.words.statement import message

LEAST_LOGGED_NS = 10_000
"""What is logged before the release, to know during which interrupt it came."""
_NEAR_NS = 2_000
"""How exactly a fork knows when its guest reads which time."""
_EVER = 1 << 62


class LoggedRelease(Struct, frozen=True):
    """What was executed; `release_ns` by the machine's clock, `stamp` the instruction that read the time stamp."""

    words: SingleWords
    execution: Execution
    release_ns: int
    stamp: int
    off_ns: int
    """How much later the machine's clock showed the time stamp than the fork's clock and the guest's latency do."""


def logged_release(
    bench: Bench,
    symbols: Symbols,
    fork: Fork,
    instant_ns: int,
    lead_ns: int = LEAST_LOGGED_NS,
    off_ns: int = 0,
) -> LoggedRelease:
    """The release at an instant of the guest's CLOCK_MONOTONIC, logged from so long before it. `off_ns`: that of
    another release of the fork, if one is known."""
    plan = LogPlan(
        (LoggedSpan(fork.machine_ns(instant_ns) - lead_ns, _EVER),),
        switches=symbols.address("__switch_to"),
        counts=counts_of(symbols) if bench.kernel.arch == AMD64 else (0, 0),
    )
    words, log = fork.logged(instant_ns, plan)
    execution = execution_of(bench, symbols, log)
    places, times_ns = stamp_readings(execution)
    each_off_ns = times_ns - fork.machine_ns(instant_ns + words.latency_ns)
    if not len(places) or np.abs(each_off_ns).min() > _NEAR_NS:
        raise TargetError(STAMP_NOT_FOUND(cell=bench.label))
    nearest = int(np.abs(each_off_ns - off_ns).argmin())
    shown_ns = int(times_ns[nearest])
    shown_ns -= shown_ns % CLOCK_STEPS_NS[bench.kernel.arch]
    release_ns, off_ns = shown_ns - words.latency_ns, int(each_off_ns[nearest])
    return LoggedRelease(words, execution, release_ns, int(places[nearest]), off_ns)


KEPT_FORMAT = f"{PATH_FORMAT}.4"
"""Changes with the code that reads a path out of a log, compares guests, measures what a tick moves, or asks a
witness: what it said before is not taken for what it says now. A latency is the guest's own, and is kept."""
AGAIN = "its releases are asked again"


class KeptProbes(Struct):
    """The probes of one fork, in a file by the fork's key. A search that is asked again, or for more, costs only what
    is new."""

    path: Path
    planned_ns: int = 0
    latencies_ns: dict[int, int] = field(default_factory=dict)
    paths: dict[int, ReleasePath] = field(default_factory=dict)
    witnesses: dict[int, Witness] = field(default_factory=dict)
    """By the instant of their release: windows of several lengths begin with one fork, and a witness does not cover
    what comes after its release."""
    pair: ComparedPair | None = None
    shifts_ns: dict[int, int] = field(default_factory=dict)
    """By the instant of a tick: what it moves (replay/tick_shift.py)."""
    eps_ns: int = 0
    """The largest that a search had with these probes: it may have been shown by two that have others between them
    now."""

    @classmethod
    def read(cls, path: Path, *, fresh: bool, say: Say = silent) -> KeptProbes:
        """Nothing where the file is missing or, which is said, damaged."""
        import msgspec

        value = None if fresh else read_sealed_json(path, say, AGAIN)
        try:
            value = value or {}
            if value.get("format") != KEPT_FORMAT:
                latencies_ns = value.get("latencies_ns", value.get("probes", {}))  # an older howlate's name
                value = {"planned_ns": value.get("planned_ns", 0), "latencies_ns": latencies_ns}
            return msgspec.convert(
                {**value, "path": str(path)}, cls, str_keys=True, dec_hook=lambda kind, text: kind(text)
            )
        except (AttributeError, msgspec.ValidationError):
            say_changed(path, say, AGAIN)
            return cls(path)

    def write(self) -> None:
        """The whole file or nothing."""
        import msgspec

        with storing(self.path):
            value = msgspec.to_builtins(self, str_keys=True, enc_hook=str)
            write_sealed_json(self.path, {**value, "format": KEPT_FORMAT})


UNEQUAL = message(
    "lab.unequal-forks",
    "two forks of one guest differ: {what} {again_ns:exact}, before {before_ns:exact}",
    remedy="remove {path}, and report it: equal inputs should give equal guests",
)

LEAST_LEAD_NS = 1_000_000
"""From the stop to the window at least."""
APART_POWERS, BEFORE_POWER, SOON_NS = (2, 4), 5.5, 2_000
"""Two guests that are compared wait for instants 10^2 to 10^4 ns apart, and are stopped 2 us before the first, and
up to 10^5.5 ns earlier."""
TICKS_NS = 1_000_000
"""A kernel's ticks are at multiples of this."""
LOOKED_AT = 10
"""Instants of each part that are examined."""
AROUND_NS = (-4_000, -2_500, -1_500, -700, -200, 0, 1_200)
"""Where releases meet a tick: on their way, in their interrupt, and during the tick's."""
ACROSS_NS = 20_000
"""From a tick to each of the two releases that tell what it moves."""
CPU_S = 600.0


class ForkedPart:
    """A part of the window with a fork of its own, which is made when the first probe of it is missing."""

    def __init__(self, bench: Bench, lines: list[list[str]], window: ReleaseWindow, *, fresh: bool) -> None:
        self.window = window
        self._bench, self._lines = bench, lines
        self._symbols: Symbols | None = None
        place = bench.cache / "landscapes" / f"{bench.fork_key(lines)}.json"
        self.kept = KeptProbes.read(place, fresh=fresh, say=bench.say)
        self._held = ExitStack()
        self._fork: Fork | None = None
        self._clocks_off: tuple[int, int] | None = None
        """Of the first logged release: its instant, and `LoggedRelease.off_ns`."""

    def close(self) -> None:
        self._held.close()

    def known(self, at_ns: int, *, logged: bool) -> Probed | None:
        """An answer that is kept, with its log's summary if that is wanted."""
        place_ns = at_ns - self.window.first_ns
        latency_ns, path = self.kept.latencies_ns.get(place_ns), self.kept.paths.get(place_ns)
        return None if latency_ns is None or (logged and path is None) else Probed(at_ns, latency_ns, path)

    def all_known(self) -> list[Probed]:
        """The answers that are kept of the part's own instants, ascending."""
        begin_ns = self.window.first_ns
        known = (
            Probed(begin_ns + at, ns, self.kept.paths.get(at)) for at, ns in self.kept.latencies_ns.items()
        )
        return sorted(probe for probe in known if self.window.holds(probe.at_ns))

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
                raise TargetError(
                    "the measuring task stopped {left_ns:time} before the window, and {least_ns:time} are "
                    "needed",
                    remedy="choose a later --begin: before it the guest lists its tasks, which takes 0.1 ms "
                    "a task or more",
                    left_ns=left_ns,
                    least_ns=LEAST_LEAD_NS,
                )
            if self.kept.planned_ns not in (0, words.planned_ns):
                kept_ns = self.kept.planned_ns
                raise TargetError(
                    UNEQUAL(what="release", again_ns=words.planned_ns, before_ns=kept_ns, path=self.kept.path)
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
        return dataclasses.replace(_checked(logged.words, at_ns), path=path)

    def why(self, probe: Probed) -> Lateness:
        """Where the time of a release went; it is as late as before."""
        logged = self._logged(probe.at_ns, LOG_LEAD_NS)
        if logged.words.latency_ns != probe.latency_ns:
            again_ns = logged.words.latency_ns
            raise TargetError(
                UNEQUAL(what="latency", again_ns=again_ns, before_ns=probe.latency_ns, path=self.kept.path)
            )
        return lateness_of(logged.execution, logged.release_ns, probe.latency_ns, logged.stamp)

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
        """What a tick moves: of two releases around it, before the earlier one. They may be outside of the part: a
        copy of its fork waits for any instant. Kept with the probes."""
        one_ns, later_ns, place_ns = tick_ns - ACROSS_NS, tick_ns + ACROSS_NS, tick_ns - self.window.first_ns
        if place_ns not in self.kept.shifts_ns:
            one = self._logged(one_ns)
            later = self._logged(later_ns, 2 * ACROSS_NS + COMPARED_NS + LEAST_LOGGED_NS)
            shifted_ns = shift_ns(one.execution, one.release_ns, later.execution)
            self.kept.shifts_ns[place_ns] = shifted_ns
            self.kept.write()
        return self.kept.shifts_ns[place_ns]

    def symbols(self) -> Symbols:
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
        ends_ns = () if kept is None else (begin_ns + kept.first_ns, begin_ns + kept.later_ns)
        if kept is None or not any(map(self.window.holds, ends_ns)):
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
        drawn_ns = draws.randrange(self.window.first_ns, self.window.end_ns)
        apart_ns = round(10 ** draws.uniform(*APART_POWERS)) | 1
        later_ns = drawn_ns + apart_ns
        if self._instant_ns(drawn_ns) // TICKS_NS == self._instant_ns(later_ns) // TICKS_NS:
            return drawn_ns, later_ns, before_ns
        return drawn_ns - apart_ns, drawn_ns, before_ns

    def _instant_ns(self, at_ns: int) -> int:
        return self.fork().words.planned_ns + at_ns - self.window.first_ns


def _checked(words: SingleWords, at_ns: int) -> Probed:
    if words.early:
        raise TargetError("woken up before the release at {at_ns:exact}", at_ns=at_ns)
    return Probed(at_ns, words.latency_ns)
