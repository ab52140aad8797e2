"""A private folder whose sockets ssh can name: their paths are short, and of characters that mean nothing to it."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

from howlate.errors import NotPossibleError
from howlate.system.scratch import MEMORY, held_folder, remove_stale

LONGEST = 107
"""Of a socket's path (unix(7): sun_path with its final 0 has 108)."""
_ADDED = len(".0123456789abcdef")
"""What ssh appends to the name while it makes a control socket."""
_NAMED = re.compile(r"/[A-Za-z0-9._@:+/-]*")
"""No `%`, `~`, `$`, quote or space: ssh reads them in ControlPath."""


@contextlib.contextmanager
def socket_folder(prefix: str, name: str) -> Iterator[Path]:
    """For a socket of this name: below $TMPDIR where that will do. NotPossibleError where no place does."""
    reasons = []
    for place in _places():
        with contextlib.ExitStack() as held:
            folder, why = _tried(held, place, prefix, name)
            if folder is not None:
                yield folder
                return
        reasons.append(f"{place} ({why})")
    raise NotPossibleError(
        "no folder can hold ssh's control socket: {reasons:all}",
        remedy="set TMPDIR to a folder of yours with a short path, on a file system that takes sockets",
        reasons=tuple(reasons),
    )


def _tried(held: contextlib.ExitStack, place: Path, prefix: str, name: str) -> tuple[Path | None, str]:
    """A folder there in which a socket was made, or why there is none."""
    if not _NAMED.fullmatch(str(place)):
        return None, "ssh would read characters of it"
    try:
        remove_stale(place, prefix)
        folder = held.enter_context(held_folder(prefix, place))
        if len(str(folder / name)) + _ADDED > LONGEST:
            return None, "its path is too long"
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(str(folder / name))
        (folder / name).unlink()
    except OSError as problem:
        return None, problem.strerror or str(problem)
    return folder, ""


def _places() -> list[Path]:
    places = [
        os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}",
        str(MEMORY),
        "/tmp",
        "/var/tmp",
    ]
    with contextlib.suppress(OSError):  # no folder can be written to
        places.insert(0, tempfile.gettempdir())
    with contextlib.suppress(RuntimeError):  # a user without a home
        places.append(str(Path.home()))
    return [Path(place) for place in dict.fromkeys(places)]
