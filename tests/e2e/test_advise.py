"""`howlate advise` with the real probe and a real knob: whoever is killed, the machine is as it was before anything
else is measured."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.commands import howlate, start
from e2e.settings import put_back
from howlate.places import probe_path
from processes import children_of, is_running, kill_unguarded, until, with_word

MIGRATION = Path("/proc/sys/kernel/timer_migration")
ADVISE = (
    "advise", "--knobs=timer_migration", "--load=none", "--pairs=6", "--quantile=max", "--seconds=1", "--no-wait",
    "--set=policy=other", "--out=r",
)  # fmt: skip
SIDES = 2 * 6
LOGGING = """#!/bin/sh
[ "$1" = cyclic ] && cat {setting} >> {log}
exec {probe} "$@"
"""

pytestmark = [pytest.mark.alone, pytest.mark.slow]


@pytest.fixture
def before() -> Iterator[str]:
    with put_back(MIGRATION) as text:
        yield text


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """The setting as each measurement found it, before its probe did anything."""
    log, probe = tmp_path / "log", tmp_path / "probe"
    probe.write_text(LOGGING.format(setting=MIGRATION, log=log, probe=probe_path()))
    probe.chmod(0o755)
    monkeypatch.setattr("e2e.commands.PROBE", str(probe))
    return lambda: log.read_text().splitlines(keepends=True) if log.exists() else []


def flipped(folder: Path, before: str) -> subprocess.Popen[str]:
    """The command, in the middle of a cell with the knob."""
    process = start(folder, *ADVISE)
    changed = until(lambda: MIGRATION.read_text() != before or process.poll() is not None)
    if not changed or process.poll() is not None:
        process.kill()
        raise AssertionError(process.communicate()[1])
    return process


def measuring(process: subprocess.Popen[str]) -> int:
    below = children_of(process.pid)
    (probe,) = (pid for pid in with_word("--knob=timer_migration") if pid in below)
    return probe


def kill_all(process: subprocess.Popen[str]) -> None:
    """With the probe and its guardian, so that nobody can put anything back."""
    probe = measuring(process)
    os.kill(probe, signal.SIGSTOP)
    process.kill()
    kill_unguarded(probe)
    process.communicate(timeout=120)
    assert until(lambda: not is_running(probe))


def test_a_killed_command_leaves_what_restore_puts_back(
    tmp_path: Path, before: str, seen: Callable[[], list[str]]
) -> None:
    kill_all(flipped(tmp_path, before))
    assert MIGRATION.read_text() != before
    code, out, err = howlate(tmp_path, "doctor", "--restore")
    assert code == 0, out + err
    assert MIGRATION.read_text() == before


def test_a_killed_command_that_is_continued_measures_nothing_with_the_knob_left_in_force(
    tmp_path: Path, before: str, seen: Callable[[], list[str]]
) -> None:
    kill_all(flipped(tmp_path, before))
    assert MIGRATION.read_text() != before
    begun = len(seen())
    code, out, err = howlate(tmp_path, *ADVISE, "--json")
    assert code == 0, out + err
    assert seen()[begun:] and set(seen()[begun:]) == {before}
    assert MIGRATION.read_text() == before
    (knob,) = json.loads(out)["knobs"]
    assert knob["trials"][0]["figures"][0]["pairs"] == 6


def test_a_killed_probe_leaves_nothing_in_force_for_the_next_cell(
    tmp_path: Path, before: str, seen: Callable[[], list[str]]
) -> None:
    process = flipped(tmp_path, before)
    with contextlib.suppress(ProcessLookupError):
        os.kill(measuring(process), signal.SIGKILL)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 4, err
    assert len(seen()) >= SIDES and set(seen()) == {before}
    assert MIGRATION.read_text() == before


def test_an_interrupted_command_puts_the_knob_back_and_says_how_to_go_on(tmp_path: Path, before: str) -> None:
    process = flipped(tmp_path, before)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 5, err
    assert "--out r" in err and out.splitlines()[-1] == "r"
    assert MIGRATION.read_text() == before


def test_a_probe_that_is_killed_while_it_stops_leaves_nothing_and_what_it_recorded_is_kept(
    tmp_path: Path, before: str
) -> None:
    process = flipped(tmp_path, before)
    probe = measuring(process)
    os.kill(probe, signal.SIGSTOP)  # so that it cannot stop by itself
    process.send_signal(signal.SIGINT)
    assert until(lambda: is_interrupted(probe))
    os.kill(probe, signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 5, err
    assert "cells complete, which are kept; every knob is as it was" in err
    assert out.splitlines()[-1] == "r" and MIGRATION.read_text() == before
    assert list((tmp_path / "r" / "cells").glob(".*.part/stream*"))


def is_interrupted(pid: int) -> bool:
    """Whether an interrupt waits for the process, as /proc says of one that is stopped."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    pending = next(line for line in lines if line.startswith("ShdPnd:"))
    return bool(int(pending.split()[1], 16) & 1 << (signal.SIGINT - 1))
