"""A mirror of the Debian archive that is named, for machines without apt.

Trust begins with a keyring: gpgv checks a suite's InRelease, InRelease states the hashes of the lists, a list states
the hash of each package, and nothing is used before its hash was right.
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

TIMEOUT = 60
"""Seconds without a byte."""
SLOWEST = 1024
"""Bytes a second that a mirror has to send, once it has had TIMEOUT for its first ones."""
MOST_SIGNED = 4 << 20
"""Bytes of an InRelease; Debian's have 0.2 MB."""
MOST_PACKAGE = 1 << 30
"""Bytes of a package whose size no list says."""
_BLOCK = 1 << 18
_OF_THE_MIRROR = (401, 407, 429)
"""HTTP's codes below 500 that any other address of the mirror would answer with, too."""
_ENDINGS = (("xz", ".xz"), ("gz", ".gz"), ("", ""))


class MirrorArchive:
    """The archive at one or more addresses (a mirror's main and its security part stand apart)."""

    def __init__(
        self, folder: Path, addresses: Sequence[str], keyring: Path | None = None, say: Say = silent
    ) -> None:
        for address in addresses:
            if urllib.parse.urlsplit(address).scheme not in ("http", "https", "file"):
                raise UsageError(
                    f'"{address}" is not the address of a mirror', "write it as in http://HOST/debian"
                )
        if keyring is not None and not keyring.is_file():
            raise UsageError(f"the keyring {keyring} is not there", "name a file that gpgv can read")
        self.addresses = tuple(address.rstrip("/") for address in addresses)
        self.keyring = keyring or default_keyring()
        self.say = say
        name = hashlib.sha256("\n".join((*self.addresses, str(self.keyring))).encode()).hexdigest()[:16]
        self.index = folder / f"{name}.json"

    def packages(self, refresh: bool = False) -> Sequence[Package]:
        """The kernel packages of all suites that the addresses have."""
        return kept(self.index, self.index, self._update, refresh)

    def fetch(self, package: Package, folder: Path) -> Path:
        """The file, if its hash is what the signed list states."""
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
                raise DamagedError(
                    f"{package.uri} is not what the signed list says (its SHA256 is {digest})",
                    "call `howlate lab kernels --refresh` and try again, or use another mirror",
                )
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
        found: list[Package] = []
        failed: dict[str, str] = {}
        seen: set[str] = set()
        with storing(self.index):
            self.index.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".lists-", dir=self.index.parent) as scratch:
            for address in self.addresses:
                found += self._suites(address, Path(scratch), seen, failed)
        for _, suite in suites():
            if found and suite not in seen and suite not in failed and not suite.endswith(ADDITIONS):
                self.say(f"the suite {suite} is not there")
        if not found:
            why = next(iter(failed.values()), "no suite of it was found")
            raise TargetError(
                f"{' '.join(self.addresses)} has no kernels: {why}", "name another mirror with --mirror"
            )
        save_index(self.index, once(found), {"failed": failed})

    def _suites(self, address: str, scratch: Path, seen: set[str], failed: dict[str, str]) -> list[Package]:
        """The packages of all suites that one address has. A mirror that does not work is not asked for the next
        suite; suites that fail for one reason are one sentence."""
        found: list[Package] = []
        unusable: dict[str, list[str]] = {}
        for _, suite in suites():
            try:
                found += self._suite(address, suite, scratch)
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
        return found

    def _suite(self, address: str, suite: str, scratch: Path) -> list[Package]:
        base = f"{address}/dists/{suite}"
        signed = scratch / "InRelease"
        download(f"{base}/InRelease", signed, MOST_SIGNED)
        release = fields(verified(signed, self.keyring, f"{base}/InRelease"))
        if suite not in (release.get("Codename"), release.get("Suite")):
            raise DamagedError(
                f"{base}/InRelease is of another suite ({release.get('Codename')})", "use another mirror"
            )
        until = release.get("Valid-Until")
        if until and parsedate_to_datetime(until).timestamp() < time.time():
            raise DamagedError(f"{base}/InRelease was valid until {until}", "use another mirror")
        hashes = _hashes(release.get("SHA256", ""), f"{base}/InRelease")
        found: list[Package] = []
        for architecture in wanted_architectures():
            found += self._list(address, base, suite, architecture, hashes, scratch)
        return found

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
                raise DamagedError(
                    f"{base}/{name}{ending} is not what InRelease says (its SHA256 is {digest})",
                    "use another mirror",
                )
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
    """The mirror does not answer as one: nor will it for the next suite."""


@dataclass(frozen=True)
class _Hash:
    """A file by what InRelease says of it."""

    sha256: str
    size: int


def _hashes(text: str, whence: str) -> dict[str, _Hash]:
    """Of the rows of InRelease's field SHA256: hash, size, name."""
    found: dict[str, _Hash] = {}
    for row in filter(None, map(str.split, text.splitlines())):
        if len(row) != 3 or not row[1].isdecimal():
            raise DamagedError(f"{whence} has a row of hashes that cannot be read", "use another mirror")
        found[row[2]] = _Hash(row[0], int(row[1]))
    return found


def verified(signed: Path, keyring: Path, whence: str) -> str:
    """The text that the keyring's keys have signed; nothing else of the file is used."""
    gpgv = shutil.which("gpgv")
    if gpgv is None:
        raise NotPossibleError("there is no gpgv to check signatures with", "install the package gpgv")
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
            f"the signature of {whence} is not good by {keyring}" + (f" ({why.strip()})" if why else ""),
            "name the keyring of that archive with --keyring, or use another mirror",
        )
    return done.stdout.decode("utf-8", errors="replace")


def download(address: str, file: Path, most: int) -> str:
    """Writes what is at the address to the file, `most` bytes and no more; its SHA256."""
    quoted = re.sub(r"[^!-~]|[\"<>\\^`{|}]", lambda m: urllib.parse.quote(m[0]), address)
    try:
        with urllib.request.urlopen(quoted, timeout=TIMEOUT) as answer, storing(file), file.open("wb") as out:
            return _copied(answer, out, address, most)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            raise AbsentError(f"{address} is not there", "use another mirror") from None
        of_the_file = 400 <= error.code < 500 and error.code not in _OF_THE_MIRROR
        kind = TargetError if of_the_file else _UnusableError
        raise kind(
            f"{address} could not be fetched: {error.code} {error.reason}", "use another mirror"
        ) from None
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, FileNotFoundError) or "No such file" in str(reason):
            raise AbsentError(f"{address} is not there", "use another mirror") from None
        raise _UnusableError(f"{address} could not be fetched: {reason}", "is the network there?") from None


def _copied(answer: Any, out: IO[bytes], address: str, most: int) -> str:
    digest = hashlib.sha256()
    began, got = time.monotonic(), 0
    while block := _block(answer, address):
        got += len(block)
        if got > most:
            raise _UnusableError(
                f"{address} sends more than the {most} bytes that it may have", "use another mirror"
            )
        if time.monotonic() - began > TIMEOUT + got / SLOWEST:
            raise _UnusableError(
                f"{address} sends less than {SLOWEST} bytes a second", "try again, or use another mirror"
            )
        digest.update(block)
        out.write(block)
    return digest.hexdigest()


def _block(answer: Any, address: str) -> bytes:
    """What has come by now. Told apart from an error of the disk that is written to."""
    try:
        return bytes(answer.read1(_BLOCK))
    except (OSError, http.client.HTTPException) as error:
        kind = _UnusableError if isinstance(error, TimeoutError) else TargetError
        raise kind(f"{address} was cut off: {error}", "try again, or use another mirror") from None
