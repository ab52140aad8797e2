"""A real sshd on loopback: its own configuration, keys and port, in a mount namespace of its own where it may.

Debian's, unpacked by ./dev test into build/sshd and not installed: no service, no user, no host keys of this machine.
"""

import getpass
import os
import pwd
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

from howlate.system.paths import ROOT
from lacks import AS_ROOT, MACHINE, skip
from processes import children_of, in_namespace, until
from ssh.cable import FAR, Cable

UNPACKED = ROOT / "build" / "sshd"
HERE = "127.0.0.1"
PLACES = ("/dev/shm", "/tmp", "/var/tmp", "/run")
"""Where the probe may go on the machine: file systems of its own, so that what is left behind is seen."""


def program(name: str) -> Path:
    """`sshd` of the system, or the one that ./dev test unpacked."""
    unpacked = UNPACKED / "usr/sbin" / name
    if installed := shutil.which(name, path="/usr/sbin:/usr/lib/openssh"):
        return Path(installed)
    if not unpacked.exists():
        skip(name, "./dev test")
    return unpacked


def _has_user(name: str) -> bool:
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False


@cache
def has_namespaces() -> bool:
    """Whether a machine to reach can have temporary folders of its own, in which no other test leaves anything."""
    if os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


def alone_where_shared() -> list[pytest.MarkDecorator]:
    """The mark of tests that look for what a session left, where it might be another's."""
    return [] if has_namespaces() else [pytest.mark.alone]


class Server:
    """A machine on which an sshd listens. As root it is one of its own as far as its temporary folders go."""

    def __init__(
        self, folder: Path, port: int, sshd: Path, mounts: Sequence[str] | None, cable: Cable | None = None
    ) -> None:
        """`mounts`: None where it shares the folders of this machine."""
        self.folder, self.port, self._sshd, self._cable = folder, port, sshd, cable
        self._listener: subprocess.Popen[bytes] | None = None
        self._holder: subprocess.Popen[bytes] | None = None
        if mounts is not None:
            self._holder = _separate(folder, mounts)

    @property
    def name(self) -> str:
        return f"{getpass.getuser()}@{FAR if self._cable else HERE}:{self.port}"

    @property
    def target(self) -> str:
        return f"ssh:{self.name}"

    def path(self, place: str) -> Path:
        """A path of that machine, seen from here."""
        return Path(f"/proc/{self._holder.pid}/root{place}") if self._holder else Path(place)

    def folders(self) -> list[Path]:
        """What sessions have left there."""
        return sorted(found for place in PLACES[:3] for found in self.path(place).glob("howlate.*"))

    def started(self) -> dict[int, str]:
        """The processes of that machine, with their command lines, where they can be told from this one's."""
        if self._holder is None:
            return {}
        found = in_namespace("mnt", Path(f"/proc/{self._holder.pid}/ns/mnt").readlink())
        own = {self._holder.pid, self._listener.pid if self._listener else 0}
        return {pid: line for pid, line in found.items() if pid not in own}

    def inside(self, *argv: str) -> None:
        """A command on that machine that does not come over ssh."""
        subprocess.run([*self._enter(), *argv], stdout=subprocess.DEVNULL, check=True)

    def _enter(self) -> list[str]:
        if self._holder is None:
            return []
        there = f"/proc/{self._holder.pid}"  # its root is not that of its namespace where these tests run in a chroot
        return ["nsenter", f"--mount={there}/ns/mnt", f"--root={there}/root"]

    def start(self) -> None:
        """Listens."""
        with (self.folder / "log").open("wb") as log:
            end = self._cable.at_that_end if self._cable else []
            argv = [*end, *self._enter(), str(self._sshd), "-D", "-e", "-f", str(self.folder / "settings")]
            listener = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._listener = listener
        said = self.folder / "log"
        assert until(lambda: b"listening on" in said.read_bytes() or listener.poll() is not None)
        assert listener.poll() is None, said.read_text()

    def connections(self) -> list[int]:
        """The server's processes for connections that were made: not what was started over them."""
        if self._listener is None:
            return []
        return [pid for pid in children_of(self._listener.pid) if _command(pid).startswith("sshd")]

    def cut(self) -> None:
        """Breaks every connection. What was started over them goes on, as far as it can."""
        for pid in self.connections():
            _signal(pid, signal.SIGKILL)

    def fall_silent(self) -> None:
        """Lets every connection stand without an answer, as a cable does that was pulled."""
        for pid in self.connections():
            _signal(pid, signal.SIGSTOP)

    def stop(self) -> None:
        """Breaks every connection and takes no more."""
        if self._listener is not None:
            self.cut()
            self._listener.kill()
            self._listener.wait()
            self._listener = None

    def end(self) -> None:
        self.stop()
        if self._holder is not None:
            self._holder.communicate()


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _separate(folder: Path, mounts: Sequence[str]) -> subprocess.Popen[bytes]:
    """A process that holds a mount namespace: file systems of its own on the temporary folders (the test's
    folder and the server stay in sight), a user sshd, which it wants, and a home that is in one of them."""
    users = Path("/etc/passwd").read_text().splitlines()
    mine = [line.split(":") for line in users if line.split(":")[2] == str(os.geteuid())]
    others = [line for line in users if line.split(":")[2] != str(os.geteuid())]
    entries = [":".join([*one[:5], "/run/home", one[6]]) for one in mine]
    sshd = "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin"
    (folder / "passwd").write_text("\n".join([*entries, *others, sshd]) + "\n")
    own = {place: f"-t tmpfs -o mode=1777,size=256m tmpfs {place}" for place in PLACES}
    own.update({line.rsplit(" ", 1)[1]: line for line in mounts})
    seen = {9: folder, **({8: UNPACKED} if UNPACKED.is_dir() else {})}
    where = {number: shlex.quote(str(path)) for number, path in seen.items()}
    script = [f"exec {number}<{path}" for number, path in where.items()]
    script += [f"mount --bind {where[9]}/passwd /etc/passwd", *(f"mount {line}" for line in own.values())]
    for number, path in where.items():
        bind = f"mount --no-canonicalize --bind /proc/self/fd/{number} {path}"
        script += [f"mkdir -p {path}", bind, f"exec {number}<&-"]
    script += ["mkdir -p /run/sshd /run/home", "chmod 755 /run/sshd", "echo ready", "exec cat"]
    argv = ["unshare", "--mount", "--propagation", "private", "sh", "-c", " && ".join(script)]
    holder = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"ready\n"
    return holder


