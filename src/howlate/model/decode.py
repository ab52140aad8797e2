"""Reading TOML and JSON strictly: each error is a sentence with the file, the place and the remedy."""

from __future__ import annotations

import json
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, to_builtins

from howlate.errors import REMEDIED, DamagedError, HowlateError, UsageError
from howlate.system.opening import NotRegularError, TooLargeError, read_bytes
from howlate.words.say import from_json, statement_of
from howlate.words.statement import VERBATIM, Statement, message

NEAREST = message("decode.nearest", 'did you mean "{name}"?')
KNOWN = message("decode.known", "choose one of {names:all}")
IN_FILE = message("decode.in-file", "{file}: {problem}")
UNKNOWN = message("decode.unknown", 'there is no {what} "{name}"', remedy="{hint}")
UNKNOWN_KEY = message("decode.unknown-key", 'unknown key "{key}"', remedy="{hint}")
MISSING_KEY = message("decode.missing-key", 'the key "{key}" is missing', remedy="add {key}, {kind}")
WRONG_VALUE = message(
    "decode.wrong-value", '"{key}" must be {kind}, not {given}', remedy="write {key} = {example}"
)
WRONG_OPTION = message(
    "decode.wrong-option", "{option} must be {kind}, not {given}", remedy="write {option} {example}"
)
NOT_WITH = message("decode.not-with", "{option} does not go with {other}", remedy="leave {option} out")
NOT_A_PAIR = message(
    "decode.not-a-pair", '{option} "{text}" is not NAME=VALUE: {reason}', remedy="write {option} {example}"
)
NO_FILE = message("decode.no-file", "{path} does not exist", remedy="check the name for a typing error")
UNREADABLE = message(
    "decode.unreadable", "{path} cannot be read: {reason}", remedy="name a regular file that you may read"
)
SYNTAX = message("decode.syntax", "{file} is not {format}: {reason}", remedy="correct the file there")
UNKNOWN_SCHEMA = message(
    "decode.unknown-schema", "this howlate does not know schema {schema}", remedy="use a newer howlate"
)

NOT_REGULAR = "it is not a regular file"

LONG_NUMBER = re.compile(r"[0-9A-Fa-f_]{16}")
"""What may be more than 64 bits."""
DEEPEST = 200
"""Lists and objects in one another; howlate's own files have fewer than ten."""
_DEEP_KEY = re.compile(rf"""(?<![\w"'-])(?:[\w"'-]+[ \t]*\.[ \t]*){{{DEEPEST}}}""")
"""A key of as many tables in one another."""
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
    import difflib

    known = sorted(set(names))
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return close[0]
    longer = [n for n in known if len(name) >= 3 and (n.startswith(name) or name.startswith(n))]
    return longer[0] if longer else None


def suggestion(name: str, names: Iterable[str]) -> Statement | str:
    """A remedy for an unknown name: the nearest name, else all of them; "" if there is none."""
    known = sorted(set(names))
    near = nearest(name, known)
    if near is not None:
        return NEAREST(name=near)
    return KNOWN(names=known) if known else ""


def unknown(what: str, name: str, names: Iterable[str]) -> Statement:
    return UNKNOWN(what=what, name=name, hint=suggestion(name, names))


def twice(what: str, name: str, remedy: str) -> Statement:
    return statement_of(
        'the {what} "{name}" is given twice', remedy="{hint}", what=what, name=name, hint=remedy
    )


def kind_of(value: object) -> str:
    for kind in (bool, int, float, str, list, dict):
        if isinstance(value, kind):
            return _KIND[kind]
    return "nothing" if value is None else type(value).__name__


