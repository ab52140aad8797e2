"""A probe that is ended from outside at a random instant, and what it left."""

import random
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from itertools import cycle

from msgspec import Struct

from probe.drive import probe_list, probe_path
from probe.loads_drive import of_session
from processes import until

SMALLER = {"disk": "disk:5MiB/s", "hackbench": "hackbench:1", "network": "network:200"}
"""In place of a load at its default target, where that takes long."""
LOADS = [SMALLER.get(load["name"], load["name"]) for load in probe_list()["loads"] if load["name"] != "none"]
ASKED = (signal.SIGTERM, signal.SIGINT)
INCONCLUSIVE = 5


class Ended(Struct, frozen=True):
    """How a probe ended that got a signal."""

    number: signal.Signals
    after_s: float
    code: int
    stderr: str

    def check(self) -> None:
        """In order: with the code of a result, with the one for none, or of the signal itself, which came before the
        probe asked for it. What was killed has no code, unless it had ended."""
        expected = {0, -self.number} | ({INCONCLUSIVE} if self.number != signal.SIGKILL else set())
        assert self.code in expected, self
        assert "Sanitizer" not in self.stderr and "runtime error" not in self.stderr, self


def end_after(words: Sequence[str], number: signal.Signals, after_s: float) -> Ended:
    """The probe with these words, ended so long after its start. Whatever it started ends with it."""
    process = subprocess.Popen(
        [probe_path(), *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(after_s)  # the instant that is tried, not a synchronisation
    process.send_signal(number)
    _, stderr = process.communicate(timeout=120)
    assert until(lambda: not of_session(process.pid)), (words, number, after_s)
    return Ended(number, after_s, process.returncode, stderr)


def whole_s(words: Sequence[str]) -> float:
    """How long the probe takes when nobody ends it."""
    begin_s = time.monotonic()
    subprocess.run([probe_path(), *words], capture_output=True, check=True, timeout=120)
    return time.monotonic() - begin_s


def ends(
    words: Sequence[str], numbers: Sequence[signal.Signals], span_s: float, seed: int
) -> Iterator[Ended]:
    """Again and again, each signal in turn, at instants drawn from the time that the probe takes; half of them from
    its first eighth, when most is begun."""
    draw = random.Random(seed)
    for number in cycle(numbers):
        yield end_after(words, number, span_s * draw.random() ** 3)
