"""The content of an archive: records of packages, read from its lists, and versions in Debian's order.

An archive can list its packages and fetch one, with verification: `apt.py` asks the apt of this machine,
`mirror.py` a mirror that the user names.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import total_ordering
from pathlib import Path
from typing import IO, Protocol

from msgspec import Struct
from msgspec.structs import asdict

from howlate.errors import DamagedError, TargetError
from howlate.lab.cache import living, locked, read_sealed_json, say_changed, storing, write_sealed_json
from howlate.lab.problems import NOT_IN_ARCHIVE, UNUSABLE
from howlate.system.paths import MACHINES
from howlate.words.statement import Statement

CODENAMES = ("bullseye", "bookworm", "trixie", "forky", "sid")
"""Releases whose kernels are 5.10 or newer, oldest first."""
ADDITIONS = ("-updates", "-backports", "-security")
"""Suites that a release may have."""
DAY = 24 * 3600
EMULATOR = ("qemu-system-x86", "qemu-system-common", "qemu-system-data", "seabios")
"""The packages of a QEMU for amd64 guests."""
_WANTED = re.compile(
    rb"\nPackage: (linux-(?:image|binary|base|modules|headers|kbuild)-[^\n]*|%s)\n"
    % "|".join(EMULATOR).encode()
)

_MOST_PARAGRAPH = 1 << 20
"""Bytes of what a list says of one package; Debian's longest has 60 kB."""
_FIT = {
    "name": r"[a-z0-9][a-z0-9+.-]{1,199}",
    "version": r"(?:[0-9]{1,9}:)?[0-9][A-Za-z0-9.+~-]{0,127}",
    "architecture": r"[a-z0-9][a-z0-9-]{0,31}",
    "uri": r"(?!.*/\.\.(?:/|$))[^\x00-\x1f\x7f-\x9f]{2,4096}",
    "size": r"[0-9]{1,10}",
    "sha256": r"[0-9a-f]{64}",
    "depends": r"[ -~]{0,65536}",
}
"""What the members of a package may be (deb-control(5), deb-version(7)): paths and command lines are made of them."""
_LONGEST_NUMBER = re.compile(r"[0-9]{19}")

Say = Callable[[str], None]
"""Receives messages about slow steps and about errors that were handled."""


def silent(text: str) -> None:
    """For callers that want no messages."""


class Package(Struct, frozen=True):
    """One package of one suite, as the signed lists describe it."""

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
        """The name that apt would use, with the epoch's colon escaped."""
        return f"{self.name}_{self.version.replace(':', '%3a')}_{self.architecture}.deb"


class AbsentError(TargetError):
    """The archive does not have what its list names."""

    sha256 = ""
    """The hash of the missing package, if it is one."""


def bad_list(whence: object, reason: str) -> Statement:
    return UNUSABLE(what=whence, reason=reason, hint="call again with --refresh, or use another mirror")


def absent(package: Package) -> AbsentError:
    """The package was removed since the list was made, or never moved to where the list says."""
    error = AbsentError(NOT_IN_ARCHIVE(what=package.file_name, hint="take another version"))
    error.sha256 = package.sha256
    return error


class Archive(Protocol):
    """A source of packages."""

    def packages(self, *, refresh: bool = False) -> Sequence[Package]:
        """The kernel packages of all suites; the lists are fetched again if they are older than a day, or on
        request."""

    def fetch(self, package: Package, folder: Path) -> Path:
        """Fetch the package's file into `folder`, and verify its hash."""

    def places(self) -> Sequence[tuple[str, str, Path]]:
        """(suite, address, keyring) of all suites: for a minimal root of a suite's own."""


def suites() -> Iterator[tuple[str, str]]:
    """(codename, suite) of all suites that may exist. sid has no additions."""
    for codename in CODENAMES:
        yield codename, codename
        if codename != "sid":
            for addition in ADDITIONS:
                yield codename, codename + addition


def read_packages(stream: IO[bytes] | io.RawIOBase, suite: str, base: str, whence: str) -> Iterator[Package]:
    """The packages of a `Packages` file that the lab uses. Only their paragraphs are decoded, because a
    suite has 70,000 others."""
    rest = b""
    while block := stream.read(1 << 22):
        whole, end, rest = (rest + block).rpartition(b"\n\n")
        if len(rest) > _MOST_PARAGRAPH:
            raise DamagedError(bad_list(whence, "a paragraph of it does not end"))
        if end:
            yield from _kernel_packages(whole, suite, base, whence)
    yield from _kernel_packages(rest, suite, base, whence)


def _kernel_packages(block: bytes, suite: str, base: str, whence: str) -> Iterator[Package]:
    block = b"\n" + block  # a pattern that begins with fixed text is looked for 20 times as fast
    for match in _WANTED.finditer(block):
        name = match[1]
        if name.endswith((b"-dbg", b"-template")) or b"-cloud-" in name:
            continue
        start = match.start(1)
        end = block.find(b"\n\n", start)
        paragraph = block[start - len("Package: ") : end if end >= 0 else None]
        try:
            yield _package(fields(paragraph.decode()), suite, base, whence)
        except UnicodeDecodeError:
            raise DamagedError(bad_list(whence, "it is not UTF-8 text")) from None


