"""Starting the probe, reading its progress lines and its stream."""

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from howlate.store.stream import Header, StreamReader, Totals
from processes import completed

Numbers = npt.NDArray[np.int64]


def probe_path() -> Path:
    return Path(os.environ.get("HOWLATE_PROBE") or Path(__file__).parents[2] / "build/probe/howlate-probe")


@functools.cache
def probe_list() -> Any:
    """What `list --json` says."""
    return json.loads(subprocess.check_output([probe_path(), "list", "--json"]))


def run(
    *words: str | Path,
    before: tuple[str, ...] = (),
    given: str = "",
    prepared: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    """The probe with these words, to its end; `given` on its standard input. `prepared` is called in its process
    before it starts."""
    return completed([*before, probe_path(), *words], input=given, timeout=120, preexec_fn=prepared)


def as_nobody(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """As a user without rights, with a copy of the probe that this user may read."""
    copy = folder / "howlate-probe"
    if not copy.exists():
        shutil.copy(probe_path(), copy)
    ordinary = ["nice", "-n", str(-os.nice(0))]  # from a higher one, the suite's perhaps, nobody comes back
    line = [*ordinary, "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", str(copy), *words]
    return completed(line, timeout=60)


def cell(done: subprocess.CompletedProcess[str]) -> Any:
    """The one cell of a `--json` summary."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["cells"][0]


class Running:
    """A probe that was started with --progress."""

    def __init__(self, *words: str | Path) -> None:
        self.process = subprocess.Popen(
            [probe_path(), *words, "--progress"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    def progress(self) -> tuple[int, int, int]:
        """The next progress line: activations, elapsed_ns, latency_ns_max. Waits for it."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("progress "):
                activations, elapsed_ns, latency_ns_max = map(int, line.split()[1:4])
                return activations, elapsed_ns, latency_ns_max
        raise AssertionError(f"no progress line: {self.process.stderr.read() if self.process.stderr else ''}")

    def status(self, key: str) -> str:
        """A line of /proc/<pid>/status."""
        text = Path(f"/proc/{self.pid}/status").read_text()
        return next(line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith(key + ":"))

    def stop(self) -> tuple[int, str, str]:
        """Asks it to stop; then as end()."""
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    def end(self) -> tuple[int, str, str]:
        """Its exit code and what it printed, after it has ended."""
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err


@contextmanager
def running(*words: str | Path) -> Iterator[Running]:
    one = Running(*words)
    try:
        yield one
    finally:
        if one.process.poll() is None:
            one.process.send_signal(signal.SIGCONT)
            one.process.kill()
        one.process.communicate()


def stall(one: Running, stall_ns: int, *others: Running) -> tuple[int, int]:
    """Stops every thread of the probe for so long, and of others with it; the instants (CLOCK_MONOTONIC) between
    which all of them stood."""
    for each in (one, *others):
        each.process.send_signal(signal.SIGSTOP)
    for each in (one, *others):
        while each.status("State")[0] != "T":
            assert each.process.poll() is None, "it had ended before it could be stopped"
    stopped_ns = time.monotonic_ns()
    time.sleep(stall_ns / 1e9)  # the delay that is injected, not a synchronisation
    continued_ns = time.monotonic_ns()
    for each in (one, *others):
        each.process.send_signal(signal.SIGCONT)
    return stopped_ns, continued_ns


def stall_often(one: Running, stall_ns: int, times: int) -> int:
    """Stops it again and again, so that also a task that pauses for half of each second is at work at one of them;
    the length of the shortest stall. It may end by itself before the last; 0 if it did before half of them."""
    lengths: list[int] = []
    while len(lengths) < times:
        try:
            stopped_ns, continued_ns = stall(one, stall_ns)
        except (AssertionError, OSError):
            if one.process.poll() is None:
                raise
            break
        lengths.append(continued_ns - stopped_ns)
        time.sleep(stall_ns / 1e9)  # it runs for as long
    return min(lengths) if len(lengths) >= times / 2 else 0


def threads_of(one: Running) -> list[tuple[int, str, str]]:
    """Number, name and state of each of the probe's threads. One that ends while they are read is not among them."""
    found = []
    for stat in Path(f"/proc/{one.pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
            found.append((int(stat.parent.name), name, rest.split()[0]))
    return found


def threads(one: Running) -> dict[str, tuple[int, str]]:
    """The number and the state of each of the probe's threads, by its name."""
    return {name: (number, state) for number, name, state in threads_of(one)}


def thread_id(one: Running, name: str) -> int:
    return threads(one)[name][0]


def wait_until_running(one: Running, *names: str) -> None:
    """Until one of the probe's threads of these names has a CPU, or wants one; or it has ended."""
    end = time.monotonic() + 60
    while time.monotonic() < end and one.process.poll() is None:
        if any(state == "R" for name, (_, state) in threads(one).items() if name in names):
            return
    assert one.process.poll() is not None, f"none of {names} was seen running"


class Stream(Struct, frozen=True):
    """A whole stream, read by the host's decoder."""

    header: Header
    raw_header: Mapping[str, Any]
    columns: Mapping[int, Mapping[str, Numbers]]
    totals: Mapping[int, Totals]
    trailer: Mapping[str, Any] | None


def read_stream(path: Path) -> Stream:
    gathered: dict[int, dict[str, list[Numbers]]] = {}
    totals: dict[int, Totals] = {}
    with StreamReader.open(path) as reader:
        for batch in reader.batches():
            table = gathered.setdefault(batch.table.id, {})
            for name, column in batch.columns.items():
                table.setdefault(name, []).append(column.astype(np.int64))
            totals[batch.table.id] = batch.totals
        trailer = reader.trailer
        header = reader.header
    columns = {
        table: {name: np.concatenate(parts) for name, parts in named.items()}
        for table, named in gathered.items()
    }
    return Stream(header, header.raw, columns, totals, trailer)
