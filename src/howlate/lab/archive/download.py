"""Downloads from a mirror, with limits on their size and their time."""

from __future__ import annotations

import hashlib
import http.client
import io
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import IO, Any

from howlate.errors import TargetError
from howlate.lab.archive.packages import AbsentError
from howlate.lab.cache import storing
from howlate.lab.problems import OTHER_MIRROR
from howlate.words.statement import Statement, message

NOT_FETCHED = message("lab.not-fetched", "{address} could not be fetched: {reason}", remedy="{hint}")

TIMEOUT = 60
"""Seconds without a byte."""
SLOWEST = 1024
"""Bytes a second that a mirror must send, after TIMEOUT for its first ones."""
_AROUND, _MOST_AROUND = 2, 1 << 20
"""Bytes that may come for each one of the content, and besides: headers, and the lengths of pieces."""
_BLOCK = 1 << 18
_OF_THE_MIRROR = (401, 407, 429)
"""HTTP status codes below 500 that any other address of the mirror would return, too."""


class UnusableError(TargetError):
    """The mirror does not respond properly, and would not for the next suite either."""


def download(address: str, file: Path, most: int) -> str:
    """Write the content of the address to the file, at most `most` bytes; return its SHA256."""
    quoted = re.sub(r"[^!-~]|[\"<>\\^`{|}]", lambda m: urllib.parse.quote(m[0]), address)
    try:
        opener = _opener(_Patience(address, most))
        with opener.open(quoted, timeout=TIMEOUT) as answer, storing(file), file.open("wb") as out:
            return _copied(answer, out, address, most)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            raise AbsentError(_problem(address, "not found")) from None
        of_the_file = 400 <= error.code < 500 and error.code not in _OF_THE_MIRROR
        kind = TargetError if of_the_file else UnusableError
        raise kind(_problem(address, f"{error.code} {error.reason}")) from None
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        if isinstance(reason, UnusableError):
            raise reason from None
        if isinstance(reason, FileNotFoundError) or "No such file" in str(reason):
            raise AbsentError(_problem(address, "not found")) from None
        raise UnusableError(_problem(address, reason, "check the network")) from None


def _opener(patience: _Patience) -> urllib.request.OpenerDirector:
    """Of web addresses and files alone: a redirection to anything else is refused."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        _WebHandler(patience),
        urllib.request.FileHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


class _Patience:
    """The limit of all that is read for one download: redirections, headers, content, what is around its pieces."""

    def __init__(self, address: str, most: int) -> None:
        self._address, self._most = address, _AROUND * most + _MOST_AROUND
        self._began, self.got = time.monotonic(), 0

    def took(self, count: int) -> None:
        self.got += count
        if self.got > self._most:
            raise UnusableError(_problem(self._address, f"more than {self._most} bytes"))
        if time.monotonic() - self._began > TIMEOUT + self.got / SLOWEST:
            raise UnusableError(_problem(self._address, f"less than {SLOWEST} bytes per second"))


class _Patient(io.RawIOBase):
    """What a connection brings, while there is patience."""

    def __init__(self, raw: io.RawIOBase, patience: _Patience) -> None:
        super().__init__()
        self.raw, self._patience = raw, patience

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int | None:  # type: ignore[override]
        count = self.raw.readinto(buffer)
        self._patience.took(count or 0)
        return count

    def close(self) -> None:
        self.raw.close()
        super().close()


def _patient(connection: http.client.HTTPConnection, patience: _Patience) -> http.client.HTTPConnection:
    class PatientResponse(http.client.HTTPResponse):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more)
            raw = self.fp.detach()
            self.fp = io.BufferedReader(_Patient(raw, patience))

    connection.response_class = PatientResponse
    return connection


class _WebHandler(urllib.request.HTTPHandler, urllib.request.HTTPSHandler):
    def __init__(self, patience: _Patience) -> None:
        super().__init__()
        self._patience = patience

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self._opened(req, http.client.HTTPConnection)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self._opened(req, http.client.HTTPSConnection)

    def _opened(
        self, req: urllib.request.Request, kind: type[http.client.HTTPConnection]
    ) -> http.client.HTTPResponse:
        return self.do_open(lambda *args, **more: _patient(kind(*args, **more), self._patience), req)


def _copied(answer: Any, out: IO[bytes], address: str, most: int) -> str:
    digest = hashlib.sha256()
    got = 0
    while block := _block(answer, address):
        got += len(block)
        if got > most:
            raise UnusableError(_problem(address, f"more than {most} bytes"))
        digest.update(block)
        out.write(block)
    return digest.hexdigest()


def _block(answer: Any, address: str) -> bytes:
    """The bytes that have arrived. Network errors are kept apart from errors of the disk to which they are
    written."""
    try:
        return bytes(answer.read1(_BLOCK))
    except (OSError, http.client.HTTPException, ValueError) as error:
        kind = UnusableError if isinstance(error, TimeoutError) else TargetError
        raise kind(_problem(address, error)) from None


def _problem(address: str, reason: object, hint: str = OTHER_MIRROR) -> Statement:
    return NOT_FETCHED(address=address, reason=reason, hint=hint)
