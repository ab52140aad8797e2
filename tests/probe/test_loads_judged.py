"""What a load is held to have done while it was measured: between the first release and the last sample, whether its
supervisor answers or not."""

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from howlate.store.stream import StreamReader
from probe.drive import Running, run, running
from processes import children_of

WAITING = 14
"""SIGTERM's bit of the signals that wait for a process, from 0."""


def trailer_of(stream: Path) -> Any:
    with stream.open("rb") as file:
        reader = StreamReader(file)
        for _ in reader.batches():
            pass
    assert reader.trailer is not None
    return reader.trailer


def asked_to_end(pid: int, one: Running) -> bool:
    """SIGTERM waits for it, or the probe has ended."""
    text = Path(f"/proc/{pid}/status").read_text()
    waiting = next(line.split()[1] for line in text.splitlines() if line.startswith("ShdPnd:"))
    return bool(int(waiting, 16) >> WAITING & 1) or one.process.poll() is not None


@pytest.mark.parametrize("load", ["cpu:30", "network:200"])
def test_a_load_that_does_not_report_is_judged_by_what_it_did(probe: Path, tmp_path: Path, load: str) -> None:
    """Its supervisor is stopped while its worker works on. What it had reported last is up to 1 s old, or as
    old as the first release: then nothing could be judged."""
    stream = tmp_path / "stream"
    with running("cyclic", "--load", load, "--duration", "1h", "--stream", stream) as one:
        one.progress()
        (supervisor,) = [pid for pid in children_of(one.pid) if parent_of(pid) == one.pid]
        os.kill(supervisor, signal.SIGSTOP)
        while one.progress()[1] < 2_000_000_000:
            pass
        one.process.send_signal(signal.SIGINT)
        try:
            while not asked_to_end(supervisor, one):
                time.sleep(0.01)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(supervisor, signal.SIGCONT)
        code, _, stderr_text = one.end()
    assert code == 0, stderr_text
    trailer = trailer_of(stream)
    (told,) = trailer["loads"]
    assert 0.95 <= told["duration_ns"] / trailer["duration_ns"] <= 1.1
    assert told["units"] > 0 and told["goal"]["share"] > 0


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.parametrize(
    "words",
    [
        ("cyclic", "--activations=300", "--load=hackbench:4"),
        ("cyclic", "--activations=300", "--first=700ms", "--load=cpu:10"),
        ("unmeasured", "--duration=500ms", "--load=cpu:10"),
        ("clock", "--duration=500ms", "--load=cpu:10"),
    ],
)
def test_a_load_counts_while_it_is_measured(probe: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    """Not from its start on: then it would count the 700 ms before the first release too."""
    stream = tmp_path / "stream"
    begin_ns = time.monotonic_ns()
    done = run(*words, "--stream", stream, "--quiet")
    elapsed_ns = time.monotonic_ns() - begin_ns
    assert done.returncode == 0, done.stderr
    (told,) = trailer_of(stream)["loads"]
    assert told["duration_ns"] > 0
    assert "--first=700ms" not in words or told["duration_ns"] <= elapsed_ns - 600_000_000


def test_a_load_that_completes_no_deed_was_not_there(probe: Path, tmp_path: Path) -> None:
    """It writes at its rate and never syncs."""
    load = f"disk:5MiB/s,size=1MiB,sync=1TiB,directory={tmp_path}"
    done = run("cyclic", "--duration=300ms", "--load", load, "--quiet")
    assert done.returncode == 0
    assert all(part in done.stderr for part in ("not loaded: ", load, "fsyncs"))
