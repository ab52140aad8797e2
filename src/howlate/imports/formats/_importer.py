"""What a file of this folder gives: a foreign format, and what becomes of it: settings, or a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from howlate.errors import DamagedError, UsageError
from howlate.measure.execute import Failure
from howlate.model.run import Run
from howlate.store.stream import Recording
from howlate.system.opening import open_file
from howlate.words.say import statement_of
from howlate.words.statement import Statement

NO_MAP: Mapping[str, str] = MappingProxyType({})
"""Where `--map` says nothing."""


class Imported(Struct, frozen=True):
    """What a foreign file says, in howlate's own form."""

    text: str
    """TOML."""
    notes: tuple[str, ...] = ()
    """Sentences: what could not be carried over, and how to use the rest."""


class Importer(Struct, frozen=True):
    """A foreign format that becomes settings."""

    name: str
    summary: str
    knows: Callable[[str], bool]
    """Whether a text is of this format, by its content."""
    convert: Callable[[str, str], Imported]
    """Text and file name; UsageError names the file and the place of what is wrong."""

    def recognises(self, path: Path) -> bool:
        try:
            with open_file(path, links=True) as file:
                return self.knows(file.read(_LOOKED_AT).decode("utf-8", "ignore"))
        except OSError:
            return False


_LOOKED_AT = 1 << 20


class Measured(Struct, frozen=True):
    """What was measured elsewhere, as a run that still needs its statistics."""

    run: Run
    streams: Mapping[str, Path | Recording]
    """By the cell's id: the probe's stream, or what another tool recorded."""
    failures: tuple[Failure, ...] = ()
    """Cells that were begun there and not measured."""
    notes: tuple[str, ...] = ()
    """Sentences about single files."""
    damaged: bool = False
    """A stream breaks off because it was altered, and not because it was cut."""
    by_hand: bool = False
    """Nobody planned it: a measurement that was stopped is one, only shorter."""


class ReadRun(Protocol):
    """Reads files or folders into a run; nothing is written."""

    def __call__(
        self, paths: Sequence[Path], labels: Mapping[str, str], mapping: Mapping[str, str] = NO_MAP, /
    ) -> Measured:
        """`labels`: those that the caller gives; `mapping`: what `--map` says of the format. UsageError or
        DamagedError names the file that cannot be read."""


class RunImporter(Struct, frozen=True):
    """A format that becomes a run."""

    name: str
    summary: str
    recognises: Callable[[Path], bool]
    read: ReadRun
    maps: Sequence[str] = ()
    """The names that `--map` has for it, for help."""


def not_imported(path: Path, reason: object, remedy: str) -> UsageError:
    return UsageError(
        "{path} cannot be imported: {reason}", remedy="{hint}", path=path, reason=reason, hint=remedy
    )


def not_together(what: str) -> UsageError:
    """The error about paths that need an import each."""
    return UsageError("{what} cannot be imported together", remedy="import one after the other", what=what)


def same_measurement(path: object, other: object) -> Statement:
    """The error about a measurement that is there twice."""
    return statement_of(
        "{path} and {other} are the same measurement",
        remedy="name each measurement once",
        path=path,
        other=other,
    )


def date_of(seconds: float, path: Path) -> tuple[str, str]:
    """When what is imported was measured: seconds since 1970 as the beginning of a run's id, and as its `started`.
    DamagedError, with the file, if they are not a date."""
    try:
        moment = datetime.fromtimestamp(int(seconds), UTC)
    except (OverflowError, OSError, ValueError):
        raise DamagedError(
            "{path} is dated {seconds:number} s after 1970, outside of the years 1 to 9999",
            remedy="correct the date: `touch {path:shell}` sets it to now",
            seconds=seconds,
            path=path,
        ) from None
    text = moment.strftime("-%m-%dT%H:%M:%S")
    year = f"{moment.year:04d}"
    return f"{year}{text.replace('-', '').replace(':', '')}", f"{year}{text}Z"
