"""Retries over a connection that breaks, or is made and breaks at once: with growing pauses and a time limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from msgspec import Struct

from howlate.errors import TargetError
from howlate.targets._link import LINK, LinkError, is_lost
from howlate.words.statement import message

LOST = message("target.connection-lost", "{problem}; the cell's samples are still there")

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 15.0
"""The pause between two tries doubles from the first value to the second. The first try after a connection
that held comes at once."""
Given = TypeVar("Given")


class Clock:
    """The clock for pauses and limits."""

    def now(self) -> float:
        """Seconds since some instant."""
        return time.monotonic()

    def pause(self, seconds: float, stopped: threading.Event) -> bool:
        """Wait; return whether it was stopped meanwhile."""
        return stopped.wait(seconds)


class Connection(Protocol):
    """A connection that can be made again."""

    @property
    def host(self) -> str: ...

    @property
    def by_hand(self) -> str: ...

    def connect(self) -> None: ...

    def drop(self) -> None: ...


class Tries:
    """Work that is repeated over as many connections as necessary."""

    def __init__(
        self,
        link: Connection,
        say: Callable[[str], None],
        stopped: threading.Event,
        keep_s: float,
        clock: Clock,
    ) -> None:
        self._link, self._say, self._stopped, self._keep_s, self._clock = link, say, stopped, keep_s, clock
        self._away = False
        """The machine could not be reached for a long time: the next work is tried once."""
        self._breaks: set[str] = set()
        """Work over which connections broke for a long time: it is tried once, until it succeeds once."""

    def over(
        self, what: str, once: Callable[[], Given], planned_end: float, got: Callable[[], float]
    ) -> Given:
        """The result of `once` when a connection holds for it. `got`: how much has come so far. TargetError
        if nothing new has come for a long time: until `keep_s` after the last break that was preceded by
        something new, or after `planned_end`."""
        spell = _Spell()
        while True:
            began, made = self._clock.now(), False
            try:
                if spell.tries:
                    self._link.drop()
                    self._link.connect()
                made = True
                given = once()
            except LinkError as problem:
                if not is_lost(problem):
                    self._away = not made
                    raise problem if made else self._lost(problem) from None
                why = problem
            else:
                self._away = False
                self._breaks.discard(what)
                return given
            if not spell.tries:
                self._say(
                    f"{why.message}; the cell continues there, and its samples are fetched after reconnecting"
                )
            now = self._clock.now()
            spell.broke(now, now - began if made else 0.0, got())
            hopeless = self._away or what in self._breaks
            if hopeless or now >= max(spell.since, planned_end) + self._keep_s:
                raise self._given_up(what, made=made, spell=spell, now=now, why=why)
            if spell.pause_s and self._clock.pause(spell.pause_s, self._stopped):
                raise KeyboardInterrupt

    def _given_up(self, what: str, *, made: bool, spell: _Spell, now: float, why: LinkError) -> TargetError:
        self._link.drop()
        if not made:
            self._away = True
        elif spell.tries > 1:
            self._breaks.add(what)
            return self._unkept(spell, now)
        return self._lost(why)

    def _lost(self, why: LinkError) -> TargetError:
        return TargetError(LOST(problem=why.statement))

    def _unkept(self, spell: _Spell, now: float) -> TargetError:
        reason = f"it accepts connections but drops them immediately ({spell.tries} tries"
        reason += f", nothing new for {now - spell.since:.0f} s)"
        hint = f"check by hand what ends them: `{self._link.by_hand} sleep 60`, and sshd's log there"
        return TargetError(LOST(problem=LINK(host=self._link.host, reason=reason, hint=hint)))


class _Spell(Struct):
    """A series of breaks."""

    tries: int = 0
    pause_s: float = 0.0
    """The pause before the next try."""
    most: float = -1.0
    since: float = 0.0
    """Nothing new has come since this break."""

    def broke(self, now: float, held_s: float, got: float) -> None:
        held = not self.tries or held_s >= LONGEST_PAUSE_S
        self.pause_s = 0.0 if held else min(LONGEST_PAUSE_S, max(FIRST_PAUSE_S, 2 * self.pause_s))
        self.tries += 1
        if got > self.most:
            self.most, self.since = got, now
