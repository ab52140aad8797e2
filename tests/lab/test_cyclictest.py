"""cyclictest as a second job in the same guest: two programs that measure the same thing find the same."""

import statistics
from pathlib import Path

import numpy as np
import pytest

from howlate.store.stream import StreamReader
from lab.guests import LIMITS, bench, cell, peers, stream_of

ACTIVATIONS = 1000
PHASES_US = (0, 1357)


def our_median(stream: bytes, place: Path) -> float:
    place.write_bytes(stream)
    with StreamReader.open(place) as reader:
        found = [batch.columns["latency_ns"] for batch in reader.batches() if batch.table.name == "samples"]
    return float(np.median(np.concatenate(found)))


def their_median(output: bytes) -> float:
    """Of `cyclictest -v`: lines of thread, count and latency."""
    rows = [line.split(":") for line in output.decode().splitlines() if line.count(":") == 2]
    found = [int(row[2]) for row in rows if row[0].strip() == "0"]
    assert len(found) == ACTIVATIONS
    return statistics.median(found)


@pytest.mark.long
def test_cyclictest_finds_the_same_median_and_ours_is_not_above_it(tmp_path: Path, booted: Path) -> None:
    on = bench(tmp_path, extra=peers(), snapshots=booted)
    for phase in PHASES_US:
        ours = our_median(stream_of(on, cell(ACTIVATIONS, f"--first={1000 + phase}us")), tmp_path / "stream")
        argv = ["/bin/cyclictest", "-t1", "-p80", "-i1000", f"-l{ACTIVATIONS}", "-m", "-v", "-N"]
        (done,) = on.run([[*argv, f"--secaligned={phase}"]], LIMITS)
        assert done.status == "0", done.stderr.decode()
        theirs = their_median(done.stdout)
        assert theirs * 0.95 <= ours <= theirs
