"""Signatures of an archive's lists, checked by gpgv."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from howlate.errors import DamagedError, NotPossibleError
from howlate.words.statement import rule

NO_GPGV = rule(
    "lab.no-gpgv", "gpgv, which verifies signatures, is not installed", remedy="install the package gpgv"
)
BAD_SIGNATURE = rule(
    "lab.bad-signature",
    "{keyring} does not verify the signature of {list} ({reason})",
    remedy="name the keyring of that archive with --keyring, or use another mirror",
)


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
