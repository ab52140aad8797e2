"""What the kernel counts while a cell is measured, on this machine."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lacks import AS_ROOT, lack, needs_two_cpus
from probe.drive import Numbers, Stream, read_stream, run, running

pytestmark = pytest.mark.beside
CPUS = sorted(os.sched_getaffinity(0))
LONG_NS = 1_300_000_000
"""The recorder tells how far it is when it has counted the second before."""

several = needs_two_cpus


def recorded(tmp_path: Path, *words: str) -> Stream:
    """For more than a second, however late it is counted."""
    tmp_path.mkdir(exist_ok=True)
    always = ("--period=1ms", "--duration=1h", "--quiet")
    with running("cyclic", *always, *words, "--stream", tmp_path / "s") as one:
        while one.progress()[1] < LONG_NS:
            pass
        code, _, stderr_text = one.stop()
    assert code == 0, stderr_text
    return read_stream(tmp_path / "s")


def counters(stream: Stream) -> Mapping[str, Any]:
    assert stream.trailer is not None
    return stream.trailer["counters"]  # type: ignore[no-any-return]


def rows(stream: Stream) -> Mapping[str, Numbers]:
    return stream.columns[next(table.id for table in stream.header.tables if table.name == "counters")]


def rises(stream: Stream, kind: str, label: str = "") -> list[int]:
    """Of the measuring CPU, the machine or the first thread, each second."""
    names = counters(stream)["names"]
    wanted = [n for n, name in enumerate(names) if name["kind"] == kind and label in ("", name["label"])]
    table = rows(stream)
    return [
        int(rise) for counter, rise in zip(table["counter"], table["rise"], strict=True) if counter in wanted
    ]


@several
def test_each_second_has_the_interrupts_of_the_measuring_cpu(probe: Path, tmp_path: Path) -> None:
    stream = recorded(tmp_path, f"--cpus={CPUS[-1]}")
    assert {"interrupt", "softirq", "interrupts", "context_switches"} <= set(counters(stream)["each_second"])
    table = rows(stream)
    assert set(table["cpu"].tolist()) <= {-1, CPUS[-1]}
    ends = sorted(set(table["time_ns"].tolist()))
    assert len(ends) >= 2  # a second, and the rest, which ends after the last sample
    assert ends[-1] >= int(stream.columns[0]["release_ns"][-1])
    around = {one["counter"]: one["rise"] for one in counters(stream)["over_cell"]}
    names = counters(stream)["names"]
    interrupts = [rise for counter, rise in around.items() if names[counter]["kind"] == "interrupt"]
    assert sum(interrupts) >= len(stream.columns[0]["release"])  # each wake-up needs that of a timer
    for counter in around.keys() & set(table["counter"].tolist()):
        meanwhile = table["rise"][(table["counter"] == counter) & (table["cpu"] >= 0)].sum()
        assert 0 < meanwhile <= around[counter]


def test_where_every_cpu_measures_interrupts_are_counted_around_the_cell(probe: Path, tmp_path: Path) -> None:
    stream = recorded(tmp_path, "--cpus=all")
    each_second = counters(stream)["each_second"]
    assert "interrupts" in each_second and not {"interrupt", "softirq"} & set(each_second)
    assert {one["cpu"] for one in counters(stream)["over_cell"]} == set(CPUS)
    assert sum(rises(stream, "interrupts")) >= len(stream.columns[0]["release"])


def test_the_threads_own_switches_and_faults_are_counted_each_second(probe: Path, tmp_path: Path) -> None:
    stream = recorded(tmp_path, f"--cpus={CPUS[-1]}")
    assert stream.trailer is not None
    (account,) = stream.trailer["accounting"]
    for kind in ("voluntary_switches", "involuntary_switches", "minor_faults", "major_faults"):
        told = rises(stream, kind)  # of the seconds in which the thread was there
        assert (
            told and sum(told) <= account[kind] + 100
        )  # the account leaves out what was before its first release
    table, samples = rows(stream), stream.columns[0]
    seen_until = table["time_ns"][table["thread"] == 0].max()
    slept = (samples["release_ns"] + samples["latency_ns"] < seen_until).sum()
    assert sum(rises(stream, "voluntary_switches")) >= slept - 1 > 100


@pytest.mark.skipif(
    run("cyclic", "--policy=fifo:80", "--activations=1", "--quiet").returncode != 0,
    reason=lack("the right to SCHED_FIFO", AS_ROOT),
)
def test_faults_made_on_purpose_are_in_their_seconds(probe: Path, tmp_path: Path) -> None:
    words = ("--policy=fifo:80", "--late-policy=backlog", "--inject=page-faults", "--inject-every=2")
    plain, faulty = recorded(tmp_path / "a"), recorded(tmp_path / "b", *words)
    made = len(faulty.columns[next(t.id for t in faulty.header.tables if t.name == "injections")]["begin_ns"])
    assert made >= 100
    assert sum(rises(faulty, "minor_faults")) >= made > 10 * sum(rises(plain, "minor_faults"))
