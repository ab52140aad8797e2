"""What has to take a known time takes it, whatever compiler it was built with: the sections of the tests' modules, by
their own account in the kernel's log, and the probe's work."""

import re
from pathlib import Path

import pytest

from lab.equipped import Guest
from lab.guests import LIMITS, RT, STANDARD, bench, cell, stream_of
from probe.drive import read_stream

HOLD_NS, HANDLER_NS = 500_000, 30_000
READING_NS = 300
"""At most this much is the clock's two readings and what is around the work."""
TOLD = re.compile(r"^\d \d+ ([\w' ]+): (\d+) sections of (\d+) ns took (\d+) to (\d+) ns", re.MULTILINE)
INSTRUCTIONS = {"amd64": 4, "arm64": 3}
"""Of an iteration of the probe's work."""

KERNELS = [STANDARD, RT, pytest.param("6.12", marks=pytest.mark.sweep)]


@pytest.mark.parametrize("name", KERNELS)
def test_the_sections_of_the_modules_take_as_long_as_they_say(guest: Guest, name: str) -> None:
    held = f"hold_us={HOLD_NS // 1000}"
    lines = [
        ["module", "preempt_off", held, f"handler_us={HANDLER_NS // 1000}"],
        *(cell(30), ["unload", "preempt_off"]),
        *(["module", "irqs_off", held, "rest_us=2000"], cell(30), ["unload", "irqs_off"]),
        *(["module", "reacts", held], cell(30), ["unload", "reacts"]),
    ]
    files = guest(name).files(lines, LIMITS)
    rows = TOLD.finditer(files["kernel.log"].decode())
    said = {row[1]: [int(word) for word in row.groups()[1:]] for row in rows}
    print(said)
    assert set(said) == {"preempt_off", "preempt_off's interrupt", "irqs_off", "reacts"}
    for module, (count, wanted_ns, least_ns, most_ns) in said.items():
        assert count >= 1  # how often `reacts` sees its event is the guest's phase
        # Where preemption alone is off, each section may have an interrupt in it.
        above_ns = HANDLER_NS if module == "preempt_off" else READING_NS
        assert wanted_ns <= least_ns < wanted_ns + above_ns
        assert most_ns < HOLD_NS + HANDLER_NS + 50_000  # an interrupt of the kernel's own may come in between
    assert said["preempt_off"][3] > HOLD_NS + HANDLER_NS


@pytest.mark.parametrize("name", [RT, pytest.param("6.12@arm64", marks=pytest.mark.sweep)])
def test_an_iteration_of_the_probes_work_is_as_many_instructions_as_its_loop_has(
    tmp_path: Path, booted: Path, name: str
) -> None:
    on = bench(tmp_path / "cache", name, snapshots=booted)
    (tmp_path / "stream").write_bytes(stream_of(on, cell(30, "--work=200us")))
    stream = read_stream(tmp_path / "stream")
    (thread,) = stream.raw_header["in_force"]["threads"]
    took_ns = (stream.columns[0]["response_ns"] - stream.columns[0]["latency_ns"]).min()
    executed = INSTRUCTIONS[on.label.arch] * thread["work_iterations"]
    print(took_ns, executed)
    assert executed <= took_ns < executed + READING_NS
    assert 200_000 <= took_ns < 210_000
