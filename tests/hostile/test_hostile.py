"""A part of `./dev hostile`: each command over altered runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hostile.harness import COMMANDS
from howlate.places import ROOT
from tree_of_commands import leaves


@pytest.mark.long
def test_commands_over_altered_runs_break_nothing() -> None:
    """In a process of its own, without DuckDB's threads, so that it can fork."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"}
    words = [sys.executable, "-m", "hostile", str(2 * len(COMMANDS)), "--no-imports", "--seed", "suite"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"runs: {2 * len(COMMANDS)} mutations, at least 2 a command"), done.stdout


def test_every_command_that_reads_a_run_is_called() -> None:
    called = {" ".join(line.replace("|", " ").split()[:2]) for line in COMMANDS.values()}
    reading = {
        name
        for name, command in leaves().items()
        if any(
            "RUN" in (param.make_metavar(command.make_context(name, [], resilient_parsing=True)) or "")
            for param in command.params
            if param.name in ("run", "runs")
        )
    }
    assert len(reading) > 8
    assert not [name for name in reading if not any(f"{words} ".startswith(f"{name} ") for words in called)]
