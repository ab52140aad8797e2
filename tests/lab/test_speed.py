"""Guests of other speeds and with several CPUs: the same instructions, in another time."""

import json
from collections.abc import Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from statistics import median

import pytest

from howlate.lab.bench import PROBE
from howlate.lab.guests.machine import Machine
from howlate.store.stream import StreamReader
from lab.guests import LIMITS, RT, STANDARD, bench, cell, difference, stream_of, with_cpus


def latencies(stream: bytes) -> list[int]:
    return [
        int(value)
        for batch in StreamReader(BytesIO(stream)).batches()
        for value in batch.columns.get("latency_ns", ())
    ]


def work_of(stream: bytes) -> int:
    """What the only load did."""
    reader = StreamReader(BytesIO(stream))
    for _ in reader.batches():
        pass
    (load,) = (reader.trailer or {})["loads"]
    return int(load["units"])


@pytest.mark.long
@pytest.mark.parametrize("mips", [250, pytest.param(125, marks=pytest.mark.sweep)])
def test_a_slower_guest_takes_as_much_longer_and_two_are_equal(
    tmp_path: Path, booted: Path, mips: int
) -> None:
    """The same instructions of the idle machine; the guest boots at the same speed."""
    usual = bench(tmp_path / "usual", RT, fresh=True, snapshots=booted)
    slow = bench(tmp_path / "slow", RT, fresh=True, snapshots=booted, machine=Machine.of("amd64", mips=mips))
    assert usual.key != slow.key
    line = cell(200, "--dither", "--seed=3")
    first = stream_of(slow, line)
    assert difference(first, stream_of(slow, line)) == ""
    longer = median(latencies(first)) / median(latencies(stream_of(usual, line)))
    assert 0.9 * 1000 / mips < longer < 1.1 * 1000 / mips


@pytest.mark.long
def test_beside_another_cpu_each_has_its_share_whether_the_other_has_work_or_not(
    tmp_path: Path, booted: Path
) -> None:
    """Without the spinning tasks a CPU would execute twice as much in the same time beside an idle one."""
    on = bench(tmp_path, RT, fresh=True, snapshots=booted, machine=with_cpus(2))
    idle, beside = (
        median(latencies(stream_of(on, cell(200, "--dither", *load))))
        for load in ([], ["--load=cpu:100,cpus=0"])
    )
    assert 0.9 < beside / idle < 1.1


@pytest.mark.long
@pytest.mark.parametrize(
    ("kernel", "cpus", "mips"),
    [
        (RT, 2, 1000),
        pytest.param(RT, 2, 250, marks=pytest.mark.sweep),
        pytest.param(RT, 3, 1000, marks=pytest.mark.sweep),
        pytest.param(STANDARD, 4, 1000, marks=pytest.mark.sweep),
        pytest.param(RT, 4, 1000, marks=pytest.mark.sweep),
    ],
)
def test_each_cpu_executes_the_share_that_is_stated(
    tmp_path: Path, booted: Path, kernel: str, cpus: int, mips: int
) -> None:
    """By the work that a load does on each in turn. Each event of the guest (a tick, a timer that is set) shifts a
    share by a part of a turn, and takes as many more turns as the guest is slower."""
    machine = replace(with_cpus(cpus), mips=mips)
    on = bench(tmp_path, kernel, fresh=True, snapshots=booted, machine=machine)
    done = [
        work_of(stream_of(on, cell(200, "--dither", f"--load=cpu:100,cpus={cpu}"))) for cpu in range(cpus)
    ]
    stated = machine.guest_cpus.cpu_mips
    for work, share in zip(done, stated, strict=True):
        assert work / sum(done) == pytest.approx(share / sum(stated), rel=0.1)


def test_several_cpus_have_the_clock_source_of_one(
    tmp_path: Path, booted: Path, programs: Mapping[str, bytes]
) -> None:
    guests = [
        bench(tmp_path / "1", RT, snapshots=booted),
        bench(tmp_path / "2", RT, programs, snapshots=booted, machine=with_cpus(2)),
    ]
    sources = [guest.run([[PROBE, "facts", "--json"]], LIMITS)[0].stdout for guest in guests]
    assert [json.loads(facts)["values"]["clock.source"] for facts in sources] == ["tsc", "tsc"]
