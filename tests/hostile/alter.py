"""Alters run folders: by accident, without new checksums, and as a forger does, who makes all of them anew."""

import hashlib
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

JSON_FILES = ("run.json", "summary.json", "bins.json", "cell.json")
FINISHED = "finished.txt"
EXCHANGED = "exchanged"
LONG = "x" * 100_000
ODD: tuple[str, ...] = (
    *("null", "true", "-1", "0", "1", "1.5", "[]", "{}", '""', '"text"', "[[]]", '{"a": 1}'),
    *(
        "NaN",
        "Infinity",
        "1e999",
        "1e308",
        "-1e308",
        "5e-324",
        str(2**63 - 1),
        str(2**63),
        str(-(2**63)),
        str(10**39),
    ),
    *(
        '"\\ud800"',
        '"\\u001b]0;title\\u0007"',
        '"\\u001b[2J"',
        '"a\\nb"',
        '"\\u202e"',
        '"\\u0000"',
        '"<script>"',
        '"=cmd()"',
    ),
    *('"../../x"', '"/etc/passwd"', f'"{LONG}"', "9" * 5_000, "[" * 2_000 + "]" * 2_000, '["a", 1, null]'),
)
"""Values in place of a member."""
ODD_NAMES = (
    "",
    "a",
    "0",
    "-1",
    "0.0",
    "1.0",
    "0.5\n",
    "nan",
    "1e999",
    str(2**63),
    "\x1b[2J",
    "\u202e",
    "../../x",
    LONG,
)
"""Names in place of a member's."""


class Altered(Struct, frozen=True):
    """What was done to a run."""

    text: str
    path: Path
    """Below the run's folder."""
    differs: bool = True
    """Whether a forged member has another value now."""
    beside: str = ""
    """The cell with which that of the path was exchanged."""

    @property
    def cell(self) -> str:
        """The cell that it belongs to; "" for a file of the run."""
        return self.path.parts[1] if self.path.parts[:1] == ("cells",) and len(self.path.parts) > 1 else ""

    @property
    def names(self) -> tuple[str, ...]:
        """What a sentence about it has in it: what is left of finished.txt may name a cell that never was."""
        gone = (
            ("and is gone", "and are gone", "it was whole, and is not any more")
            if self.path.name == FINISHED
            else ()
        )
        return tuple(filter(None, (self.path.name, self.cell, *gone)))


def files_of(run: Path) -> list[Path]:
    return sorted(path for path in run.rglob("*") if path.is_file() and not path.is_symlink())


def spoil(run: Path, chance: random.Random, way: str = "", other: Path | None = None) -> Altered:
    """One accident, of this kind or of any, and what it was; the checksums stay. `other`: a run whose cells have the
    same ids."""
    path = chance.choice(files_of(run))
    kind, beside = way or chance.choice([*_BYTES, *_PLACES, *_CELLS]), path
    if kind in _CELLS:
        path, beside = chance.sample(sorted((run / "cells").iterdir()), 2)
        _CELLS[kind](path, beside, path if other is None else other / path.relative_to(run))
    elif kind in _BYTES:
        data = path.read_bytes()
        altered = _BYTES[kind](data, chance)
        path.write_bytes(altered)
    else:
        path = path if chance.random() < 0.8 else chance.choice([run / "cells", *(run / "cells").iterdir()])
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        _PLACES[kind](path)
    place = path.relative_to(run)
    return Altered(f"{kind} {place}", place, beside=beside.name if kind == EXCHANGED else "")


def _flip(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) or 1)
    return data[:at] + bytes(byte ^ 1 << chance.randrange(8) for byte in data[at : at + 1]) + data[at + 1 :]


def _digit(data: bytes, chance: random.Random) -> bytes:
    """Somebody edits a figure."""
    places = [at for at, byte in enumerate(data) if 0x30 <= byte <= 0x39]
    if not places:
        return data + b"x"
    at = chance.choice(places)
    return data[:at] + str((data[at] - 0x30 + chance.randint(1, 9)) % 10).encode() + data[at + 1 :]


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) or 1)]


def _zeros(data: bytes, chance: random.Random) -> bytes:
    at, many = chance.randrange(len(data) or 1), chance.choice((1, 8, 512, 4096))
    return data[:at] + bytes(len(data[at : at + many])) + data[at + many :]


def _insert(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.choice((1, 4, 100))) + data[at:]


def _swap(data: bytes, chance: random.Random) -> bytes:
    low, high = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[high:] + data[low:high] + data[:low]


def _junk(data: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(chance.choice((0, 1, len(data), 100_000)))


def _link(path: Path) -> None:
    path.symlink_to("/etc/hostname")


_BYTES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "flip": _flip,
    "digit": _digit,
    "cut": _cut,
    "zeros": _zeros,
    "insert": _insert,
    "swap": _swap,
    "junk": _junk,
}


def _exchange(cell: Path, beside: Path, foreign: Path) -> None:
    held = cell.with_name(".held")
    cell.rename(held)
    beside.rename(cell)
    held.rename(beside)


