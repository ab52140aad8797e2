"""A guest boots at 8 ns an instruction and measures at 1: what it learned about its clocks is true all the same."""

import json

import pytest

from lab.equipped import Guest
from lab.guests import LIMITS, RT, STANDARD

APIC_MULT = (1 << 32) // 16
"""Counts of the local APIC's timer in a nanosecond, times 2**32: QEMU's counts nanoseconds, and the kernel lets it
count every sixteenth."""
PPM = 1e-6


@pytest.mark.long
@pytest.mark.parametrize(
    "kernel",
    [RT, pytest.param(STANDARD, marks=pytest.mark.sweep), pytest.param("5.10-rt", marks=pytest.mark.sweep)],
)
def test_the_clocks_of_a_guest_count_instructions(equipped: Guest, kernel: str) -> None:
    (done,) = equipped(kernel).run([("/bin/clocks",)], LIMITS)
    assert done.status == "0", done.stderr
    clocks = json.loads(done.stdout)
    assert clocks["loop_ns"] == 2 * 50_000  # two instructions a turn, each 1 ns
    assert clocks["tsc"] == pytest.approx(
        clocks["ns"], rel=10 * PPM
    )  # an interrupt may come between their readings
    assert clocks["ticks"] == pytest.approx(2 * 250, abs=3)
    assert clocks["apic_mult"] == pytest.approx(APIC_MULT, rel=10 * PPM)
