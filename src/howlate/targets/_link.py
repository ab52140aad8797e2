"""A machine reached by the system's `ssh`: one connection that everything shares, made again when it breaks. Its
socket lies in a private folder whose path ssh can name: it is short, and of characters that mean nothing to ssh."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from howlate.errors import HowlateError, NotPossibleError, UsageError
from howlate.system.interrupts import interrupts_held
from howlate.system.scratch import MEMORY, held_folder, remove_stale
from howlate.targets._flow import MARK, gathered, too_much
from howlate.words.printable import shell_word
from howlate.words.statement import Statement, message

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


NO_ADDRESS = message(
    "target.no-address",
    '"{text}" is not a machine that ssh can reach',
    remedy="write --target ssh:user@host or ssh:user@host:2222; names of ~/.ssh/config work",
)
LINK = message("ssh.link", "{host}: {reason}", remedy="{hint}")
NO_SSH = message("ssh.no-ssh", "{program} could not be started: {reason}", remedy="install openssh-client")

_END_S = 5.0
"""What ssh has to end after SIGTERM."""
CONNECT_S = 20.0
"""Of one try to connect, without what a user takes to type a password."""
ALIVE_S, ALIVE_COUNT = 5, 3
"""A connection on which nothing came for the product of both is given up."""
IDLE_S = 60
"""A connection that a killed howlate left ends after this."""
ASK_S = 120.0
MOST_ANSWER, MOST_ERRORS = 16 << 20, 1 << 20
"""Bytes of what a command prints, and of its errors. The largest answers are those to many questions at once."""
_ANSWER_RATIO = 64
LONGEST_WORDS = 300
"""Characters of another machine's words in a sentence of ours."""
SLOWEST = 8_000
"""Bytes a second of a connection that is still waited for."""
_PREFIX, _SOCKET = "howlate-ssh-", "c"
_CONNECTION = 255
"""`ssh`'s own exit code where the command's is not known."""


class LinkError(NotPossibleError):
    """There is no connection. `lost`: a later try may succeed."""

    def __init__(self, problem: Statement, *, lost: bool = False) -> None:
        super().__init__(problem)
        self.lost = lost


class Address(Struct, frozen=True):
    """`user@host:port` as the user wrote it; what is left out is up to ssh's own settings."""

    destination: str
    port: int = 0

    @property
    def by_hand(self) -> str:
        """What a user types to reach it."""
        return f"ssh{f' -p {self.port}' if self.port else ''} {shell_word(self.destination)}"

    @staticmethod
    def parse(text: str) -> Address:
        """UsageError if it is none. An IPv6 address with a port stands in brackets."""
        user, at, host = text.rpartition("@")
        port = ""
        if host.startswith("["):
            host, closed, port = host[1:].partition("]")
            if not closed or (port and not port.startswith(":")):
                raise UsageError(NO_ADDRESS(text=text))
        elif host.count(":") == 1:
            host, colon, port = host.partition(":")
            port = colon + port
        good = host and not (at and not user) and not (user or host).startswith("-")
        if not good or any(c.isspace() or not c.isprintable() or c in "'\"\\$`;&|<>" for c in user + host):
            raise UsageError(NO_ADDRESS(text=text))
        if port and not (port[1:].isascii() and port[1:].isdigit() and 0 < int(port[1:]) < 65536):
            raise UsageError(NO_ADDRESS(text=text))
        return Address(f"{user}{at}{host}", int(port[1:]) if port else 0)


class Done(Struct, frozen=True):
    """What a command on the machine gave."""

    code: int
    output: bytes
    errors: bytes


