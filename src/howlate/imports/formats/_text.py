"""Reading another tool's file strictly: what is not as the tool writes it is an error that names file and line. What
terminals, journals, CI systems and mails put around a tool's lines is taken away first."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import DamagedError, UsageError
from howlate.model.decode import UNREADABLE, decoded, json_value
from howlate.system.opening import open_file
from howlate.words.statement import Statement, message

BAD_FILE = message(
    "import.bad-file", "{path}, {place}: {problem}", remedy="{hint}: nothing of the file was imported"
)
COPY_AGAIN = "copy or measure it again"
SECOND_RESULT = "a second result begins here"
BAD_MAP = message("import.bad-map", "{name}={value}: {problem}", remedy="{hint}")

LONGEST_LINE = 1 << 24
ANY_NAME = "*"
"""Among the names of `--map`: the format judges them itself."""
MOST = 2**62
"""Values and counts stay below: their sums are summed again, in 64 bits."""
UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_DECIMAL = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?")
_FLOAT = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{0,40})?(?:[eE][+-]?[0-9]{1,3})?")
"""A number as programs print it: 1.2163423779076865e-05."""

Decoded = TypeVar("Decoded")


class Line(Struct, frozen=True):
    """A line of a file, without its end."""

    path: Path
    number: int
    text: str
    ended: bool = True
    """False where the file ends inside of it."""

    def wrong(self, problem: str) -> DamagedError:
        return bad_file(self.path, f"line {self.number}", problem)

    def second(self) -> DamagedError:
        return bad_file(self.path, f"line {self.number}", SECOND_RESULT, "put each result into its own file")

    def whole(self, text: str, what: str = "a number") -> int:
        """A whole number that is not negative."""
        if not _WHOLE.fullmatch(text) or text.startswith("-"):
            raise self.wrong(f'"{text[:40]}" is not {what}')
        return int(text)

    def signed(self, text: str, what: str = "a number") -> int:
        if not _WHOLE.fullmatch(text):
            raise self.wrong(f'"{text[:40]}" is not {what}')
        return int(text)

    def decimal(self, text: str, what: str = "a number") -> str:
        """A decimal number, as it is spelt."""
        if not _DECIMAL.fullmatch(text):
            raise self.wrong(f'"{text[:40]}" is not {what}')
        return text

    def ns(self, text: str, unit_ns: int, what: str = "a time") -> int:
        """A time in whole nanoseconds; digits below one are cut off."""
        if not _FLOAT.fullmatch(text):
            raise self.wrong(f'"{text[:40]}" is not {what}')
        value = int(Decimal(text) * unit_ns)
        if abs(value) >= MOST:
            raise self.wrong(f"{text} is too large")
        return value


def lines(path: Path) -> Iterator[Line]:
    """Each line, from 1; one that is not text is an error. One line is in memory at a time."""
    try:
        with open_file(path, links=True) as file:
            number = 0
            while raw := file.readline(LONGEST_LINE):
                number += 1
                line = Line(path, number, "", raw.endswith(b"\n"))
                if not line.ended and len(raw) == LONGEST_LINE:
                    raise line.wrong("it is longer than 16 MiB")
                yield Line(path, number, _text(raw, line), line.ended)
    except OSError as problem:
        raise UsageError(UNREADABLE(path=path, reason=problem.strerror or problem)) from None


def _text(raw: bytes, line: Line) -> str:
    try:
        text = raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise line.wrong("it is not text") from None
    if "\0" in text:
        raise line.wrong("it is not text")
    return text


def bad_file(path: Path, place: str, problem: str, hint: str = COPY_AGAIN) -> DamagedError:
    """The error about a file that its tool would not write so. `place`: "line 3"."""
    return DamagedError(BAD_FILE(path=path, place=place, problem=problem, hint=hint))


def cut(path: Path, line: int, problem: str, hint: str = COPY_AGAIN) -> DamagedError:
    return bad_file(path, f"line {line}", f"the file ends here; {problem}", hint)


def ended(path: Path, last: Line | None, lack: str) -> Line:
    """The last line of a file that was read to its end, which is whole. `lack`: what is missing of what the tool
    writes; "" if nothing is."""
    if last is None or lack:
        raise cut(path, last.number if last else 1, lack)
    if not last.ended:
        raise cut(path, last.number, "its last line is incomplete")
    return last


def left_out(path: Path, line: int, what: str, how: str) -> DamagedError:
    """The error about a file that ends too early, or whose tool was told to leave its end out. `how`: to measure."""
    return cut(path, line, f"{what} is missing", f"copy it again, or measure again {how}")


def head(path: Path, size: int = 65536) -> str:
    """The beginning of a regular file, for recognising it."""
    try:
        if not path.is_file():
            return ""
        with open_file(path, links=True) as file:
            return file.read(size).decode("utf-8", "replace")
    except OSError:
        return ""


def read_object(path: Path) -> tuple[Mapping[str, Any], str]:
    """A JSON file's object, and its text; an error that names the line unless it is JSON with unique names."""
    text = "\n".join(line.text for line in lines(path))
    if not text.lstrip().startswith("{"):
        raise Line(path, 1, "").wrong("it is not a JSON object")
    twice: list[str] = []
    try:
        value = json.loads(
            text, object_pairs_hook=lambda pairs: _once(pairs, twice)
        )  # names the line of a fault
        json_value(text)
    except json.JSONDecodeError as problem:
        line = Line(path, problem.lineno, "")
        if problem.msg == "Extra data" and text[problem.pos] == "{":
            raise line.second() from None
        raise line.wrong(f"it is not JSON ({problem.msg})") from None
    except (ValueError, RecursionError) as problem:
        raise Line(path, 1, "").wrong(f"it is not JSON ({problem})") from None
    if twice:
        raise _said_twice(path, text, twice[0])
    return value, text


