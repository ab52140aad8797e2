"""Signatures of an archive's lists, checked by gpgv."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from howlate.errors import DamagedError
from howlate.lab.problems import UNUSABLE, not_installed
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
