"""Sleeps that follow no schedule, from the real probe."""

from pathlib import Path

import numpy as np
import pytest

from probe.drive import cell, probe_list, probe_path, read_stream, run, running, stall

STALL_NS = 50_000_000


def _timers() -> list[str]:
    if not probe_path().is_file():
        return ["clock_nanosleep"]  # the fixture `probe` then says what is missing
    return [one["name"] for one in probe_list()["timers"] if one["available"] and one["dither"]]


@pytest.mark.parametrize("timer", _timers())
def test_no_sleep_ends_before_its_time(probe: Path, tmp_path: Path, timer: str) -> None:
    path = tmp_path / "stream"
    summary = cell(run("timer", "--timer", timer, "--points", "2000", "--json", "--stream", path))
    assert summary["accounting"]["recorded"] == 2000
    rows = read_stream(path).columns[0]
    assert rows["delay_ns"].min() >= 0
    # The next sleep is planned after the one before has ended, from the clock of that moment.
    assert np.all(np.diff(rows["time_ns"]) >= rows["delay_ns"][:-1] + 5000)
    for thread in summary["threads"]:
        assert (thread["minor_faults"], thread["major_faults"]) == (0, 0)


def test_a_stall_of_known_length_is_found_as_a_delay(probe: Path, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    with running("timer", "--sleep", "1ms", "--points", "60000", "--quiet", "--stream", path) as one:
        one.progress()
        stopped_ns, continued_ns = stall(one, STALL_NS)
        assert one.stop()[0] == 0
    stream = read_stream(path)
    rows = stream.columns[0]
    should_ns = stream.header.t0_ns + rows["time_ns"]
    (across,) = np.nonzero((should_ns < continued_ns) & (should_ns + rows["delay_ns"] >= continued_ns))
    assert across.size == 1, "one sleep is what the stall ended in"
    assert rows["delay_ns"][across[0]] >= continued_ns - stopped_ns - 1_000_000


def test_the_duration_ends_it(probe: Path) -> None:
    summary = cell(run("timer", "--sleep", "50ms", "--duration", "400ms", "--json"))
    assert summary["stop_reason"] == "duration"
    account = summary["accounting"]
    assert account["releases"] == account["recorded"] <= 8


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--timer", "setitimer"], "clock_nanosleep"),
        (["--sleep", "1ns"], "1us to 10s"),
        (["--timer", "clock_nanoslep"], "clock_nanosleep"),
    ],
)
def test_what_cannot_be_meant_is_refused(probe: Path, words: list[str], said: str) -> None:
    done = run("timer", *words)
    assert done.returncode == 2
    assert said in done.stderr
