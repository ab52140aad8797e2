"""A mirror of the Debian archive that the user names, for machines without apt.

Trust begins with a keyring: gpgv checks a suite's InRelease, InRelease states the hashes of the lists, a list
states the hash of each package, and nothing is used before its hash is verified.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path

from howlate.errors import DamagedError, TargetError, UsageError
from howlate.lab.apt import default_keyring
from howlate.lab.archive import (
    ADDITIONS,
    AbsentError,
    Package,
    Say,
    absent,
    fields,
    kept,
    once,
    read_packages,
    save_index,
    silent,
    suites,
    wanted_architectures,
)
from howlate.lab.cache import storing
from howlate.lab.deb import decompressed
from howlate.lab.download import UnusableError, download
from howlate.lab.signature import verified
from howlate.words.statement import rule

NO_MIRROR_ADDRESS = rule(
    "lab.no-mirror-address",
    '"{address}" is not the address of a mirror',
    remedy="write it as in http://HOST/debian",
)
NO_KEYRING = rule(
    "lab.no-keyring", "the keyring {keyring} does not exist", remedy="name a file that gpgv can read"
)
PACKAGE_CHANGED = rule(
    "lab.package-changed",
    "{package} is not what the signed list says (its SHA256 is {digest})",
    remedy="call `howlate lab kernels --refresh` and try again, or use another mirror",
)
NO_KERNELS_THERE = rule(
    "lab.no-kernels-there", "{mirrors} has no kernels: {reason}", remedy="name another mirror with --mirror"
)
OTHER_SUITE = rule(
    "lab.other-suite", "{address}/InRelease is of another suite ({suite})", remedy="use another mirror"
)
EXPIRED = rule("lab.expired", "{address}/InRelease was valid until {until}", remedy="use another mirror")
LIST_CHANGED = rule(
    "lab.list-changed",
    "{address} is not what InRelease says (its SHA256 is {digest})",
    remedy="use another mirror",
)
NO_HASHES = rule(
    "lab.no-hashes", "{list} has a row of hashes that cannot be read", remedy="use another mirror"
)

MOST_SIGNED = 4 << 20
"""Bytes of an InRelease; Debian's have 0.2 MB."""
MOST_PACKAGE = 1 << 30
"""Bytes of a package whose size is in no list."""
MOST_PLAIN_LIST = 512 << 20
"""Bytes of a list of packages, unpacked; Debian's longest has 55 MB."""
_ENDINGS = (("xz", ".xz"), ("gz", ".gz"), ("", ""))


