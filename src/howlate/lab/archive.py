"""What an archive has: records of packages, read from its lists, and versions in Debian's order.

An archive is what can list its packages and fetch one, checked: `apt.py` asks the apt of this machine, `mirror.py` a
mirror that is named.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import total_ordering
from pathlib import Path
from typing import IO, Protocol

from howlate.errors import DamagedError, TargetError
from howlate.lab.cache import locked
from howlate.lab.label import ARCHITECTURES
from howlate.store.files import read_json, write_json

CODENAMES = ("bullseye", "bookworm", "trixie", "forky", "sid")
"""Releases whose kernels are 5.10 or newer, oldest first."""
ADDITIONS = ("-updates", "-backports", "-security")
"""Suites that a release may have beside itself."""
DAY = 24 * 3600
_WANTED = re.compile(rb"(?:^|\n)Package: (linux-(?:image|binary|base|modules|headers|kbuild)-[^\n]*)\n")

Say = Callable[[str], None]
"""Tells what takes long, or what went wrong and is survived."""


def silent(text: str) -> None:
    """For callers that tell nothing."""


@dataclass(frozen=True)
class Package:
    """One package of one suite, by what the signed lists say of it."""

    name: str
    version: str
    architecture: str
    suite: str
    uri: str
    size: int
    sha256: str
    depends: str = ""

    @property
    def file_name(self) -> str:
        """As apt would name it, with the epoch's colon escaped."""
        return f"{self.name}_{self.version.replace(':', '%3a')}_{self.architecture}.deb"


class AbsentError(TargetError):
    """The archive does not have what its list names."""

    sha256 = ""
    """The package's, where it is one."""


def absent(package: Package) -> AbsentError:
    """Removed since the list was made, or never moved to where the list says."""
    error = AbsentError(
        f"the archive does not have {package.file_name}, which its list names", "take another version"
    )
    error.sha256 = package.sha256
    return error


class Archive(Protocol):
    """Where packages come from."""

    def packages(self, refresh: bool = False) -> Sequence[Package]:
        """The kernel packages of all suites; the lists are fetched anew if older than a day, or asked for."""

    def fetch(self, package: Package, folder: Path) -> Path:
        """The package's file, in `folder`, checked by its hash."""

    def places(self) -> Sequence[tuple[str, str, Path]]:
        """(suite, address, keyring) of all suites: for a minimal root of a suite's own."""


def suites() -> Iterator[tuple[str, str]]:
    """(codename, suite) of all that may exist. sid has none beside itself."""
    for codename in CODENAMES:
        yield codename, codename
        if codename != "sid":
            for addition in ADDITIONS:
                yield codename, codename + addition


def read_packages(stream: IO[bytes], suite: str, base: str, whence: str) -> Iterator[Package]:
    """The kernel packages of a `Packages` file. Only their paragraphs are decoded: a suite has 70,000 others."""
    rest = b""
    while block := stream.read(1 << 22):
        rest += block
        whole, end, rest = rest.rpartition(b"\n\n")
        if not end:
            continue
        yield from _kernel_packages(whole, suite, base, whence)
    yield from _kernel_packages(rest, suite, base, whence)


def _kernel_packages(block: bytes, suite: str, base: str, whence: str) -> Iterator[Package]:
    for match in _WANTED.finditer(block):
        name = match[1]
        if name.endswith((b"-dbg", b"-template")) or b"-cloud-" in name:
            continue
        start = match.start(1)
        end = block.find(b"\n\n", start)
        yield _package(
            fields(block[start - len("Package: ") : end if end >= 0 else None].decode()), suite, base, whence
        )


def fields(paragraph: str) -> dict[str, str]:
    """A paragraph of a control file; folded lines are joined."""
    found: dict[str, str] = {}
    key = ""
    for line in paragraph.splitlines():
        if line[:1] in (" ", "\t"):
            found[key] = f"{found.get(key, '')}\n{line.strip()}".lstrip("\n")
        else:
            key, _, value = line.partition(":")
            found[key] = value.strip()
    return found


def _package(found: Mapping[str, str], suite: str, base: str, whence: str) -> Package:
    try:
        return Package(
            found["Package"],
            found["Version"],
            found["Architecture"],
            suite,
            f"{base.rstrip('/')}/{found['Filename']}",
            int(found["Size"]),
            found["SHA256"],
            found.get("Depends", ""),
        )
    except (KeyError, ValueError) as error:
        raise DamagedError(f"{whence} has a package without {error}", "call again with --refresh") from None


def once(packages: Iterable[Package]) -> list[Package]:
    """Each (name, version, architecture) once, from the oldest suite that has it, in a settled order."""
    order = {suite: number for number, (_, suite) in enumerate(suites())}
    found: dict[tuple[str, str, str], Package] = {}
    for package in sorted(packages, key=lambda p: order.get(p.suite, len(order))):
        found.setdefault((package.name, package.version, package.architecture), package)
    return [found[key] for key in sorted(found)]


def save_index(file: Path, packages: Sequence[Package], more: Mapping[str, object]) -> None:
    """What was read from the lists, so that the next call needs none of them."""
    write_json(file, {"schema": 1, **more, "packages": [asdict(p) for p in packages]}, indent=None)


def load_index(file: Path) -> tuple[list[Package], dict[str, object]]:
    """What `save_index` wrote."""
    values = read_json(file, "call again with --refresh")
    try:
        packages = [Package(**row) for row in values.pop("packages")]
    except (KeyError, TypeError):
        raise DamagedError(f"{file} is not a list of packages", "call again with --refresh") from None
    return packages, values


def kept(index: Path, place: Path, update: Callable[[], None], refresh: bool) -> Sequence[Package]:
    """The packages of an index. `update` makes it anew where it is older than a day, or `refresh`; `place` is locked
    meanwhile."""
    asked = time.time()
    if refresh or _age(index, asked) > DAY:
        with locked(place):
            # Another howlate may have updated while we waited for the lock.
            if _age(index, time.time()) > (time.time() - asked if refresh else DAY):
                update()
    return load_index(index)[0]


def _age(file: Path, now: float) -> float:
    try:
        return max(0.0, now - file.stat().st_mtime)
    except OSError:
        return float("inf")


def wanted_architectures() -> tuple[str, ...]:
    """All of the lab's: lists are fetched for all at once."""
    return ARCHITECTURES


@total_ordering
@dataclass(frozen=True, eq=False)
class Version:
    """A package's version, in Debian's order (deb-version(7)): digits by value, letters before signs, `~` first."""

    text: str

    def _key(
        self,
    ) -> tuple[int, tuple[tuple[tuple[int, ...], int], ...], tuple[tuple[tuple[int, ...], int], ...]]:
        epoch, colon, rest = self.text.partition(":")
        if not colon:
            epoch, rest = "0", self.text
        upstream, dash, revision = rest.rpartition("-")
        return int(epoch), _parts(upstream if dash else rest), _parts(revision if dash else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._key() == other._key()

    def __lt__(self, other: Version) -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def _parts(text: str) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Alternating non-digits and digits. A run of non-digits ends with 0: after `~` and before all else."""
    pairs = re.findall(r"([^0-9]*)([0-9]*)", text)[:-1] or [("", "")]
    found = [((*map(_rank, signs), 0), int(digits or 0)) for signs, digits in pairs]
    while len(found) > 1 and found[-1] == ((0,), 0):
        found.pop()
    return (*found, ((0,), 0))


def _rank(sign: str) -> int:
    if sign == "~":
        return -1
    return ord(sign) if sign.isalpha() else ord(sign) + 256
