"""A measuring thread that loses its CPU says so in its account."""

import os
import subprocess
from pathlib import Path

import pytest

from howlate.store.stream import StreamReader
from lacks import MACHINE, skip
from probe.drive import probe_path

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
        "2s",
        "--policy",
        "other",
        "--cpus",
        str(here),
    ]
    with subprocess.Popen(
        [*command, "--stream", stream, "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        if moved:
            while running.poll() is None and (not stream.exists() or not threads_on(running.pid, here)):
                pass
            size = stream.stat().st_size
            while running.poll() is None and stream.stat().st_size == size:
                pass  # a batch was written, so the measuring thread is past its first reading
            for thread in threads_on(running.pid, here):
                os.sched_setaffinity(thread, {elsewhere})
        running.communicate()
    assert account_of(stream) == [moved]
