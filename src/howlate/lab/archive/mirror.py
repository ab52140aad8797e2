"""A mirror of the Debian archive that the user names, for machines without apt.

Trust begins with a keyring: gpgv checks a suite's InRelease, InRelease states the hashes of the lists, a list
states the hash of each package, and nothing is used before its hash is verified.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.parse
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path
from typing import IO

from msgspec import Struct

from howlate.errors import DamagedError, TargetError, UsageError
from howlate.lab.archive.apt import default_keyring
from howlate.lab.archive.deb import decompressed
from howlate.lab.archive.download import NOT_FETCHED, UnusableError, download
from howlate.lab.archive.packages import (
    ADDITIONS,
    DAY,
    AbsentError,
    Package,
    Say,
    absent,
    bad_list,
    cached_index,
    fields,
    once,
    read_packages,
    save_index,
    silent,
    suites,
    wanted_architectures,
)
from howlate.lab.cache import locked, make_folder, read_instants, storing, write_sealed_json
from howlate.lab.problems import OTHER_MIRROR, UNUSABLE, not_installed
from howlate.system.paths import archive_ready

_BEGINNING = b"-----BEGIN PGP SIGNED MESSAGE-----"
_PREFIX = "[GNUPG:] "
_REFUSED = {
    "REVKEYSIG": "the key {key} is revoked",
    "EXPKEYSIG": "the key {key} has expired",
    "EXPSIG": "the signature by the key {key} has expired",
    "BADSIG": "BAD signature by the key {key}",
    "ERRSIG": "Can't check signature: the key {key} is not in it",
}
"""What gpgv reports of signatures that it still may end with code 0 for (gnupg's doc/DETAILS)."""
_STRONG_HASHES = ("8", "9", "10")
"""SHA-256, SHA-384 and SHA-512 (RFC 9580, 9.5)."""
_HASH = 7
"""The place of the hash's number in VALIDSIG."""


def verified(signed: Path, keyring: Path, whence: str) -> str:
    """The text that the keyring's keys have signed; nothing else of the file is used."""
    if shutil.which("gpgv") is None:
        archive_ready()
    gpgv = shutil.which("gpgv")
    if gpgv is None:
        raise not_installed("gpgv", "gpgv")
    with signed.open("rb") as file:
        is_signed = file.readline(1 << 10).rstrip() == _BEGINNING
    why, text = ("it is not signed", b"")
    if is_signed:
        with tempfile.TemporaryDirectory() as home:
            # A binary keyring; one in ASCII armour is for gpg alone.
            argv = [gpgv, "--homedir", home, "--keyring", str(keyring.absolute())]
            why, text = _verified([*argv, "--output", "-"], signed)
    if why:
        reason = f"it does not verify the signature of {whence} ({why})"
        hint = "name the keyring of that archive with --keyring, or use another mirror"
        raise DamagedError(UNUSABLE(what=keyring, reason=reason, hint=hint))
    return text.decode("utf-8", errors="replace")


def _verified(argv: Sequence[str], signed: Path) -> tuple[str, bytes]:
    """Why gpgv's report is not that of a good file, or ""; and the text, which is shorter than the file."""
    most = signed.stat().st_size
    with tempfile.TemporaryFile() as status:
        given = [*argv, f"--status-fd={status.fileno()}", str(signed)]
        with subprocess.Popen(
            given,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
            pass_fds=(status.fileno(),),
        ) as child:
            assert child.stdout is not None
            text = child.stdout.read(most + 1)
            if len(text) > most:
                child.kill()
        return why_not(_rows(status), child.returncode), text


def _rows(status: IO[bytes]) -> list[list[str]]:
    status.seek(0)
    lines = status.read().decode(errors="replace").splitlines()
    return [line.removeprefix(_PREFIX).split() for line in lines if line.startswith(_PREFIX)]


def why_not(rows: Sequence[Sequence[str]], code: int) -> str:
    """Why a file whose signatures gpgv reports so is refused; "" if each was made by a key that is good today."""
    named: dict[str, list[Sequence[str]]] = {}
    for keyword, *values in filter(None, rows):
        named.setdefault(keyword, []).append(values)
    for keyword, reason in _REFUSED.items():
        if keyword in named:
            return reason.format(key=next(iter(named[keyword][0]), "?"))
    made, good, valid = (len(named.get(k, ())) for k in ("NEWSIG", "GOODSIG", "VALIDSIG"))
    if len(named.get("PLAINTEXT", ())) != 1:
        return "it is not one signed text"
    if code != 0 or not made == good == valid > 0:
        return "no reason given"
    if any(len(values) <= _HASH or values[_HASH] not in _STRONG_HASHES for values in named["VALIDSIG"]):
        return "its hash is too weak to be trusted"
    return ""


MOST_SIGNED = 4 << 20
"""Bytes of an InRelease; Debian's have 0.2 MB."""
MOST_PACKAGE = 1 << 30
"""Bytes of a package whose size is in no list."""
MOST_LIST, MOST_PLAIN_LIST = 128 << 20, 512 << 20
"""Bytes of a list of packages, as it is fetched and unpacked; Debian's longest have 10 and 55 MB."""
_LAST_DATE = 253402300800.0
"""The year 10000, which no date can be written of."""
_ENDINGS = (("xz", ".xz"), ("gz", ".gz"), ("", ""))


def _is_address(text: str) -> bool:
    try:
        parts = urllib.parse.urlsplit(text)
        return parts.scheme in ("http", "https", "file") and (parts.port or 1) > 0
    except ValueError:
        return False


class MirrorArchive:
    """The archive at one or more addresses (a mirror's main and security parts are separate)."""

    def __init__(
        self, folder: Path, addresses: Sequence[str], keyring: Path | None = None, say: Say = silent
    ) -> None:
        for address in addresses:
            if not _is_address(address):
                reason, hint = "it is not the address of a mirror", "write it as in http://HOST/debian"
                raise UsageError(UNUSABLE(what=f'"{address}"', reason=reason, hint=hint))
        if keyring is not None and not keyring.is_file():
            raise no_keyring(keyring)
        self.addresses = tuple(address.rstrip("/") for address in addresses)
        self.keyring = keyring or default_keyring()
        self.say = say
        name = hashlib.sha256("\n".join((*self.addresses, str(self.keyring))).encode()).hexdigest()[:16]
        self.index = folder / f"{name}.json"
        self.seen_dates = SeenDates(folder / "dates.json", str(self.keyring), say)

    def packages(self, *, refresh: bool = False) -> Sequence[Package]:
        return cached_index(self.index, self.index, self._update, refresh=refresh, say=self.say)

    def fetch(self, package: Package, folder: Path) -> Path:
        file = folder / package.file_name
        with storing(file):
            make_folder(folder)
        part = file.with_name(f"{file.name}.part")
        try:
            try:
                digest = download(package.uri, part, package.size or MOST_PACKAGE)
            except AbsentError:
                raise absent(package) from None
            if digest != package.sha256:
                raise _other_content(package.uri, digest)
            with storing(file):
                part.rename(file)
        finally:
            part.unlink(missing_ok=True)
        return file

    def places(self) -> Sequence[tuple[str, str, Path]]:
        return [(suite, address, self.keyring) for _, suite in suites() for address in self.addresses]

    def _update(self) -> None:
        self.say("fetching the lists of packages")
        packages: list[Package] = []
        failed: dict[str, str] = {}
        seen: set[str] = set()
        with storing(self.index):
            make_folder(self.index.parent)
        with tempfile.TemporaryDirectory(prefix=".lists-", dir=self.index.parent) as scratch:
            for address in self.addresses:
                packages += self._suites(address, Path(scratch), seen, failed)
        for _, suite in suites():
            if packages and suite not in seen and suite not in failed and not suite.endswith(ADDITIONS):
                self.say(f"the suite {suite} is not there")
        if not packages:
            why = next(iter(failed.values()), "no suite of it was found")
            raise TargetError(NOT_FETCHED(address=" ".join(self.addresses), reason=why, hint=OTHER_MIRROR))
        save_index(self.index, once(packages), {"failed": failed})

    def _suites(self, address: str, scratch: Path, seen: set[str], failed: dict[str, str]) -> list[Package]:
        """The packages of all suites at one address. A mirror that does not work is not tried for the next
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
            raise _unfit(base, f"it is of the suite {release.get('Codename')}")
        self._check_dates(release, base)
        hashes = _hashes(release.get("SHA256", ""), f"{base}/InRelease")
        packages: list[Package] = []
        for architecture in wanted_architectures():
            packages += self._list(address, base, suite, architecture, hashes, scratch)
        return packages

    def _check_dates(self, release: Mapping[str, str], base: str) -> None:
        """Refuse a Release that is no longer valid, or older than another of this place: a mirror, or who stands in
        between, may keep from us what was mended since."""
        now, made = time.time(), _instant(release, "Date", base)
        if made > now + DAY:
            raise _unfit(base, f"its date {release['Date']} is in the future")
        if "Valid-Until" in release and _instant(release, "Valid-Until", base) < now:
            raise _unfit(base, f"it was valid until {release['Valid-Until']}")
        newest = self.seen_dates.newest(base, made)
        if made < newest:
            newer = format_datetime(datetime.fromtimestamp(newest, UTC), usegmt=True)
            raise _unfit(base, f"its date {release['Date']} is before {newer}, which was seen there")

    def _list(
        self, address: str, base: str, suite: str, architecture: str, hashes: dict[str, _Hash], scratch: Path
    ) -> list[Package]:
        name = f"main/binary-{architecture}/Packages"
        for kind, ending in _ENDINGS:
            digest_due = hashes.get(name + ending)
            if digest_due is None:
                continue
            file = scratch / "Packages"
            by_hash = f"main/binary-{architecture}/by-hash/SHA256/{digest_due.sha256}"
            digest = self._first_of(
                (f"{base}/{by_hash}", f"{base}/{name}{ending}"), file, min(digest_due.size, MOST_LIST)
            )
            if digest != digest_due.sha256:
                raise _other_content(f"{base}/{name}{ending}", digest)
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


class SeenDates(Struct, frozen=True):
    """The dates of the newest Releases that were seen, in a file: by place and keyring."""

    file: Path
    keyring: str
    say: Say = silent

    def newest(self, base: str, made: float) -> float:
        """The newest date of this place, this one included; it is kept."""
        with locked(self.file):
            again = "older lists of a mirror are not noticed this time"
            dates = read_instants(self.file, "dates", self.say, again)
            dates = {place: date for place, date in dates.items() if 0 <= date < _LAST_DATE}
            name = f"{base} {self.keyring}"
            newest = max(made, dates.get(name, made))
            if newest != dates.get(name):
                with storing(self.file):
                    write_sealed_json(self.file, {"schema": 1, "dates": {**dates, name: newest}})
        return newest


class _Hash(Struct, frozen=True):
    """A file as InRelease describes it."""

    sha256: str
    size: int


def _instant(release: Mapping[str, str], field: str, base: str) -> float:
    """Seconds since 1970 of a date in a Release."""
    text = release.get(field, "")
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        raise _unfit(base, f'its {field} is "{text}"') from None


def _hashes(text: str, whence: str) -> dict[str, _Hash]:
    """Of the rows of InRelease's field SHA256: hash, size, name."""
    hashes: dict[str, _Hash] = {}
    for row in filter(None, map(str.split, text.splitlines())):
        if len(row) != 3 or not re.fullmatch(r"[0-9a-f]{64} [0-9]{1,12}", " ".join(row[:2])):
            raise DamagedError(bad_list(whence, "a row of hashes"))
        hashes[row[2]] = _Hash(row[0], int(row[1]))
    return hashes


def no_keyring(keyring: Path) -> UsageError:
    return UsageError(
        UNUSABLE(what=keyring, reason="it does not exist", hint="name a file that gpgv can read")
    )


def _other_content(address: str, digest: str) -> DamagedError:
    reason = f"it does not match its signed list (SHA256 {digest})"
    hint = "call `howlate lab kernels --refresh` and try again, or use another mirror"
    return DamagedError(UNUSABLE(what=address, reason=reason, hint=hint))


def _unfit(base: str, reason: str) -> DamagedError:
    hint = "check this machine's clock, or use another mirror"
    return DamagedError(UNUSABLE(what=f"{base}/InRelease", reason=reason, hint=hint))