class MirrorArchive:
    """The archive at one or more addresses (a mirror's main and security parts are separate)."""

    def __init__(
        self, folder: Path, addresses: Sequence[str], keyring: Path | None = None, say: Say = silent
    ) -> None:
        for address in addresses:
            if urllib.parse.urlsplit(address).scheme not in ("http", "https", "file"):
                raise UsageError(NO_MIRROR_ADDRESS(address=address))
        if keyring is not None and not keyring.is_file():
            raise UsageError(NO_KEYRING(keyring=keyring))
        self.addresses = tuple(address.rstrip("/") for address in addresses)
        self.keyring = keyring or default_keyring()
        self.say = say
        name = hashlib.sha256("\n".join((*self.addresses, str(self.keyring))).encode()).hexdigest()[:16]
        self.index = folder / f"{name}.json"

    def packages(self, refresh: bool = False) -> Sequence[Package]:
        """The kernel packages of all suites that the addresses have."""
        return kept(self.index, self.index, self._update, refresh)

    def fetch(self, package: Package, folder: Path) -> Path:
        """The file, if its hash equals the one in the signed list."""
        file = folder / package.file_name
        with storing(file):
            folder.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.part")
        try:
            try:
                digest = download(package.uri, part, package.size or MOST_PACKAGE)
            except AbsentError:
                raise absent(package) from None
            if digest != package.sha256:
                raise DamagedError(PACKAGE_CHANGED(package=package.uri, digest=digest))
            with storing(file):
                part.rename(file)
        finally:
            part.unlink(missing_ok=True)
        return file

    def places(self) -> Sequence[tuple[str, str, Path]]:
        """(suite, address, keyring)."""
        return [(suite, address, self.keyring) for _, suite in suites() for address in self.addresses]

    def _update(self) -> None:
        self.say("fetching the lists of packages")
        packages: list[Package] = []
        failed: dict[str, str] = {}
        seen: set[str] = set()
        with storing(self.index):
            self.index.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".lists-", dir=self.index.parent) as scratch:
            for address in self.addresses:
                packages += self._suites(address, Path(scratch), seen, failed)
        for _, suite in suites():
            if packages and suite not in seen and suite not in failed and not suite.endswith(ADDITIONS):
                self.say(f"the suite {suite} is not there")
        if not packages:
            why = next(iter(failed.values()), "no suite of it was found")
            raise TargetError(NO_KERNELS_THERE(mirrors=" ".join(self.addresses), reason=why))
        save_index(self.index, once(packages), {"failed": failed})

    def _suites(self, address: str, scratch: Path, seen: set[str], failed: dict[str, str]) -> list[Package]:
        """The packages of all suites at one address. A mirror that does not work is not asked for the next
        suite; suites that fail for the same reason share one sentence."""
        packages: list[Package] = []
        unusable: dict[str, list[str]] = {}
        for _, suite in suites():
            try:
                packages += self._suite(address, suite, scratch)
                seen.add(suite)
            except AbsentError:
                continue
            except UnusableError as error:
                failed[suite] = error.message
                self.say(error.message)
                break
            except (TargetError, DamagedError) as error:
                failed[suite] = error.message
                why = error.message.replace(f"{address}/dists/{suite}/", "")
                unusable.setdefault(why, []).append(suite)
        for why, names in unusable.items():
            which = f"the suite {names[0]}" if len(names) == 1 else f"the suites {', '.join(names)}"
            self.say(f"{which} of {address} could not be used: {why}")
        return packages

    def _suite(self, address: str, suite: str, scratch: Path) -> list[Package]:
        base = f"{address}/dists/{suite}"
        signed = scratch / "InRelease"
        download(f"{base}/InRelease", signed, MOST_SIGNED)
        release = fields(verified(signed, self.keyring, f"{base}/InRelease"))
        if suite not in (release.get("Codename"), release.get("Suite")):
            raise DamagedError(OTHER_SUITE(address=base, suite=release.get("Codename")))
        until = release.get("Valid-Until")
        if until and parsedate_to_datetime(until).timestamp() < time.time():
            raise DamagedError(EXPIRED(address=base, until=until))
        hashes = _hashes(release.get("SHA256", ""), f"{base}/InRelease")
        packages: list[Package] = []
        for architecture in wanted_architectures():
            packages += self._list(address, base, suite, architecture, hashes, scratch)
        return packages

    def _list(
        self, address: str, base: str, suite: str, architecture: str, hashes: dict[str, _Hash], scratch: Path
    ) -> list[Package]:
        name = f"main/binary-{architecture}/Packages"
        for kind, ending in _ENDINGS:
            wanted = hashes.get(name + ending)
            if wanted is None:
                continue
            file = scratch / "Packages"
            by_hash = f"main/binary-{architecture}/by-hash/SHA256/{wanted.sha256}"
            digest = self._first_of((f"{base}/{by_hash}", f"{base}/{name}{ending}"), file, wanted.size)
            if digest != wanted.sha256:
                raise DamagedError(LIST_CHANGED(address=f"{base}/{name}{ending}", digest=digest))
            with file.open("rb") as packed, decompressed(packed, kind, file, MOST_PLAIN_LIST) as plain:
                return list(read_packages(plain, suite, address, f"{base}/{name}"))
        return []  # a suite without this architecture

    def _first_of(self, addresses: Sequence[str], file: Path, most: int) -> str:
        """Mirrors without by-hash serve the plain name."""
        for address in addresses[:-1]:
            try:
                return download(address, file, most)
            except AbsentError:
                continue
        return download(addresses[-1], file, most)


@dataclass(frozen=True)
class _Hash:
    """A file as InRelease describes it."""

    sha256: str
    size: int


def _hashes(text: str, whence: str) -> dict[str, _Hash]:
    """Of the rows of InRelease's field SHA256: hash, size, name."""
    hashes: dict[str, _Hash] = {}
    for row in filter(None, map(str.split, text.splitlines())):
        if len(row) != 3 or not row[1].isdecimal():
            raise DamagedError(NO_HASHES(list=whence))
        hashes[row[2]] = _Hash(row[0], int(row[1]))
    return hashes
