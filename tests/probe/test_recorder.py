"""The recorder keeps up, in memory that does not grow, wherever it runs."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from probe.drive import cell, read_stream, run, running

TWO_CPUS = len(os.sched_getaffinity(0)) >= 2


@pytest.mark.parametrize("cpus", ["one", "all"])
def test_nothing_is_dropped_at_the_shortest_period(probe: Path, tmp_path: Path, cpus: str) -> None:
    path = tmp_path / "stream"
    where = ["--cpus", "all"] if cpus == "all" else []
    summary = cell(run("cyclic", "--period", "20us", "--duration", "1s", *where, "--json", "--stream", path))
    assert summary["accounting"]["dropped"] == 0
    assert summary["accounting"]["releases"] == 50_000 * len(summary["threads"])
    recorder = read_stream(path).raw_header["in_force"]["recorder"]
    if cpus == "all" or not TWO_CPUS:
        assert recorder["write_bytes_max"] == 4096
    else:
        assert recorder["cpus"] != str(summary["threads"][0]["cpu"])
    assert recorder["ring_samples"] * 20_000 >= 10e9


def test_memory_does_not_grow_with_the_length_of_a_streamed_run(probe: Path, tmp_path: Path) -> None:
    words = ["cyclic", "--period", "20us", "--cpus", "all", "--duration", "1h", "--quiet"]
    with running(*words, "--stream", tmp_path / "stream") as one:
        sizes = []
        for _ in range(5):
            one.progress()
            sizes.append(int(one.status("VmRSS").split()[0]))
        one.process.send_signal(signal.SIGTERM)
        assert one.end()[0] == 0
    assert sizes[-1] - sizes[1] <= 256, f"kB, once a second: {sizes}"


def test_the_machine_is_sampled_once_a_second_and_cpu(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    cell(run("cyclic", "--duration", "3s", "--json", "--stream", path))
    stream = read_stream(path)
    cpus = next(table for table in stream.header.tables if table.name == "cpus")
    rows = stream.columns[cpus.id]
    online = set(rows["cpu"].tolist())
    assert set(os.sched_getaffinity(0)) <= online
    assert 2 <= rows["cpu"].size / len(online) <= 4
    assert rows["busy_permille"].min() >= 0
    assert stream.trailer is not None
    measuring = [entry["cpu"] for entry in stream.trailer["frequency_khz"]]
    assert measuring == [account["cpu"] for account in stream.trailer["accounting"]]
    assert not rows["frequency_khz"][np.isin(rows["cpu"], measuring)].any()  # reading it can interrupt them
    assert (rows["busy_permille"] + rows["steal_permille"]).max() <= 1000