class Table(Struct, frozen=True):
    """A table (TOML) or object (JSON) at a known place of a known file."""

    values: Mapping[str, Any]
    file: str
    place: str = ""
    error: type[HowlateError] = UsageError

    def fail(self, problem: Statement | str, /, *, remedy: str = "", **values: Any) -> HowlateError:
        stated = statement_of(problem, remedy=remedy, **values)
        where = f"{self.file}, {self.place}" if self.place else self.file
        return self.error(IN_FILE(file=where, problem=stated))

    def wrong(self, key: str, kind: str, example: str, given: str = "") -> HowlateError:
        """The error about a value that must be `kind`; `given` describes it, "" for a text or a number."""
        given = given or json.dumps(self.values[key], ensure_ascii=False)
        return self.fail(_for(self.error, WRONG_VALUE(key=key, kind=kind, given=given, example=example)))

    def only(self, *names: str) -> None:
        for key in self.values:
            if key not in names:
                raise self.fail(UNKNOWN_KEY(key=key, hint=suggestion(key, names)))

    def _typed(self, name: str, kind: type, fallback: Any, *, required: bool) -> Any:
        if name not in self.values:
            if required:
                raise self.fail(_for(self.error, MISSING_KEY(key=name, kind=_KIND[kind])))
            return fallback
        value = self.values[name]
        if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**1000:
            return float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.wrong(name, _KIND[kind], _WRITTEN[kind], kind_of(value))
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise self.wrong(name, "a number of 64 bits", _WRITTEN[kind], "a longer one")
        return value

    def text(self, name: str, fallback: str | None = None) -> str:
        return str(self._typed(name, str, fallback, required=fallback is None))

    def integer(self, name: str, fallback: int | None = None) -> int:
        return int(self._typed(name, int, fallback, required=fallback is None))

    def real(self, name: str, fallback: float | None = None) -> float:
        return float(self._typed(name, float, fallback, required=fallback is None))

    def boolean(self, name: str, *, fallback: bool | None = None) -> bool:
        return bool(self._typed(name, bool, fallback, required=fallback is None))

    def items(self, name: str, *, required: bool = False) -> list[Any]:
        return list(self._typed(name, list, [], required=required))

    def mapping(self, name: str, *, required: bool = False) -> dict[str, Any]:
        return dict(self._typed(name, dict, {}, required=required))

    def table(self, name: str, *, required: bool = False) -> Table:
        place = f"{self.place}.{name}" if self.place else name
        return Table(self.mapping(name, required=required), self.file, place, self.error)

    def tables(self, name: str, *, required: bool = False) -> list[Table]:
        place = f"{self.place}.{name}" if self.place else name
        tables = []
        for index, value in enumerate(self.items(name, required=required), 1):
            if not isinstance(value, dict):
                raise self.wrong(name, "a list of tables", "[{ ... }]", f"one with {kind_of(value)}")
            tables.append(Table(value, self.file, f"{place}[{index}]", self.error))
        return tables


def read_text(
    path: Path, error: type[HowlateError], check: Callable[[os.stat_result], None] | None = None
) -> str:
    """The text of a whole regular file, or an error; reading a pipe or a device would never end. Links are followed
    to what a user named, not to howlate's own files."""
    try:
        if error is not UsageError:
            return read_bytes(path).decode("utf-8")
        text = read_bytes(path, links=True, check=check).decode("utf-8")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise error(_for(error, NO_FILE(path=path))) from None
    except NotRegularError:
        reason = NOT_REGULAR
    except TooLargeError:
        reason = f"it has {path.stat().st_size >> 20} MiB, more than any of howlate's files"
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    except OSError as problem:
        reason = problem.strerror or str(problem)
    raise error(_for(error, UNREADABLE(path=path, reason=reason)))


def _for(error: type[HowlateError], problem: Statement) -> Statement:
    """Only a file that a user wrote is corrected by its user; for howlate's own files the reader names a
    remedy."""
    return problem if error is UsageError else REMEDIED(problem=problem, remedy="")


def parse_toml(text: str, file: str, parse_float: Callable[[str], Any] = float) -> Table:
    """The text of a study or of settings; syntax errors carry line and column. `parse_float` as Decimal keeps
    the digits of numbers as they are written."""
    import tomllib  # a run has none

    try:
        if _DEEP_KEY.search(text):  # each part of a key costs memory for all before it
            raise RecursionError
        values = tomllib.loads(text, parse_float=parse_float)
        if LONG_NUMBER.search(text):
            import msgspec

            msgspec.msgpack.encode(values)
        return Table(values, file)
    except tomllib.TOMLDecodeError as problem:
        raise UsageError(SYNTAX(file=file, format="TOML", reason=problem)) from None
    except (ValueError, OverflowError, RecursionError):  # digits without end, nested brackets
        reason = "a number has more than 18 digits, or too many brackets are nested"
        raise UsageError(SYNTAX(file=file, format="TOML", reason=reason)) from None


