"""What the tests over SSH have in common: a target that is closed, and cells that something happens to."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from howlate.store.frames import EndKind
from howlate.targets import Progress
from howlate.targets._tries import Clock
from howlate.targets.ssh import KEEP_S, LEASE_S, SshTarget
from ssh.server import Server
from targets.cells import rows_of


@contextmanager
def opened(
    server: Server,
    said: list[str] | None = None,
    lease_s: float = LEASE_S,
    keep_s: float = KEEP_S,
    clock: Clock | None = None,
) -> Iterator[SshTarget]:
    say = (said if said is not None else []).append
    with closing(SshTarget(server.name, say, lease_s, keep_s, clock)) as target:
        yield target


class Once:
    """Does something when progress comes for the first time."""

    def __init__(self, what: object) -> None:
        self._what = what
        self.seen: list[Progress] = []
        self.done = False

    def __call__(self, progress: Progress) -> None:
        self.seen.append(progress)
        if not self.done and callable(self._what):
            self.done = True
            self._what()


def is_whole(stream: Path, activations: int) -> None:
    rows, reader = rows_of(stream)
    assert reader.end is not None
    assert reader.end.kind is EndKind.WHOLE, reader.end.reason
    assert reader.trailer is not None
    assert reader.trailer["stop_reason"] == "activations"
    assert rows == activations