def _once(pairs: list[tuple[str, Any]], twice: list[str]) -> dict[str, Any]:
    """The object; of names that it has twice the first goes into `twice`."""
    members = dict(pairs)
    if len(members) < len(pairs):
        times = Counter(name for name, _ in pairs)
        twice.append(next(name for name, count in times.items() if count > 1))
    return members


def _said_twice(path: Path, text: str, name: str) -> DamagedError:
    """The error about a name that an object has twice: the line of the second of the two that are nearest."""
    numbers = [
        number
        for number, line in enumerate(text.split("\n"), 1)
        if re.match(rf'\s*(?:\{{\s*)?"{re.escape(name)}"\s*:', line)
    ]
    apart = [(after - before, after) for before, after in pairwise(numbers)]
    return Line(path, min(apart)[1] if apart else 1, "").wrong(f"{name} is given twice")


def typed(kind: type[Decoded], value: object, path: Path, text: str, place: str = "") -> Decoded:
    """A JSON value as a frozen type; what does not fit is an error that names the line. `place`: where it is."""
    try:
        return decoded(kind, value, str(path))
    except DamagedError as problem:
        inner = _place(value, str(problem.statement.values.get("place", "")))
        what = problem.statement.values["problem"]
        misfit = what.text if isinstance(what, Statement) else str(what)
        whole = ".".join(part for part in (place, inner) if part)
        raise at_place(path, text, whole, _misfit(misfit)) from None


def _place(value: object, place: str) -> str:
    """A place like "histogram[...]" with the name of the first entry there that is no number."""
    names: list[str] = []
    for name in filter(None, re.split(r"[.\[\]]+", place.replace("[...]", ".*"))):
        if name == "*" and isinstance(value, Mapping):
            name = next((key for key, entry in value.items() if type(entry) is not int), "")
        names += [name] if name and name != "*" else []
        value = value.get(name) if isinstance(value, Mapping) else None
    return ".".join(names)


_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "nothing",
}


def _misfit(text: str) -> str:
    """What does not fit, as a sentence about the place."""
    if match := re.fullmatch(r"object missing required field (.+)", text):
        return f"there is no {match[1]}"
    if match := re.fullmatch(r"expected (\w+)(?: \| null)?, got (\w+)", text):
        expected, given = (_KINDS.get(name, name) for name in match.groups())
        return f"it must be {expected}, not {given}"
    return (
        "the number is out of range"
        if "range" in text or "64" in text
        else "this is not what the tool writes"
    )


def at_place(path: Path, text: str, place: str, problem: object) -> DamagedError:
    """The error about a member of a JSON text: "thread.0.min"."""
    where = place.replace(".", " ")
    return Line(path, line_of(text, place), "").wrong(f"{where}: {problem}" if place else str(problem))