def _neighbour(cell: Path, beside: Path, foreign: Path) -> None:
    shutil.rmtree(cell)
    shutil.copytree(beside, cell)


def _link_to_neighbour(cell: Path, beside: Path, foreign: Path) -> None:
    shutil.rmtree(cell)
    cell.symlink_to(beside)


def _foreign(cell: Path, beside: Path, foreign: Path) -> None:
    shutil.rmtree(cell)
    shutil.copytree(foreign, cell)


_CELLS: dict[str, Callable[[Path, Path, Path], None]] = {
    EXCHANGED: _exchange,
    "neighbour": _neighbour,
    "foreign": _foreign,
    "link to a neighbour": _link_to_neighbour,
}
"""Whole cells in the place of others."""
_PLACES: dict[str, Callable[[Path], None]] = {
    "delete": lambda path: None,
    "link": _link,
    "link to zeros": lambda path: path.symlink_to("/dev/zero"),
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
}


def forge(run: Path, chance: random.Random) -> Altered:
    """One member of a JSON file has another value or is gone, or the lists of one table are all altered alike; every
    checksum is made anew."""
    path = chance.choice([file for file in files_of(run) if file.name in JSON_FILES])
    value = json.loads(path.read_text())
    value.pop("checksum", None)
    tables = list(_tables(value))
    if tables and chance.random() < 0.3:
        return _forge_table(run, path, value, chance.choice(tables), chance)
    place = chance.choice(list(_places(value)))
    part = value
    for key in place[:-1]:
        part = part[key]
    new, was = chance.choice((*ODD, "")), part[place[-1]]
    if isinstance(part, dict) and chance.random() < 0.15:
        renamed = chance.choice(ODD_NAMES)
        part[renamed] = part.pop(place[-1])
        new = f"its name is {renamed!r}"
    elif new:
        part[place[-1]] = "\ue000"
    else:
        del part[place[-1]]
    sealed = _sealed(value, new, path.name == "run.json")
    path.write_text(sealed)
    for cell in (run / "cells").iterdir():
        reseal(cell)
    text = f"{path.relative_to(run)} {'.'.join(map(str, place))} = {new[:40] or 'nothing'}"
    return Altered(text, path.relative_to(run), new != json.dumps(was))


def _forge_table(run: Path, path: Path, value: Any, table: dict[str, Any], chance: random.Random) -> Altered:
    """The lists stay as long as each other, as no single alteration leaves them."""
    was = json.dumps(value)
    lists = [name for name, member in table.items() if isinstance(member, list)]
    way = chance.choice(list(_LISTS))
    for name in lists if way in _TOGETHER else [chance.choice(lists)]:
        table[name] = _LISTS[way](table[name])
    path.write_text(_sealed(value, "", path.name == "run.json"))
    for cell in (run / "cells").iterdir():
        reseal(cell)
    text = f"{path.relative_to(run)} {way}: {', '.join(lists)}"
    return Altered(text, path.relative_to(run), json.dumps(value) != was)


_LISTS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "empty": lambda values: [],
    "the first": lambda values: values[:1],
    "reversed": lambda values: values[::-1],
    "twice": lambda values: values * 2,
    "zeros": lambda values: [0 for _ in values],
    "equal": lambda values: values[:1] * len(values),
    "large": lambda values: [2**62 for _ in values],
}
_TOGETHER = ("empty", "the first", "reversed", "twice")


def _tables(value: Any) -> Iterator[dict[str, Any]]:
    """The members that have lists."""
    if isinstance(value, dict) and any(isinstance(member, list) and member for member in value.values()):
        yield value
    for member in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _tables(member)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside; of a long list its ends."""
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = [(at, value[at]) for at in {0, len(value) // 2, len(value) - 1} if 0 <= at < len(value)]
    else:
        inside = []
    return [path] * bool(path) + [place for key, part in inside for place in _places(part, (*path, key))]


def _sealed(value: Any, new: str, own: bool) -> str:
    text = json.dumps(value).replace('"\\ue000"', new)
    if not own:
        return text
    try:
        stored = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))
    except (ValueError, RecursionError):  # nobody can make a checksum of this
        return text
    seal = hashlib.blake2b(stored.encode(), digest_size=32).hexdigest()
    return f'{text[:-1]}, "checksum": "blake2b-256:{seal}"}}'


def reseal(cell: Path) -> None:
    was = cell / "checksums.json"
    run = json.loads(was.read_text()).get("run", "") if was.is_file() else ""
    files = {}
    for path in sorted(cell.iterdir()):
        if path.name != "checksums.json":
            data = path.read_bytes()
            ends = {"blake2b": data, "end": data[-65536:]}
            files[path.name] = {
                "bytes": len(data),
                **{name: hashlib.blake2b(part, digest_size=32).hexdigest() for name, part in ends.items()},
            }
    (cell / "checksums.json").write_text(
        json.dumps({"schema": 1, "algorithm": "blake2b-256", "run": run, "files": files})
    )
