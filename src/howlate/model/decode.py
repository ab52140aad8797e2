"""Reading TOML and JSON strictly: each error is a sentence with the file, the place and the remedy."""

from __future__ import annotations

import difflib
import json
import stat
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howlate.errors import DamagedError, HowlateError, UsageError

_KIND = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}
_WRITTEN = {str: '"..."', bool: "true", int: "1", float: "0.5", list: "[...]", dict: "{ ... }"}


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant, or None."""
    known = sorted(set(names))
    found = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if found:
        return found[0]
    longer = [n for n in known if len(name) >= 3 and (n.startswith(name) or name.startswith(n))]
    return longer[0] if longer else None


def suggestion(name: str, names: Iterable[str]) -> str:
    """A remedy for an unknown name: the nearest one, else all of them."""
    known = sorted(set(names))
    near = nearest(name, known)
    if near is not None:
        return f'did you mean "{near}"?'
    return "known are: " + ", ".join(known) if known else ""


def kind_of(value: object) -> str:
    """The kind of a decoded value, in words."""
    for kind in (bool, int, float, str, list, dict):
        if isinstance(value, kind):
            return _KIND[kind]
    return "nothing" if value is None else type(value).__name__


@dataclass(frozen=True)
class Table:
    """A table (TOML) or object (JSON) at a known place of a known file."""

    values: Mapping[str, Any]
    file: str
    place: str = ""
    error: type[HowlateError] = UsageError

    def fail(self, what: str, remedy: str = "") -> HowlateError:
        """The error to raise about this table."""
        where = f"{self.file}, {self.place}" if self.place else self.file
        return self.error(f"{where}: {what}", remedy)

    def only(self, *names: str) -> None:
        """Refuses keys that are not known here."""
        for key in self.values:
            if key not in names:
                raise self.fail(f'unknown key "{key}"', suggestion(key, names))

    def _typed(self, name: str, kind: type, fallback: Any, required: bool) -> Any:
        if name not in self.values:
            if required:
                remedy = f"add {name}, {_KIND[kind]}" if self.error is UsageError else ""
                raise self.fail(f'the key "{name}" is missing', remedy)
            return fallback
        value = self.values[name]
        if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**1000:
            return float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            remedy = f"write {name} = {_WRITTEN[kind]}" if self.error is UsageError else ""
            raise self.fail(f'"{name}" must be {_KIND[kind]}, not {kind_of(value)}', remedy)
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise self.fail(f'"{name}" is out of range', "write a whole number of 64 bits")
        return value

    def text(self, name: str, fallback: str | None = None) -> str:
        return str(self._typed(name, str, fallback, fallback is None))

    def integer(self, name: str, fallback: int | None = None) -> int:
        return int(self._typed(name, int, fallback, fallback is None))

    def real(self, name: str, fallback: float | None = None) -> float:
        return float(self._typed(name, float, fallback, fallback is None))

    def boolean(self, name: str, fallback: bool | None = None) -> bool:
        return bool(self._typed(name, bool, fallback, fallback is None))

    def items(self, name: str, required: bool = False) -> list[Any]:
        return list(self._typed(name, list, [], required))

    def mapping(self, name: str, required: bool = False) -> dict[str, Any]:
        return dict(self._typed(name, dict, {}, required))

    def table(self, name: str, required: bool = False) -> Table:
        place = f"{self.place}.{name}" if self.place else name
        return Table(self.mapping(name, required), self.file, place, self.error)

    def tables(self, name: str, required: bool = False) -> list[Table]:
        """A list of tables."""
        place = f"{self.place}.{name}" if self.place else name
        found = []
        for index, value in enumerate(self.items(name, required), 1):
            if not isinstance(value, dict):
                raise self.fail(f'each of "{name}" must be a table, not {kind_of(value)}')
            found.append(Table(value, self.file, f"{place}[{index}]", self.error))
        return found


_TEXT_BYTES_MAX = 256 << 20


def read_text(path: Path, error: type[HowlateError]) -> str:
    """A whole regular file as text, or one sentence; a pipe or a device would never end."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            raise error(f"{path} is not a regular file", "name a file, not a pipe or a device")
        if status.st_size > _TEXT_BYTES_MAX:
            raise error(f"{path} has {status.st_size >> 20} MiB, more than any file of howlate's")
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise error(f"{path} is not there", _remedy(error, "see its name for a slip")) from None
    except UnicodeDecodeError:
        raise error(f"{path} is not UTF-8 text", _remedy(error, "name a text file")) from None
    except OSError as problem:
        remedy = _remedy(error, "name a file that you may read")
        raise error(f"{path} cannot be read ({problem.strerror})", remedy) from None


def _remedy(error: type[HowlateError], words: str) -> str:
    """For what a user named; what howlate wrote itself has a remedy where it is read."""
    return words if error is UsageError else ""


def parse_toml(text: str, file: str, parse_float: Callable[[str], Any] = float) -> Table:
    """A study's or settings' text; syntax errors carry line and column. `parse_float` as Decimal keeps the digits of
    numbers as they are written."""
    try:
        return Table(tomllib.loads(text, parse_float=parse_float), file)
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(f"{file} is not TOML: {problem}", "mend what stands there") from None
    except (ValueError, RecursionError):  # digits without end, brackets in brackets
        raise UsageError(
            f"{file} holds a number or a nesting that is too long", "write numbers of at most 18 digits"
        ) from None


def parse_json(text: str, file: str, error: type[HowlateError] = DamagedError) -> Table:
    """A JSON object that howlate or its probe wrote."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise error(f"{file} is not JSON ({problem})") from None
    if not isinstance(value, dict):
        raise error(f"{file} holds {kind_of(value)} where an object was expected")
    return Table(value, file, "", error)