def line_of(text: str, place: str) -> int:
    """Where a member stands in a JSON text whose objects hold their members in the place's order; its parent's line
    where the member itself is missing."""
    at = 0
    for name in re.split(r"[.\[\]]+", place):
        match = re.compile(rf'"{re.escape(name)}"\s*:').search(text, at)
        at = match.end() if match else at
    return text.count("\n", 0, at) + 1


def mapped(mapping: Mapping[str, str], path: Path, known: Sequence[str]) -> Mapping[str, str]:
    """`--map` as given; UsageError for a name that this format does not have."""
    for name in mapping:
        if name not in known and ANY_NAME not in known:
            hint = f"its format takes {', '.join(known)}" if known else "leave it out"
            raise bad_map(name, mapping[name], f"it does not apply to {path}", hint)
    return mapping


def bad_map(name: str, value: str, problem: str, hint: str) -> UsageError:
    return UsageError(BAD_MAP(name=name, value=value, problem=problem, hint=hint))


def unit_ns(mapping: Mapping[str, str], fallback: int = 1000) -> int:
    """The unit of a file that does not say it."""
    name = mapping.get("unit")
    if name is None:
        return fallback
    if name not in UNITS:
        raise bad_map("unit", name, "this unit is unknown", "write ns, us, ms or s")
    return UNITS[name]


def json_bins(histogram: Mapping[str, int], path: Path, text: str, place: str, unit: int) -> dict[int, int]:
    """A histogram of a JSON file, {"12": 3}, with its values in nanoseconds."""
    bins: dict[int, int] = {}
    for name, count in histogram.items():
        if not _DECIMAL.fullmatch(name) or not 0 <= count < MOST or abs(Decimal(name) * unit) >= MOST:
            raise at_place(path, text, f"{place}.{name}", f"{name}: {count} is not a bin")
        bins[int(Decimal(name) * unit)] = count
    if sum(bins.values()) >= MOST:
        raise at_place(path, text, place, "more samples than there can be")
    return bins


def figures(path: Path, text: str, place: str, **values: float) -> None:
    """Refuses figures of a JSON file that no times can be: too large, or not a number."""
    for name, value in values.items():
        if not abs(value) < MOST / UNITS["us"]:
            raise at_place(path, text, f"{place}.{name}", f"{value} is too large")


CLEARED = "\x1bc"
"""Printed by a tool before it repeats its table."""
_ESCAPE = re.compile(r"\x1b(?:c|\[[0-9;?]{0,16}[A-Za-z])")
_PREFIX = re.compile(
    r"> ?"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]{5,20}(?:Z|[+-][0-9]{2}:?[0-9]{2})? "
    r"|[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} [^ ]{1,64} [^ :]{1,64}: "
    r"|\[[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?\] "
)
"""A mail's quote, the time of a CI system, a journal's head, the time of a terminal."""
_PREFIXES = 3
_KERNEL = re.compile(r"(?:<[0-9]{1,3}>)?\[ {0,6}[0-9]{1,8}\.[0-9]{6}\](?:\[ ?[CT][0-9]{1,8}\])? ")
_COMMAND = re.compile(r"\bcyclictest +-[^\n]{0,2000}")


def log_lines(path: Path) -> Iterator[Line]:
    """Each line of the tool's, with its number in the file; messages of the kernel between them are left out."""
    for line in lines(path):
        text = plain(line.text)
        if not _KERNEL.match(text):
            yield replace(line, text=text)


def plain(text: str) -> str:
    """A line without escapes, prefix and blanks at its end."""
    text = _ESCAPE.sub("", text) if "\x1b" in text else text
    for _ in range(_PREFIXES):
        found = _PREFIX.match(text)
        if found is None:
            break
        text = text[found.end() :]
    return text.rstrip()


def log_head(path: Path) -> str:
    """The beginning of a file as `log_lines` gives it, without indentation, for recognising it."""
    text = [plain(line).strip() for line in head(path).splitlines()]
    return "\n".join(line for line in text if not _KERNEL.match(line)) + "\n"


def command_in(text: str) -> str:
    """A command line of cyclictest in a line of a log; "" where there is none."""
    match = _COMMAND.search(text)
    return match[0] if match else ""