class Link:
    """The connection: a control master in a private folder, through which every command goes."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.host, self.by_hand = address.destination, address.by_hand
        self._place = contextlib.ExitStack()
        self._control = self._place.enter_context(socket_folder(_PREFIX, _SOCKET)) / _SOCKET
        self._program = shlex.split(os.environ.get("HOWLATE_SSH", "")) or ["ssh"]

    def connect(self) -> None:
        """Makes the connection if there is none. LinkError, with its reason, if that fails. On a terminal ssh may ask
        for a password."""
        if self._is_up():
            return
        ask = sys.stdin is not None and sys.stdin.isatty()
        argv = [*self._argv(master=True, batch=not ask), "-f", "-N"]
        done = self._local(argv, None if ask else 3 * CONNECT_S, foreground=True)
        if done.code != 0:
            raise ssh_error(done.errors, self._address)

    def run(self, script: str, given: bytes | None = None, limit_s: float = ASK_S) -> Done:
        """A line of `sh` there, to its end. LinkError where the connection broke: then it is not known whether the
        command ran to its end. EndlessError where it answers more than any answer has."""
        self.connect()
        limit_s += len(given or b"") / SLOWEST
        done = self._local([*self._argv(), self._address.destination, remote(script)], limit_s, given)
        return self._after_mark(done)

    @contextlib.contextmanager
    def started(self, script: str) -> Iterator[subprocess.Popen[bytes]]:
        """The same, while it runs: what it prints comes after MARK."""
        self.connect()
        with interrupts_held():
            process = subprocess.Popen(
                [*self._argv(), self._address.destination, remote(script)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=0,
                env=_environment(),
            )
        try:
            yield process
        finally:
            with interrupts_held():
                if process.poll() is None:
                    process.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_END_S)
                process.kill()
                process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def drop(self) -> None:
        """Ends the connection that is there, if any; the next command makes another."""
        with contextlib.suppress(LinkError):
            self._local([*self._argv(), "-O", "exit", self._address.destination], CONNECT_S)

    def close(self) -> None:
        self.drop()
        self._place.close()

    def broke(self) -> LinkError:
        """The error to raise where a command ended without its own exit code."""
        return self.error("the connection broke", lost=True)

    def error(self, reason: str, hint: str = "", *, lost: bool = False) -> LinkError:
        """The error about this machine. Without a hint it is to connect by hand."""
        hint = hint or f"check that `{self.by_hand}` works without a password and stays connected"
        return LinkError(LINK(host=self.host, reason=reason, hint=hint), lost=lost)

    def _is_up(self) -> bool:
        if not self._control.exists():
            return False
        return self._local([*self._argv(), "-O", "check", self._address.destination], CONNECT_S).code == 0

    def _argv(self, *, master: bool = False, batch: bool = True) -> list[str]:
        settings = [
            f"ControlPath={self._control}",
            f"ControlMaster={'yes' if master else 'no'}",
            f"ControlPersist={IDLE_S}",
            f"BatchMode={'yes' if batch else 'no'}",
            f"ConnectTimeout={CONNECT_S:.0f}",
            f"ServerAliveInterval={ALIVE_S}",
            f"ServerAliveCountMax={ALIVE_COUNT}",
            "ClearAllForwardings=yes",
            "ForwardAgent=no",
            "ForwardX11=no",
            "PermitLocalCommand=no",
            "RemoteCommand=none",
            "RequestTTY=no",
            "LogLevel=ERROR",
        ]
        if not master:
            settings.append("ProxyCommand=false")  # through the master or not at all
        argv = [*self._program, *(word for one in settings for word in ("-o", one))]
        if self._address.port:
            argv += ["-p", str(self._address.port)]
        return [*argv, self._address.destination] if master else argv

    def _local(
        self,
        argv: Sequence[str],
        limit_s: float | None,
        given: bytes | None = None,
        *,
        foreground: bool = False,
    ) -> Done:
        """ssh here. In the foreground it may ask on the terminal, and Ctrl-C reaches it."""
        if not foreground:
            return self._gathered(argv, limit_s or ASK_S, given)
        with tempfile.TemporaryFile() as errors:
            try:
                done = subprocess.run(
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    timeout=limit_s,
                    check=False,
                    env=_environment(),
                )
            except subprocess.TimeoutExpired:
                raise self.error(f"no answer within {limit_s:g} s", lost=True) from None
            except OSError as problem:
                raise LinkError(NO_SSH(program=argv[0], reason=problem.strerror)) from None
            errors.seek(0)
            return Done(done.returncode, b"", errors.read(MOST_ERRORS))

    def _gathered(self, argv: Sequence[str], limit_s: float, given: bytes | None) -> Done:
        most = (MOST_ANSWER + _ANSWER_RATIO * len(given or b""), MOST_ERRORS)
        try:
            done = gathered(argv, given, limit_s, most, _environment())
        except OSError as problem:
            raise LinkError(NO_SSH(program=argv[0], reason=problem.strerror)) from None
        if done is None:
            raise self.error(f"no answer within {limit_s:g} s", lost=True)
        for data, limit in zip(done[1:], most, strict=True):
            if len(data) > limit:
                raise too_much(self.host, limit, "an answer")
        return Done(*done)

    def _after_mark(self, done: Done) -> Done:
        before, mark, output = done.output.partition(MARK)
        if done.code == _CONNECTION or done.code < 0:
            raise self.broke()
        if not mark:
            lines = (done.errors or before).decode("utf-8", "replace").strip().splitlines() or [""]
            reason = f"it does not run commands for this user: {clipped(lines[-1])}".removesuffix(": ")
            raise self.error(reason, "give the user a shell such as /bin/sh there")
        return Done(done.code, output, done.errors)


def clipped(text: str) -> str:
    """Another machine's words, as far as a sentence of ours has room for them."""
    return text if len(text) <= LONGEST_WORDS else f"{text[:LONGEST_WORDS]}..."


