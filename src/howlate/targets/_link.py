"""A machine reached by the system's `ssh`: one connection that everything shares, made again when it breaks."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from howlate.errors import HowlateError, NotPossibleError, UsageError
from howlate.interrupts import interrupts_held
from howlate.targets._socket_folder import socket_folder

CONNECT_S = 20.0
"""Of one try to connect, without what a user takes to type a password."""
ALIVE_S, ALIVE_COUNT = 5, 3
"""A connection on which nothing came for the product of both is given up."""
IDLE_S = 60
"""A connection that a killed howlate left ends after this."""
ASK_S = 120.0
SLOWEST = 8_000
"""Bytes a second of a connection that is still waited for."""
_PREFIX, _SOCKET = "howlate-ssh-", "c"
MARK = b"howlate:\n"
"""Before what a command prints: a login script may print too."""
_CONNECTION = 255
"""`ssh`'s own exit code where the command's is not known."""


class LinkError(NotPossibleError):
    """There is no connection. `lost`: there was one, or none could be made for a reason that may pass."""

    def __init__(self, message: str, remedy: str = "", lost: bool = False) -> None:
        super().__init__(message, remedy)
        self.lost = lost


@dataclass(frozen=True)
class Address:
    """`user@host:port` as the user wrote it; what is left out is up to ssh's own settings."""

    destination: str
    port: int = 0

    @property
    def by_hand(self) -> str:
        return f"ssh{f' -p {self.port}' if self.port else ''} {self.destination}"

    @staticmethod
    def parse(text: str) -> Address:
        """UsageError if it is none. An IPv6 address with a port stands in brackets."""
        remedy = "write --target ssh:user@host or ssh:user@host:2222; names of ~/.ssh/config work"
        user, at, host = text.rpartition("@")
        port = ""
        if host.startswith("["):
            host, closed, port = host[1:].partition("]")
            if not closed or (port and not port.startswith(":")):
                raise UsageError(f'"{text}" is no machine to reach by ssh', remedy)
        elif host.count(":") == 1:
            host, colon, port = host.partition(":")
            port = colon + port
        good = host and not (at and not user) and not (user or host).startswith("-")
        if not good or any(c.isspace() or c in "'\"\\$`;&|<>" for c in user + host):
            raise UsageError(f'"{text}" is no machine to reach by ssh', remedy)
        if port and not (port[1:].isascii() and port[1:].isdigit() and 0 < int(port[1:]) < 65536):
            raise UsageError(f'"{port[1:]}" is no port', remedy)
        return Address(f"{user}{at}{host}", int(port[1:]) if port else 0)


@dataclass(frozen=True)
class Done:
    """What a command on the machine gave."""

    code: int
    output: bytes
    errors: bytes


