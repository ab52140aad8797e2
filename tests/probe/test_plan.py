"""`howlate-probe plan`: each option has one rule, the one by which the test itself would refuse it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from .drive import run

REFUSED = (
    ("cyclic", "--period=1us"),
    ("cyclic", "--policy=fifo:100"),
    ("cyclic", "--policy=fifo"),
    ("cyclic", "--policy=deadline:2ms:1ms:1ms"),
    ("cyclic", "--priorities=200"),
    ("cyclic", "--cpus=4095"),
    ("cyclic", "--timer=setitimer", "--dither"),
    ("cyclic", "--load=cpu:50,policy=deadline:1ms:1ms:1ms"),
    ("cyclic", "--load=hackbench:0"),
    ("cyclic", "--knob=rt_throttling=sometimes"),
    ("timer", "--sleep=1ns"),
    ("preemption", "--high=1", "--low=2"),
    ("scheduler", "--question=tasks", "--tasks=9999"),
    ("switch", "--switches-per-point=3"),
    ("unmeasured",),
)


def planned(commands: list[tuple[str, ...]]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(command) + "\n" for command in commands)
    done = run("plan", given=lines)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_it_refuses_what_the_test_refuses_in_the_same_words(probe: Path) -> None:
    for command, answer in zip(REFUSED, planned(list(REFUSED)), strict=True):
        done = run(*command)
        assert not answer["ok"] and answer["exit_code"] == done.returncode, command
        assert (
            answer["message"] in done.stderr and answer["remedy"][1:] in done.stderr
        )  # a sentence begins large


def test_what_would_begin_is_started_by_nobody(probe: Path, tmp_path: Path) -> None:
    stream = tmp_path / "never"
    commands = [("cyclic", f"--stream={stream}", "--load=cpu:100"), ("switch", f"--stream={stream}")]
    assert [answer["ok"] for answer in planned(commands)] == [True, True]
    assert not stream.exists()
    assert run("plan", json.dumps(["clock"])).stdout == '{"ok": true, "warnings": []}\n'


def test_many_commands_are_one_process_and_bad_lines_have_answers(probe: Path) -> None:
    assert [answer["ok"] for answer in planned([("cyclic", "--period=1ms")] * 500)] == [True] * 500
    done = run("plan", given='["nope"]\nx\n[]\n[1]\n["clock"]')
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("exit_code", 0) for answer in answers] == [2, 2, 2, 2, 0]


def test_a_duration_below_the_window_is_warned_of(probe: Path) -> None:
    short, enough = planned([("hardware-gap", f"--duration={time}", "--window=1s") for time in ("8ms", "2s")])
    assert "is shorter than --window 1s" in short["warnings"][0]
    assert not any("shorter" in warning for warning in enough["warnings"])


def test_a_spinning_timer_on_an_only_cpu_is_not_possible(probe: Path) -> None:
    alone = subprocess.run(
        ["taskset", "-c", "0", str(probe), "plan", json.dumps(["cyclic", "--timer=spin"])],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(alone.stdout)["exit_code"] == 3


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_it_has_a_page(probe: Path, word: str) -> None:
    assert "howlate-probe plan" in run("plan", word).stdout
