"""`howlate advise` with the real probe and a real knob: whoever is killed, the machine is as it was before anything
else is measured."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.commands import howlate, start
from e2e.settings import kill_with_probe, put_back, stopped_beside
from howlate.system.paths import probe_path
from processes import until

MIGRATION = Path("/proc/sys/kernel/timer_migration")
ADVISE = (
    "advise", "--knobs=timer_migration", "--load=none", "--pairs=6", "--quantile=max", "--cell-duration=200ms",
    "--no-wait", "--set=policy=other", "--out=r",
)  # fmt: skip
SIDES = 2 * 6
KNOB = "--knob=timer_migration"
LOGGING = """#!/bin/sh
[ "$1" = cyclic ] && cat {setting} >> {log}
exec {probe} "$@"
"""

pytestmark = pytest.mark.alone


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


def measuring(folder: Path, before: str) -> tuple[subprocess.Popen[str], int]:
    """The command in the middle of a cell with the knob, and its probe, which stands still."""
    process = start(folder, *ADVISE)
    return process, stopped_beside(MIGRATION, before, KNOB, process)


def kill_all(folder: Path, before: str) -> None:
    kill_with_probe(*measuring(folder, before))


def test_a_killed_command_leaves_what_restore_puts_back(
    tmp_path: Path, before: str, seen: Callable[[], list[str]]
) -> None:
    kill_all(tmp_path, before)
    assert MIGRATION.read_text() != before
    code, out, err = howlate(tmp_path, "doctor", "--restore")
    assert code == 0, out + err
    assert MIGRATION.read_text() == before


def test_a_killed_command_that_is_continued_measures_nothing_with_the_knob_left_in_force(
    tmp_path: Path, before: str, seen: Callable[[], list[str]]
) -> None:
    kill_all(tmp_path, before)
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
    process, probe = measuring(tmp_path, before)
    os.kill(probe, signal.SIGKILL)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 4, err
    assert len(seen()) >= SIDES and set(seen()) == {before}
    assert MIGRATION.read_text() == before


def test_an_interrupted_command_puts_the_knob_back_and_says_how_to_go_on(tmp_path: Path, before: str) -> None:
    process, probe = measuring(tmp_path, before)
    os.kill(probe, signal.SIGCONT)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 5, err
    assert "--out r" in err and out.splitlines()[-1] == "r"
    assert MIGRATION.read_text() == before


def test_a_probe_that_is_killed_while_it_stops_leaves_nothing_and_what_it_recorded_is_kept(
    tmp_path: Path, before: str
) -> None:
    process, probe = measuring(tmp_path, before)  # stopped, so that it cannot stop by itself
    process.send_signal(signal.SIGINT)
    assert until(lambda: is_interrupted(probe))
    os.kill(probe, signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 5, err
    assert "cells complete" in err
    assert out.splitlines()[-1] == "r" and MIGRATION.read_text() == before
    assert list((tmp_path / "r" / "cells").glob(".*.part/stream*"))


def is_interrupted(pid: int) -> bool:
    """Whether an interrupt waits for the process, as /proc says of one that is stopped."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    pending = next(line for line in lines if line.startswith("ShdPnd:"))
    return bool(int(pending.split()[1], 16) & 1 << (signal.SIGINT - 1))