def keygen(path: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def write_known(folder: Path, port: int, key: Path, host: str = HERE) -> None:
    """The host's key, as this machine knows it."""
    kind, public = key.with_suffix(".pub").read_text().split()[:2]
    (folder / "known").write_text(f"[{host}]:{port} {kind} {public}\n")


def write_client(folder: Path, key: Path) -> str:
    """What $HOWLATE_SSH is to be: the system's ssh with a configuration of the test's own."""
    (folder / "client").write_text(
        f"Host *\n IdentityFile {key}\n IdentitiesOnly yes\n IdentityAgent none\n"
        f" UserKnownHostsFile {folder / 'known'}\n GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n"
    )
    return f"ssh -F {shlex.quote(str(folder / 'client'))}"


PARTS = {"SshdSessionPath": "sshd-session", "SshdAuthPath": "sshd-auth"}
"""The programs that sshd starts by an absolute path (the first since OpenSSH 9.8, the second since 10.0), by the
settings that name them (sshd_config(5))."""


def _parts(sshd: Path) -> list[str]:
    """Where the parts of an unpacked sshd are: an installed one finds its own, an older one lacks the settings."""
    if not sshd.is_relative_to(UNPACKED):
        return []
    places = {setting: UNPACKED / "usr/lib/openssh" / name for setting, name in PARTS.items()}
    return [f"{setting} {path}" for setting, path in places.items() if path.exists()]


def _settings(
    folder: Path, port: int, host: str, parts: Sequence[str], environment: Mapping[str, str]
) -> str:
    lines = [
        f"Port {port}",
        f"ListenAddress {host}",
        f"HostKey {folder / 'host'}",
        f"AuthorizedKeysFile {folder / 'authorized'}",
        f"PidFile {folder / 'pid'}",
        "PasswordAuthentication no",
        "KbdInteractiveAuthentication no",
        "PermitRootLogin yes",
        "StrictModes no",
        "UsePAM no",
        "MaxStartups 100",
        *parts,
        *(f"SetEnv {name}={value}" for name, value in environment.items()),
    ]
    return "\n".join(lines) + "\n"


@contextmanager
def serving(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    mounts: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    cable: Cable | None = None,
    force: Path | None = None,
) -> Iterator[Server]:
    """A machine to reach by ssh. `mounts`: what `mount` is told, for other file systems than 256 MiB of memory in its
    temporary folders (only where they can be had); `environment`: of what is started there; `cable`: what it is
    reached over, if not the loopback; then a machine that is silent for five seconds is noticed; `force`: the program
    that answers each command in its place."""
    sshd, separate = program("sshd"), has_namespaces()
    if mounts and not separate:
        skip("mount namespaces", AS_ROOT)
    if os.geteuid() == 0 and not separate and not _has_user("sshd"):
        skip("a user sshd, which root's sshd wants and mounts in a namespace cannot give it here", MACHINE)
    user, port = keygen(folder / "user"), free_port()
    (folder / "authorized").write_bytes(user.with_suffix(".pub").read_bytes())
    host = FAR if cable else HERE
    write_known(folder, port, keygen(folder / "host"), host)
    client = write_client(folder, user)
    if cable:
        client = f"{shlex.join(cable.at_this_end)} {client} -o ServerAliveInterval=1 -o ServerAliveCountMax=5"
    monkeypatch.setenv("HOWLATE_SSH", client)
    settings = _settings(folder, port, host, _parts(sshd), environment or {})
    (folder / "settings").write_text(settings + (f"ForceCommand {force}\n" if force else ""))
    server = Server(folder, port, sshd, mounts if separate else None, cable)
    try:
        server.start()
        yield server
    finally:
        server.end()
