"""A cable between this machine's ssh and the server's sshd that can be pulled: a pair of veth in two network
namespaces, where they may be made."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lacks import AS_ROOT, skip

FAR = "192.0.2.2"
"""Of a network for examples (RFC 5737)."""
_SCRIPT = f"""set -e
ip link add name near type veth peer name far
setpriv --pdeathsig KILL unshare --net sleep infinity &
far=$!
while test "$(readlink /proc/$far/ns/net)" = "$(readlink /proc/$$/ns/net)"; do kill -0 $far; done
ip link set far netns $far
nsenter --net=/proc/$far/ns/net ip address add {FAR}/30 dev far
nsenter --net=/proc/$far/ns/net ip link set far up
ip address add 192.0.2.1/30 dev near
ip link set near up
echo $far
while read what; do ip link set near $what; echo $what; done
kill $far
"""


class Cable:
    """Plugged in."""

    def __init__(self, near: subprocess.Popen[str], far: int) -> None:
        self._near, self._far = near, far

    def pull(self) -> None:
        self._set("down")

    def plug_in(self) -> None:
        self._set("up")

    @property
    def at_this_end(self) -> list[str]:
        """What a command begins with that is to be at this end."""
        return _entering(self._near.pid)

    @property
    def at_that_end(self) -> list[str]:
        return _entering(self._far)

    def _set(self, what: str) -> None:
        assert self._near.stdin is not None
        assert self._near.stdout is not None
        self._near.stdin.write(what + "\n")
        self._near.stdin.flush()
        assert self._near.stdout.readline() == what + "\n"


def _entering(pid: int) -> list[str]:
    user = [] if os.geteuid() == 0 else ["--user", "--preserve-credentials"]
    return ["nsenter", *user, f"--target={pid}", "--net"]


@contextmanager
def cable(folder: Path) -> Iterator[Cable]:
    """Skips, with the reason, where this machine allows no such namespaces."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    with (
        (folder / "cable").open("w") as errors,
        subprocess.Popen(
            ["unshare", *user, "--net", "sh", "-c", _SCRIPT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as near,
    ):
        assert near.stdin is not None
        assert near.stdout is not None
        far = near.stdout.readline()
        if not far:
            skip(f"network namespaces ({(folder / 'cable').read_text()})", AS_ROOT)
        yield Cable(near, int(far))
        near.stdin.close()
