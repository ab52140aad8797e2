"""A mirror of the Debian archive that the user names, for machines without apt.

Trust begins with a keyring: gpgv checks a suite's InRelease, InRelease states the hashes of the lists, a list
states the hash of each package, and nothing is used before its hash is verified.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import IO, Any

from howlate.errors import DamagedError, NotPossibleError, TargetError, UsageError
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
NO_GPGV = rule(
    "lab.no-gpgv", "gpgv, which verifies signatures, is not installed", remedy="install the package gpgv"
)
NOT_THERE = rule("lab.not-there", "{address} is not there", remedy="use another mirror")
NOT_FETCHED_FROM_MIRROR = rule(
    "lab.not-fetched-from-mirror", "{address} could not be fetched: {reason}", remedy="check the network"
)
TOO_MUCH = rule(
    "lab.too-much", "{address} sends more than the {most} bytes that it may have", remedy="use another mirror"
)
TOO_SLOW = rule(
    "lab.too-slow",
    "{address} sends less than {slowest} bytes a second",
    remedy="try again, or use another mirror",
)
CUT_OFF = rule("lab.cut-off", "{address} was cut off: {reason}", remedy="try again, or use another mirror")
BAD_SIGNATURE = rule(
    "lab.bad-signature",
    "{keyring} does not verify the signature of {list} ({reason})",
    remedy="name the keyring of that archive with --keyring, or use another mirror",
)
NOT_FETCHED = rule("lab.http-error", "{address} could not be fetched: {reason}", remedy="use another mirror")

TIMEOUT = 60
"""Seconds without a byte."""
SLOWEST = 1024
"""Bytes a second that a mirror must send, after TIMEOUT for its first ones."""
MOST_SIGNED = 4 << 20
"""Bytes of an InRelease; Debian's have 0.2 MB."""
MOST_PACKAGE = 1 << 30
"""Bytes of a package whose size is in no list."""
_BLOCK = 1 << 18
_OF_THE_MIRROR = (401, 407, 429)
"""HTTP status codes below 500 that any other address of the mirror would return, too."""
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
            except _UnusableError as error:
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
            with file.open("rb") as packed, decompressed(packed, kind, file) as plain:
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


class _UnusableError(TargetError):
    """The mirror does not respond properly, and would not for the next suite either."""


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


def verified(signed: Path, keyring: Path, whence: str) -> str:
    """The text that the keyring's keys have signed; nothing else of the file is used."""
    gpgv = shutil.which("gpgv")
    if gpgv is None:
        raise NotPossibleError(NO_GPGV())
    # A binary keyring; one in ASCII armour is for gpg alone.
    with tempfile.TemporaryDirectory() as home:
        argv = [gpgv, "--homedir", home, "--keyring", str(keyring.absolute()), "--output", "-", str(signed)]
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    if done.returncode != 0:
        complaints = [row.removeprefix("gpgv: ") for row in done.stderr.decode(errors="replace").splitlines()]
        why = next((row for row in reversed(complaints) if "Can't check" in row or "BAD" in row), "")
        raise DamagedError(
            BAD_SIGNATURE(list=whence, keyring=keyring, reason=why.strip() or "no reason given")
        )
    return done.stdout.decode("utf-8", errors="replace")


def download(address: str, file: Path, most: int) -> str:
    """Write the content of the address to the file, at most `most` bytes; return its SHA256."""
    quoted = re.sub(r"[^!-~]|[\"<>\\^`{|}]", lambda m: urllib.parse.quote(m[0]), address)
    try:
        with urllib.request.urlopen(quoted, timeout=TIMEOUT) as answer, storing(file), file.open("wb") as out:
            return _copied(answer, out, address, most)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            raise AbsentError(NOT_THERE(address=address)) from None
        of_the_file = 400 <= error.code < 500 and error.code not in _OF_THE_MIRROR
        kind = TargetError if of_the_file else _UnusableError
        raise kind(NOT_FETCHED(address=address, reason=f"{error.code} {error.reason}")) from None
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, FileNotFoundError) or "No such file" in str(reason):
            raise AbsentError(NOT_THERE(address=address)) from None
        raise _UnusableError(NOT_FETCHED_FROM_MIRROR(address=address, reason=reason)) from None


def _copied(answer: Any, out: IO[bytes], address: str, most: int) -> str:
    digest = hashlib.sha256()
    began, got = time.monotonic(), 0
    while block := _block(answer, address):
        got += len(block)
        if got > most:
            raise _UnusableError(TOO_MUCH(address=address, most=most))
        if time.monotonic() - began > TIMEOUT + got / SLOWEST:
            raise _UnusableError(TOO_SLOW(address=address, slowest=SLOWEST))
        digest.update(block)
        out.write(block)
    return digest.hexdigest()


def _block(answer: Any, address: str) -> bytes:
    """The bytes that have arrived. Network errors are kept apart from errors of the disk to which they are
    written."""
    try:
        return bytes(answer.read1(_BLOCK))
    except (OSError, http.client.HTTPException) as error:
        kind = _UnusableError if isinstance(error, TimeoutError) else TargetError
        raise kind(CUT_OFF(address=address, reason=error)) from None
