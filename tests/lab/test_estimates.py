"""How long a cell takes by the guest's clock is estimated within a factor of two, warm-up and slower CPUs too."""

from io import BytesIO
from pathlib import Path

import pytest

from howlate.lab.guests.machine import Machine
from howlate.model.guest_cpus import GuestCpus
from howlate.store.stream import StreamReader
from howlate.targets import open_target
from lab.guests import LIMITS, RT, bench, with_cpus

CELLS = {
    "cyclic": ("cyclic", "--activations=300"),
    "switch": ("switch", "--by=mutex", "--switches-per-point=1000", "--points=10"),
    "switches": ("switch", "--switches-per-point=2", "--points=10000"),
    "preemption": ("preemption", "--points=1000"),
    "timer": ("timer", "--timer=clock_nanosleep", "--sleep=5us", "--points=5000"),
    "spin": ("timer", "--timer=spin", "--sleep=50us", "--points=1000"),
    "clock": ("clock", "--points=150000"),
    "hardware-gap": ("hardware-gap", "--duration=360ms", "--window=1s", "--width=500ms", "--threshold=1ms"),
    "unmeasured": ("unmeasured", "--duration=300ms", "--load=cpu:50"),
}


@pytest.mark.parametrize("cpus", [1, pytest.param(4, marks=pytest.mark.sweep)])
def test_an_estimate_is_within_a_factor_of_two(tmp_path: Path, booted: Path, cpus: int) -> None:
    machine = Machine.of("amd64") if cpus == 1 else with_cpus(cpus)
    answers = open_target("local").answer(list(CELLS.values()))
    more = ("--stream=stream", "--record=memory", "--quiet")
    lines = [("howlate-probe", *words, *more) for words in CELLS.values()]
    done = bench(tmp_path, RT, snapshots=booted, machine=machine).run(lines, LIMITS)
    for name, answer, line in zip(CELLS, answers, done, strict=True):
        estimated_s = answer.length_in_guest(GuestCpus(cpus).slower).clock_s
        assert line.status == "0", line.stderr.decode()
        stream = StreamReader(BytesIO(line.files["stream"]))
        for _ in stream.batches():
            pass
        assert stream.trailer is not None
        taken_s = stream.trailer["duration_ns"] / 1e9 + answer.length.warm_up_s
        assert estimated_s / 2 <= taken_s <= 2 * estimated_s, (name, estimated_s, taken_s)
