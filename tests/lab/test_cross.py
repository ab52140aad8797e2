"""What one CPU of a guest asks of another: the same each time, and known work is found again."""

from pathlib import Path

import pytest

from howlate.lab.bench import PROBE
from howlate.lab.guests.machine import TURN_NS
from howlate.statistics.resolution import WAITS
from lab.guests import RT, STANDARD, bench, difference, stream_of, with_cpus
from probe.drive import read_stream

TURNS_NS = WAITS * 4 * TURN_NS
"""With the turns of `with_cpus`."""
KINDS = ("wake", "membarrier", "lock", "shootdown", "migrate")


def more_of(sweeps: bool) -> list[pytest.MarkDecorator]:
    return [pytest.mark.sweep] if sweeps else []


def question(kind: str, *more: str) -> list[str]:
    few = ("--points=60", "--seed=1", "--stream=stream", "--quiet")
    return [PROBE, "cross", f"--kind={kind}", *few, *more]


@pytest.mark.long
@pytest.mark.parametrize("kind", [pytest.param(kind, marks=more_of(kind != "shootdown")) for kind in KINDS])
def test_two_guests_ask_and_answer_the_same(tmp_path: Path, booted: Path, kind: str) -> None:
    line = question(kind, "--load=memory-alloc:100,cpus=other")
    machine = with_cpus(2)
    first, second = (
        stream_of(bench(tmp_path / name, fresh=True, snapshots=booted, machine=machine), line)
        for name in ("a", "b")
    )
    assert difference(first, second) == ""


@pytest.mark.long
@pytest.mark.parametrize("kernel", [RT, pytest.param(STANDARD, marks=pytest.mark.sweep)])
def test_work_on_the_other_cpu_is_found_again_up_to_the_turns(
    tmp_path: Path, booted: Path, kernel: str
) -> None:
    """Both CPUs are equally fast: the one that works needs as long as the one that calibrated the work."""
    on = bench(tmp_path, kernel, snapshots=booted, machine=with_cpus(2))
    least = []
    for work in ("0ns", "500us", "1ms"):
        path = tmp_path / work
        path.write_bytes(stream_of(on, question("wake", f"--work={work}")))
        least.append(int(read_stream(path).columns[0]["answer_ns"].min()))
    none, once, twice = least
    assert abs(once - none - 500_000) <= TURNS_NS
    assert abs(twice - none - 1_000_000) <= TURNS_NS
