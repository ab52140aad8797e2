"""A measuring thread that loses its CPU says so in its account."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from howlate.store.stream import StreamReader
from lacks import MACHINE, skip
from probe.drive import probe_path
from processes import until

pytestmark = pytest.mark.beside


def threads_on(pid: int, cpu: int) -> list[int]:
    """The threads of a process that may use this CPU alone."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            if os.sched_getaffinity(int(task.name)) == {cpu}:
                found.append(int(task.name))
        except ProcessLookupError:
            continue
    return found


def account_of(stream: Path) -> list[bool]:
    with StreamReader.open(stream) as reader:
        for _batch in reader.batches():
            pass
        assert reader.trailer is not None
        return [entry["place_changed"] for entry in reader.trailer["accounting"]]


@pytest.mark.parametrize("words", [["cyclic", "--period", "1ms"], ["timer", "--sleep", "1ms"]])
@pytest.mark.parametrize("moved", [True, False])
def test_a_thread_that_lost_its_cpu_says_so(
    probe: Path, tmp_path: Path, words: list[str], moved: bool
) -> None:
    """As the kernel does where it takes a CPU offline: the thread goes on elsewhere."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip("a second CPU that it may use", MACHINE)
    here, elsewhere = cpus[-1], cpus[0]
    stream = tmp_path / "stream"
    command: list[str | Path] = [
        probe_path(),
        *words,
        "--duration",
        "10min",
        "--policy",
        "other",
        "--cpus",
        str(here),
    ]
    with subprocess.Popen(
        [*command, "--stream", stream, "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        # The header is written when each measuring thread is past its first reading.
        assert until(lambda: stream.exists() and stream.stat().st_size > 0)
        if moved:
            threads = threads_on(running.pid, here)
            assert threads
            for thread in threads:
                os.sched_setaffinity(thread, {elsewhere})
        running.send_signal(signal.SIGINT)
        running.communicate()
    assert account_of(stream) == [moved]