def remote(script: str) -> str:
    """A command for whatever shell the user has there: a line for `sh`, in single quotes that all of them know."""
    if "'" in script or "\n" in script or "!" in script:
        raise ValueError(f"not for every shell: {script}")
    return f"exec sh -c 'echo howlate:; {script}'"


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C"}  # its words are read


_CHECK = "check the machine's name, its power and the network"
_REASONS: tuple[tuple[str, str, str, bool], ...] = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its host key has changed",
        "if it was set up anew, remove the old key with `{forget}`; if not, this may be an attack",
        False,
    ),
    (
        "Host key verification failed",
        "its host key is unknown",
        "connect once by hand and compare the key: `{by_hand}`",
        False,
    ),
    ("Permission denied", "access denied ({last})", "check that `{by_hand}` works without a password", False),
    ("Too many authentication failures", "access denied ({last})", "name the key in ~/.ssh/config", False),
    ("Could not resolve hostname", "unknown host", _CHECK, False),
    (
        "Connection refused",
        "connection refused",
        "check that sshd runs there, and its port: ssh:user@host:PORT",
        True,
    ),
    ("timed out", "no answer", _CHECK, True),
    ("No route to host", "no route", _CHECK, True),
    ("Network is unreachable", "the network is unreachable", _CHECK, True),
    ("", "{last}", "check that `{by_hand}` works", True),
)
"""A part of ssh's message, the reason, what to do, and whether a later try may succeed."""


def ssh_error(errors: bytes, address: Address) -> LinkError:
    """The error about ssh's message. The first match counts: a changed key fails verification too."""
    text = errors.decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else "ssh failed without a message"
    host = address.destination.rpartition("@")[2]
    known = f"[{host}]:{address.port}" if address.port not in (0, 22) else host
    values = {
        "last": clipped(last.rstrip(".")),
        "by_hand": address.by_hand,
        "forget": f"ssh-keygen -R {shell_word(known)}",
    }
    _, reason, hint, lost = next(row for row in _REASONS if row[0] in text)
    return LinkError(
        LINK(host=address.destination, reason=reason.format(**values), hint=hint.format(**values)), lost=lost
    )


def is_lost(problem: HowlateError) -> bool:
    """Whether trying again may help."""
    return isinstance(problem, LinkError) and problem.lost
