"""What a load did counts while it is measured, however long the probe waits for its turn among the load's tasks."""

from io import BytesIO
from pathlib import Path

import pytest

from howlate.store.stream import StreamReader
from lab.guests import STANDARD, bench, cell, stream_of


@pytest.mark.long
def test_a_load_of_many_tasks_counts_from_the_first_release_to_the_last_sample(
    tmp_path: Path, booted: Path
) -> None:
    """160 tasks on a guest's one CPU, in virtual time: once the probe's main thread waited there for longer than was
    measured, before the first release and after the last, and what the load did meanwhile counted."""
    on = bench(tmp_path / "cache", STANDARD, snapshots=booted)
    stream = StreamReader(BytesIO(stream_of(on, cell(60, "--load=hackbench:4"))))
    for _ in stream.batches():
        pass
    assert stream.trailer is not None
    (load,) = stream.trailer["loads"]
    measured_ns = stream.trailer["duration_ns"]
    assert measured_ns <= load["duration_ns"] <= 1.05 * measured_ns
    assert load["goal"]["reference"] > 0 and load["units"] > 0
