"""A part of `./dev hostile`: each command over altered runs."""

import os
import re
import subprocess
import sys

import pytest

from hostile.harness import COMMANDS
from hostile.planted import PLANTS
from howlate.system.paths import ROOT
from howlate.words.statement import MESSAGES
from lacks import needs_program
from processes import completed
from tree_of_commands import leaves


def hostile(module: str, *words: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own, without DuckDB's threads, so that it can fork."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"}
    return completed([sys.executable, "-m", module, *words], env=env)


EACH = [
    pytest.param(1, ["show", "verdict", "query", "show --verify", "load"], id="some"),
    pytest.param(2, list(COMMANDS), id="all", marks=pytest.mark.sweep),
]


@pytest.mark.parametrize(("times", "commands"), EACH)
def test_commands_over_altered_runs_break_nothing(times: int, commands: list[str]) -> None:
    count = 2 * times * len(commands)
    named = [word for command in commands for word in ("--command", command)]
    done = hostile("hostile", str(count), "--no-imports", "--seed", "suite", *named)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"runs: {count} mutations, at least {2 * times} a command"), done.stdout


FOUND = {
    "changed figures": ("show --json", "spoilt", "digit", "FAULT not named"),
    "foreign cells": ("show --json", "spoilt", "foreign", "FAULT not named"),
    "silent loss": ("verdict", "spoilt", "delete", "FAULT not named"),
    "raw text": ("show", "spoilt", "", "FAULT escape"),
    "memory": ("show", "spoilt", "", "FAULT memory"),
    "traceback": ("show", "spoilt", "", "FAULT traceback"),
    "unverified": ("show --verify", "forged", "", "FAULT not verified"),
}
"""By planted fault: the command and alterations that show it, and what the harness calls it."""


@pytest.mark.parametrize(
    "plant",
    [name if name == "silent loss" else pytest.param(name, marks=pytest.mark.sweep) for name in FOUND],
)
def test_a_fault_that_is_planted_is_found(plant: str) -> None:
    command, kind, way, fault = FOUND[plant]
    words = [
        "--no-imports",
        "--seed",
        "planted",
        "--command",
        command,
        "--kind",
        kind,
        "--way",
        way,
        "--plant",
        plant,
    ]
    done = hostile("hostile", "12", *words)
    assert done.returncode == 1 and fault in done.stdout, done.stdout + done.stderr
    assert plant in PLANTS and set(PLANTS) == set(FOUND)


PLACES = [
    pytest.param(["--command", "verdict", "--every", "9"], id="some"),
    pytest.param(["--minutes", "100"], id="all", marks=pytest.mark.sweep),
]


@needs_program("strace", "strace")
@pytest.mark.parametrize("words", PLACES)
def test_nothing_is_written_outside_or_waited_for_at_any_name(words: list[str]) -> None:
    """And nothing of a folder of another user's is executed or imported."""
    done = hostile("hostile.places", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"places: (\d[\d,]* \w+(, )?){5}; 0 faults", done.stdout.strip()), done.stdout


@pytest.mark.long
def test_a_signal_ends_every_command_within_a_second() -> None:
    done = hostile("hostile.signals", "--tries", "3")
    assert done.returncode == 0 and done.stdout.rstrip().endswith(" 0 faults"), done.stdout + done.stderr


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


def test_a_long_line_is_judged_as_fast_as_any() -> None:
    """A page of one line, or a text of a forger's."""
    from hostile.judge import names_loss
    from howlate.document import missing
    from howlate.words.say import english

    assert missing.GONE.id in MESSAGES
    assert not names_loss("the cell " * 100_000)
    gone = english(missing.GONE(count=1, cells=("late",)))
    assert names_loss(f"{'x' * 1_000_000} {gone[:1].upper()}{gone[1:]}")
