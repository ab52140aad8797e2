"""`--progress` tells how many latencies fell into which bin, and the recorder alone counts them."""

import os
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from howlate.model.bins import COARSE_BINS, coarse_edges
from howlate.targets.local import parse_progress
from probe.drive import read_stream, run

pytestmark = pytest.mark.beside


def test_the_bins_follow_each_other_without_a_gap() -> None:
    edges = [coarse_edges(place) for place in range(COARSE_BINS)]
    assert edges[0][0] == 0
    assert edges[-1][1] == 1 << 63
    assert all(before[1] == after[0] for before, after in pairwise(edges))
    assert all(low < 128 or (high - low) * 8 <= low * 2 for low, high in edges)


@pytest.mark.parametrize("words", [(), ("--cpus=all",), ("--policy=other",)])
def test_what_is_told_is_of_the_samples(probe: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    stream = ("--stream", str(tmp_path / "stream"))
    done = run("cyclic", "--duration=2500ms", "--progress", "--quiet", *words, *stream)
    assert done.returncode == 0, done.stderr
    lines = [line for text in done.stdout.splitlines() if (line := parse_progress(text.encode())) is not None]
    assert lines
    told: dict[int, Counter[int]] = {}
    for line in lines:
        for row in line.cpus:
            told.setdefault(row.cpu, Counter()).update(dict(row.more))
            assert told[row.cpu].total() <= row.activations
    samples = read_stream(tmp_path / "stream")
    tables = [table for table in samples.header.tables if table.name == "samples"]
    assert len(tables) == len(told) == (len(os.sched_getaffinity(0)) if "--cpus=all" in words else 1)
    for table in tables:
        edges = [coarse_edges(place)[1] for place in range(COARSE_BINS)]
        latencies = samples.columns[table.id]["latency_ns"].tolist()
        held = Counter(next(n for n, high in enumerate(edges) if max(ns, 0) < high) for ns in latencies)
        (counts,) = [counts for cpu, counts in told.items() if cpu == table.cpu]
        assert counts.total() > 0
        assert counts <= held


def test_in_memory_nobody_counts_meanwhile(probe: Path) -> None:
    done = run("cyclic", "--duration=500ms", "--progress", "--quiet", "--record=memory")
    lines = [line for text in done.stdout.splitlines() if (line := parse_progress(text.encode())) is not None]
    assert lines
    assert not any(row.more for line in lines for row in line.cpus)