def json_value(text: str | bytes) -> Any:
    """JSON from outside: valid text, whole numbers of 64 bits, finite numbers, DEEPEST times nested at most. A
    ValueError for anything else."""
    import msgspec

    try:
        value = msgspec.json.decode(text)
        msgspec.msgpack.encode(value)  # refuses longer numbers, for a fifth of what a look at each costs
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError) as problem:
        raise ValueError(str(problem).removeprefix("JSON is malformed: ")) from None
    if _openers(text) > DEEPEST and _is_deep(value):
        raise ValueError(f"it is nested more than {DEEPEST} times")
    return value


def json_text(value: Mapping[str, Any], indent: int | None = 1) -> str:
    """The text of a JSON file. json.dumps indents in Python, one member after the other."""
    import msgspec

    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return (text if indent is None else msgspec.json.format(text, indent=indent)) + "\n"


def _openers(text: str | bytes) -> int:
    """How many lists and objects may begin in it: it is nested no deeper."""
    return text.count("[") + text.count("{") if isinstance(text, str) else text.count(b"[") + text.count(b"{")


def _is_deep(value: object) -> bool:
    """Whether it is nested more than DEEPEST times; how deep a decoder goes depends on Python's version."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        members = (node.values() if isinstance(node, dict) else node for node in level)
        level = [child for own in members for child in own if isinstance(child, dict | list)]
        if not level:
            return False
    return True


def parse_json(text: str, file: str, error: type[HowlateError] = DamagedError) -> Table:
    """A JSON object that howlate or its probe wrote."""
    try:
        value = json_value(text)
    except ValueError as problem:
        reason = str(problem)
        reason = f"{reason[:1].lower()}{reason[1:]}"
        raise error(_for(error, SYNTAX(file=file, format="JSON", reason=reason))) from None
    if not isinstance(value, dict):
        raise error(_for(error, SYNTAX(file=file, format="a JSON object", reason=f"it is {kind_of(value)}")))
    return Table(value, file, "", error)


Decoded = TypeVar("Decoded")


def decoded(
    kind: type[Decoded], value: object, file: str, error: type[HowlateError] = DamagedError
) -> Decoded:
    """A value of a JSON file as a frozen type: each member by its name and type. Members of newer versions
    are ignored, absent ones take the type's default. A mismatch is an error that names its place."""
    import msgspec

    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as problem:
        what, _, place = str(problem).partition(" - at `$")
        misfit = f"{what[:1].lower()}{what[1:].replace('`', '')}"
        raise Table({}, file, place.strip(".`"), error).fail(Statement.verbatim(misfit)) from None


def warnings_of(
    table: Table, of_older: Callable[[str], Statement] = Statement.verbatim
) -> tuple[Statement, ...]:
    """The members "warnings" and "statements" of a file as statements; `of_older` makes them of the bare texts of an
    older howlate."""
    texts = table.items("warnings")
    for value in texts:
        if not isinstance(value, str):
            raise table.wrong("warnings", "a list of texts", "[...]", f"one with {kind_of(value)}")
    stored = table.tables("statements")
    if len(stored) != len(texts):
        return tuple(map(of_older, texts))
    return tuple(
        from_json({"text": text, **entry.values, "rule": entry.text("rule", VERBATIM)})
        for text, entry in zip(texts, stored, strict=True)
    )


def known_schema(value: Mapping[str, Any], schema: int, file: str, *, required: bool = True) -> None:
    """Refuse a file whose schema is newer than this howlate."""
    stored = value.get("schema", None if required else schema)
    if stored != schema or isinstance(stored, bool):
        raise Table(value, file, "", DamagedError).fail(UNKNOWN_SCHEMA(schema=stored))


def is_rising(column: Sequence[int]) -> bool:
    return all(map(operator.lt, column, column[1:]))


def same_length(*columns: Sized) -> None:
    if len({len(column) for column in columns}) > 1:
        raise ValueError("the lists are not equally long")


def members(model: object, *names: str) -> dict[str, Any]:
    """These members of a value as they are, by the names that they have in JSON too."""
    return {name: getattr(model, name) for name in names}


def plain(model: Struct) -> dict[str, Any]:
    """The members of a model by name, down to dicts, tuples, texts and numbers, all of Python's own types."""
    value: dict[str, Any] = to_builtins(
        model, enc_hook=lambda of: str(of) if isinstance(of, str) else of.item()
    )
    return value
