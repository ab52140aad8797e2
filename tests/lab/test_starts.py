"""The start of a cell in virtual time: it makes neither the largest value nor, from seed to seed, the course."""

import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from howlate.lab.bench import PROBE
from howlate.plan.machines import phase_ns
from lab.equipped import Guest
from lab.guests import LIMITS, RT, STANDARD
from probe.drive import read_stream

START = 0.05
POINTS = 100
TESTS: dict[str, tuple[str, ...]] = {
    "cyclic": ("--period=1ms", f"--activations={POINTS}"),
    "irq": (f"--points={POINTS}",),
    "uio": (f"--points={POINTS}",),
    "timer": (f"--points={POINTS}",),
    "preemption": (f"--points={POINTS}",),
    "switch": (f"--points={POINTS}", "--switches-per-point=50"),
}
ANSWERS = {
    "cyclic": "latency_ns",
    "irq": "wake_latency_ns",
    "uio": "answer_latency_ns",
    "timer": "delay_ns",
    "preemption": "cs1_ns",
    "switch": "switch_ns",
}
MODULES = (("module", "howlate_irq"), ("module", "uio"), ("module", "howlate_uio"))


def line(test: str, *more: str) -> tuple[str, ...]:
    own = ("--record=memory",) if test == "cyclic" else ()
    return (PROBE, test, *TESTS[test], *own, *more, "--stream=stream", "--quiet")


def columns_of(folder: Path, stream: bytes) -> Mapping[str, npt.NDArray[Any]]:
    (folder / "stream").write_bytes(stream)
    return read_stream(folder / "stream").columns[0]


def streams(guest: Guest, kernel: str, lines: Sequence[Sequence[str]]) -> list[bytes]:
    done = guest(kernel).run([*MODULES, *lines], LIMITS)[len(MODULES) :]
    assert [one.status for one in done] == ["0"] * len(lines), [one.stderr for one in done]
    return [one.files["stream"] for one in done]


@pytest.mark.parametrize(("step", "most"), [(3, 2), pytest.param(1, 3, marks=pytest.mark.sweep)])
def test_the_largest_values_of_cells_are_not_their_starts(
    tmp_path: Path, guest: Guest, step: int, most: int
) -> None:
    """Two of four places or fewer are in the first 5 %, or three of twelve: chance exceeds both in 0.2 %. The
    file of the disk and the namespaces of a reference are what disturbed there. In virtual time the largest
    value often comes many times: its place is one of them, drawn, as in bench/starts.py; the first of them is
    early by the choice alone."""
    early = 0
    draw = random.Random(1)
    for at, kernel in enumerate((STANDARD, RT)):
        tests = list(TESTS)[at % step :: step]
        found = streams(guest, kernel, [line(test, "--load=disk:max,size=16MiB") for test in tests])
        for test, stream in zip(tests, found, strict=True):
            values = columns_of(tmp_path, stream)[ANSWERS[test]]
            place = draw.choice(np.flatnonzero(values == values.max()).tolist())
            early += place < math.ceil(START * len(values))
    assert early <= most


def test_no_timer_of_the_probes_own_is_due_when_the_warm_up_is_over(tmp_path: Path, guest: Guest) -> None:
    """A test that leaves its CPU to nobody is interrupted once by each thread that sleeps there. The main thread's
    timer was due 0.4 ms after t0: 0.75 us, where a tick takes 2.4 us, and nothing else comes."""
    firsts = [f"--first={1_000_000 + phase_ns(seed)}ns" for seed in (1, 2)]
    lines = [
        (PROBE, "switch", "--points=60", "--switches-per-point=50", "--load=disk:max,size=16MiB", first)
        for first in firsts
    ]
    for stream in streams(guest, RT, [(*each, "--stream=stream", "--quiet") for each in lines]):
        points_ns = columns_of(tmp_path, stream)["point_ns"]
        more_ns = points_ns - np.median(points_ns)
        assert not ((more_ns > 300) & (more_ns < 2_000)).any()


@pytest.mark.parametrize(
    ("test", "seeds"),
    [
        ("irq", 3),
        *(
            pytest.param(name, 8, marks=pytest.mark.sweep)
            for name in ("irq", "uio", "timer", "preemption", "switch")
        ),
    ],
)
def test_each_seed_is_a_course_of_its_own_and_the_same_seed_the_same_bytes(
    tmp_path: Path, guest: Guest, test: str, seeds: int
) -> None:
    firsts = [f"--first={1_000_000 + phase_ns(seed)}ns" for seed in range(1, seeds + 1)]
    asked = [line(test, "--load=memory-alloc:100", first) for first in firsts]
    found = streams(guest, STANDARD, asked)
    courses = {tuple(columns_of(tmp_path, stream)[ANSWERS[test]].tolist()) for stream in found}
    assert len(courses) == seeds
    assert streams(guest, STANDARD, asked) == found
