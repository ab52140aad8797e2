"""Downloads from a mirror, with limits on their size and their time."""

from __future__ import annotations

import hashlib
import http.client
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import IO, Any

from howlate.errors import TargetError
from howlate.lab.archive import AbsentError
from howlate.lab.cache import storing
from howlate.words.statement import rule

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
NOT_FETCHED = rule("lab.http-error", "{address} could not be fetched: {reason}", remedy="use another mirror")

TIMEOUT = 60
"""Seconds without a byte."""
SLOWEST = 1024
"""Bytes a second that a mirror must send, after TIMEOUT for its first ones."""
_BLOCK = 1 << 18
_OF_THE_MIRROR = (401, 407, 429)
"""HTTP status codes below 500 that any other address of the mirror would return, too."""


class UnusableError(TargetError):
    """The mirror does not respond properly, and would not for the next suite either."""


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
        kind = TargetError if of_the_file else UnusableError
        raise kind(NOT_FETCHED(address=address, reason=f"{error.code} {error.reason}")) from None
    except (urllib.error.URLError, http.client.HTTPException, OSError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, FileNotFoundError) or "No such file" in str(reason):
            raise AbsentError(NOT_THERE(address=address)) from None
        raise UnusableError(NOT_FETCHED_FROM_MIRROR(address=address, reason=reason)) from None


def _copied(answer: Any, out: IO[bytes], address: str, most: int) -> str:
    digest = hashlib.sha256()
    began, got = time.monotonic(), 0
    while block := _block(answer, address):
        got += len(block)
        if got > most:
            raise UnusableError(TOO_MUCH(address=address, most=most))
        if time.monotonic() - began > TIMEOUT + got / SLOWEST:
            raise UnusableError(TOO_SLOW(address=address, slowest=SLOWEST))
        digest.update(block)
        out.write(block)
    return digest.hexdigest()


def _block(answer: Any, address: str) -> bytes:
    """The bytes that have arrived. Network errors are kept apart from errors of the disk to which they are
    written."""
    try:
        return bytes(answer.read1(_BLOCK))
    except (OSError, http.client.HTTPException) as error:
        kind = UnusableError if isinstance(error, TimeoutError) else TargetError
        raise kind(CUT_OFF(address=address, reason=error)) from None