def fields(paragraph: str) -> dict[str, str]:
    """A paragraph of a control file; folded lines are joined."""
    members: dict[str, list[str]] = {}
    rows: list[str] = []
    for line in paragraph.splitlines():
        if line[:1] in (" ", "\t"):
            rows.append(line.strip())
        else:
            key, _, value = line.partition(":")
            rows = members[key] = [value.strip()]
    return {key: "\n".join(rows).lstrip("\n") for key, rows in members.items()}


def _package(members: Mapping[str, str], suite: str, base: str, whence: str) -> Package:
    try:
        row = {
            "name": members["Package"],
            "version": members["Version"],
            "architecture": members["Architecture"],
            "uri": f"{base.rstrip('/')}/{members['Filename']}",
            "size": members["Size"],
            "sha256": members["SHA256"],
            "depends": members.get("Depends", ""),
        }
    except KeyError as error:
        raise DamagedError(bad_list(whence, f"a package without {error}")) from None
    return checked_package(row, suite, whence)


def checked_package(row: Mapping[str, object], suite: str, whence: str) -> Package:
    """A package of these members. DamagedError if one of them is none that Debian would write: what is built from
    them (names of files, addresses, command lines) is then harmless."""
    texts = {member: str(row.get(member, "")) for member in _FIT}
    for member, text in texts.items():
        if not re.fullmatch(_FIT[member], text) or (member == "version" and _LONGEST_NUMBER.search(text)):
            raise DamagedError(bad_list(whence, f"{member} {text[:80]!a}"))
    size = int(texts.pop("size"))
    return Package(suite=suite, size=size, **texts)


def once(packages: Iterable[Package]) -> list[Package]:
    """Each (name, version, architecture) once, from the oldest suite that has it, in a fixed order."""
    order = {suite: number for number, (_, suite) in enumerate(suites())}
    unique: dict[tuple[str, str, str], Package] = {}
    for package in sorted(packages, key=lambda p: order.get(p.suite, len(order))):
        unique.setdefault((package.name, package.version, package.architecture), package)
    return [unique[key] for key in sorted(unique)]


def save_index(file: Path, packages: Sequence[Package], more: Mapping[str, object]) -> None:
    with storing(file):
        write_sealed_json(file, {"schema": 1, **more, "packages": [asdict(p) for p in packages]})


def load_index(file: Path, say: Say = silent) -> list[Package] | None:
    """Load what `save_index` wrote; None if it is missing or, which is said, something else."""
    values = read_sealed_json(file, say, "the lists are fetched again")
    if values is None:
        return None
    try:
        return [checked_package(row, str(row["suite"]), str(file)) for row in values["packages"]]
    except (KeyError, TypeError, AttributeError, DamagedError):
        say_changed(file, say, "the lists are fetched again")
        return None


def cached_index(
    index: Path, place: Path, update: Callable[[], None], *, refresh: bool, say: Say = silent
) -> Sequence[Package]:
    """The packages of an index. `update` makes it again if it is older than a day or damaged, or with `refresh`;
    `place` is locked meanwhile."""
    started_s = time.time()
    packages = None if refresh or _age(index, started_s) > DAY else load_index(index, say)
    if packages is None:
        with locked(place):
            # Another howlate may have updated while we waited for the lock.
            if _age(index, time.time()) <= (time.time() - started_s if refresh else DAY):
                packages = load_index(index)
            if packages is None:
                with living(say):
                    update()
    if packages is None:
        packages = load_index(index)
    if packages is None:
        raise DamagedError(bad_list(index, "it is empty"))
    return packages


def _age(file: Path, now: float) -> float:
    try:
        return max(0.0, now - file.stat().st_mtime)
    except OSError:
        return float("inf")


def wanted_architectures() -> tuple[str, ...]:
    """All architectures of the lab: lists are fetched for all at once."""
    return tuple(MACHINES.values())


@total_ordering  # which finds the comparisons of a Struct already there
@dataclass(frozen=True, eq=False)
class PackageVersion:
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
        return isinstance(other, PackageVersion) and self._key() == other._key()

    def __lt__(self, other: PackageVersion) -> bool:
        return self._key() < other._key()

    def __hash__(self) -> int:
        return hash(self._key())


def _parts(text: str) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Alternating non-digits and digits. A run of non-digits ends with 0, which sorts after `~` and before
    everything else."""
    pairs = re.findall(r"([^0-9]*)([0-9]*)", text)[:-1] or [("", "")]
    parts = [((*map(_rank, signs), 0), int(digits or 0)) for signs, digits in pairs]
    while len(parts) > 1 and parts[-1] == ((0,), 0):
        parts.pop()
    return (*parts, ((0,), 0))


def _rank(sign: str) -> int:
    if sign == "~":
        return -1
    return ord(sign) if sign.isalpha() else ord(sign) + 256