class Link:
    """The connection: a control master in a private folder, through which every command goes."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._place = contextlib.ExitStack()
        self._folder = self._place.enter_context(socket_folder(_PREFIX, _SOCKET))
        self._program = shlex.split(os.environ.get("HOWLATE_SSH", "")) or ["ssh"]

    @property
    def host(self) -> str:
        return self._address.destination

    @property
    def by_hand(self) -> str:
        """What a user types to reach it."""
        return self._address.by_hand

    def connect(self) -> None:
        """Makes the connection if there is none. LinkError, with its reason, if that fails. On a terminal ssh may ask
        for a password."""
        if self._is_up():
            return
        ask = sys.stdin is not None and sys.stdin.isatty()
        argv = [*self._argv(master=True, batch=not ask), "-f", "-N"]
        done = self._local(argv, None if ask else 3 * CONNECT_S, foreground=True)
        if done.code != 0:
            raise explain(done.errors, self._address)

    def run(self, script: str, given: bytes | None = None, limit_s: float = ASK_S) -> Done:
        """A line of `sh` there, to its end. LinkError where the connection broke: then it is not known whether the
        command ran to its end."""
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
            if process.poll() is None:
                process.terminate()
            with interrupts_held():
                process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def drop(self) -> None:
        """Ends the connection that is there, if any; the next command makes another."""
        with contextlib.suppress(LinkError):
            self._local([*self._argv(), "-O", "exit", self._address.destination], CONNECT_S)

    def close(self) -> None:
        """Ends it for good."""
        self.drop()
        self._place.close()

    def _is_up(self) -> bool:
        if not self._control.exists():
            return False
        return self._local([*self._argv(), "-O", "check", self._address.destination], CONNECT_S).code == 0

    @property
    def _control(self) -> Path:
        return self._folder / _SOCKET

    def _argv(self, master: bool = False, batch: bool = True) -> list[str]:
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
        self, argv: Sequence[str], limit_s: float | None, given: bytes | None = None, foreground: bool = False
    ) -> Done:
        """ssh here. In the foreground it may ask on the terminal, and Ctrl-C reaches it."""
        with tempfile.TemporaryFile() as errors:
            try:
                done = subprocess.run(
                    argv,
                    input=given,
                    stdin=subprocess.DEVNULL if given is None else None,
                    stdout=subprocess.PIPE if not foreground else subprocess.DEVNULL,
                    stderr=errors,
                    timeout=limit_s,
                    check=False,
                    process_group=None if foreground else 0,
                    env=_environment(),
                )
            except subprocess.TimeoutExpired:
                text = f"{self.host} gave no answer within {limit_s:g} s"
                raise LinkError(text, "see whether it still works by hand", lost=True) from None
            except OSError as problem:
                text = f"{argv[0]} could not be started: {problem.strerror}"
                raise LinkError(text, "install openssh-client") from None
            errors.seek(0)
            return Done(done.returncode, done.stdout or b"", errors.read())

    def _after_mark(self, done: Done) -> Done:
        before, mark, output = done.output.partition(MARK)
        if done.code == _CONNECTION or done.code < 0:
            raise LinkError(f"the connection to {self.host} broke", "go on when it is back", lost=True)
        if not mark:
            said = (done.errors or before).decode("utf-8", "replace").strip().splitlines()
            text = f"{self.host} runs no commands for this user{f': {said[-1]}' if said else ''}"
            raise LinkError(text, "it needs a shell such as /bin/sh there")
        return Done(done.code, output, done.errors)


def remote(script: str) -> str:
    """A command for whatever shell the user has there: a line for `sh`, in single quotes that all of them know."""
    if "'" in script or "\n" in script or "!" in script:
        raise ValueError(f"not for every shell: {script}")
    return f"exec sh -c 'echo howlate:; {script}'"


def _environment() -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C"}  # its words are read


_REASONS: tuple[tuple[str, str, str, bool], ...] = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "the key of {host} is another than the one that is known",
        "if it was set up anew, remove the old key with `{forget}`; if not, somebody may stand in between",
        False,
    ),
    (
        "Host key verification failed",
        "the key of {host} is not known yet",
        "connect once by hand and compare it: `{by_hand}`",
        False,
    ),
    (
        "Permission denied",
        "{host} lets nobody in with these keys ({last})",
        "see that `{by_hand}` works without a password; an agent, ~/.ssh/config and jump hosts are used as they are",
        False,
    ),
    (
        "Too many authentication failures",
        "{host} lets nobody in ({last})",
        "name the key in ~/.ssh/config",
        False,
    ),
    (
        "Could not resolve hostname",
        "there is no machine called {host}",
        "see the name for a slip, or give its address",
        False,
    ),
    (
        "Connection refused",
        "{host} refuses the connection",
        "see that sshd runs there, and on which port: ssh:user@host:PORT",
        True,
    ),
    ("timed out", "{host} does not answer", "see that it is on and can be reached", True),
    ("No route to host", "{host} cannot be reached", "see that it is on and connected", True),
    ("Network is unreachable", "{host} cannot be reached", "see this machine's own network", True),
)


def explain(errors: bytes, address: Address) -> LinkError:
    """ssh's words as a sentence with a remedy. The first that fits tells: a changed key fails verification too."""
    text = errors.decode("utf-8", "replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else "ssh said nothing"
    host = address.destination.rpartition("@")[2]
    known = f"[{host}]:{address.port}" if address.port not in (0, 22) else host
    words = {
        "host": address.destination,
        "last": last.rstrip("."),
        "by_hand": address.by_hand,
        "forget": f"ssh-keygen -R {shlex.quote(known)}",
    }
    for sign, message, remedy, lost in _REASONS:
        if sign in text:
            return LinkError(message.format(**words), remedy.format(**words), lost)
    return LinkError(
        f"{address.destination} cannot be reached: {words['last']}",
        f"see that `{words['by_hand']}` works",
        True,
    )


def is_lost(problem: HowlateError) -> bool:
    """Whether trying again may help."""
    return isinstance(problem, LinkError) and problem.lost
