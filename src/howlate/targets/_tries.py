"""Tries over a connection that breaks, or is made and breaks at once: with pauses that grow, and with an end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from howlate.errors import TargetError
from howlate.targets._link import LinkError, is_lost

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 15.0
"""Between two tries: doubled from the one to the other. The first try after a connection that held comes at once."""
Given = TypeVar("Given")


class Clock:
    """What pauses and limits go by."""

    def now(self) -> float:
        """Seconds from some instant on."""
        return time.monotonic()

    def pause(self, seconds: float, stopped: threading.Event) -> bool:
        """Whether it was stopped meanwhile."""
        return stopped.wait(seconds)


class Connection(Protocol):
    """What is made again."""

    @property
    def host(self) -> str: ...

    @property
    def by_hand(self) -> str: ...

    def connect(self) -> None: ...

    def drop(self) -> None: ...


class Tries:
    """What has to be done over as many connections as it takes."""

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
        """The machine could not be reached for long: what comes next is tried once."""
        self._breaks: set[str] = set()
        """What connections broke over for long: it is tried once, until it is done once."""

    def over(
        self, what: str, once: Callable[[], Given], planned_end: float, got: Callable[[], float]
    ) -> Given:
        """What `once` gives when a connection holds for it. `got`: how much has come so far. TargetError if nothing
        new has come for long: until `keep_s` after the last break that something came before, or after `planned_end`.
        """
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
                    f"{why.message}; the cell goes on there, and its samples are fetched when it can be reached again"
                )
            now = self._clock.now()
            spell.broke(now, now - began if made else 0.0, got())
            hopeless = self._away or what in self._breaks
            if hopeless or now >= max(spell.since, planned_end) + self._keep_s:
                raise self._given_up(what, made, spell, now, why)
            if spell.pause_s and self._clock.pause(spell.pause_s, self._stopped):
                raise KeyboardInterrupt

    def _given_up(self, what: str, made: bool, spell: _Spell, now: float, why: LinkError) -> TargetError:
        self._link.drop()
        if not made:
            self._away = True
        elif spell.tries > 1:
            self._breaks.add(what)
            return self._unkept(spell, now)
        return self._lost(why)

    def _lost(self, why: LinkError) -> TargetError:
        remedy = why.remedy or f"see by hand that a connection holds: `{self._link.by_hand}`"
        return TargetError(f"{why.message}, and the cell's samples are there", remedy)

    def _unkept(self, spell: _Spell, now: float) -> TargetError:
        return TargetError(
            f"connections to {self._link.host} can be made and break at once ({spell.tries} tries, nothing new for "
            f"{now - spell.since:.0f} s), and the cell's samples are there",
            f"see by hand what ends them: `{self._link.by_hand} sleep 60`, and what sshd there says of it",
        )


@dataclass
class _Spell:
    """Breaks, one after the other."""

    tries: int = 0
    pause_s: float = 0.0
    """Before the next try."""
    had: float = -1.0
    since: float = 0.0
    """Nothing new has come since this break."""

    def broke(self, now: float, held_s: float, got: float) -> None:
        held = not self.tries or held_s >= LONGEST_PAUSE_S
        self.pause_s = 0.0 if held else min(LONGEST_PAUSE_S, max(FIRST_PAUSE_S, 2 * self.pause_s))
        self.tries += 1
        if got > self.had:
            self.had, self.since = got, now
