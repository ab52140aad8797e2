"""`howlate-probe plan`: each option has one rule, the one by which the test itself would refuse it."""

import json
from pathlib import Path
from typing import Any

import pytest

from processes import completed

from .drive import run

pytestmark = pytest.mark.beside

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


def test_it_says_what_a_command_means_and_how_long_it_takes(probe: Path) -> None:
    """40 B a row are assumed at least, and 1 MB around them."""
    (cyclic,) = planned(
        [("cyclic", "--period=1000us", "--activations=0100", "--timer=spin", "--cpus=0", "--dither=on")]
    )
    assert cyclic["options"] == {
        "activations": "100",
        "cpus": "0",
        "dither": True,
        "period": "1ms",
        "timer": "spin",
    }
    assert cyclic["seconds"] == 0.2 and cyclic["rows"] == 100  # it spins for half of each second
    assert cyclic["bytes"] == 1_000_000 + 100 * 40
    assert cyclic["alone"] == {"least_s": 0, "most_s": 0} and cyclic["few_deeds"] == []


def test_what_ends_first_is_how_long_it_takes(probe: Path) -> None:
    asked = [
        ("cyclic",),
        ("cyclic", "--duration=12s"),
        ("cyclic", "--duration=12s", "--activations=2000"),
        ("timer", "--points=100", "--sleep=1ms"),
        ("timer", "--points=100", "--sleep=1ms", "--duration=50ms"),
        ("scheduler", "--question=shares", "--points=8", "--window=250ms"),
        ("unmeasured", "--duration=3s", "--load=cpu:50"),
    ]
    answers = planned(asked)
    assert [answer["seconds"] for answer in answers] == pytest.approx([10, 12, 2, 0.105, 0.0504, 2, 3])
    assert [answer["rows"] for answer in answers] == [0, 0, 2000, 100, 100, 8, 0]


def test_loads_run_alone_first_where_nothing_else_tells_what_they_would_do(probe: Path) -> None:
    loads = [("cpu:50",), ("disk:max",), ("cpu:50", "disk"), ("hackbench:10",)]
    answers = planned([("cyclic", *(f"--load={spec}" for spec in some)) for some in loads])
    assert [answer["alone"]["least_s"] for answer in answers] == [0, 0.25, 0.25, 1]
    assert planned([("unmeasured", "--load=hackbench:10")])[0]["alone"]["least_s"] == 0


def test_a_load_with_no_time_for_its_deeds_is_named(probe: Path) -> None:
    short, usual = planned([("cyclic", "--load=disk:max", f"--duration={time}") for time in ("10ms", "1s")])
    few = {"load": "disk:max", "name": "fsyncs", "many": 5, "wanted": 10, "supposed_s": 0.002}
    assert (short["few_deeds"], usual["few_deeds"]) == ([few], [])


def test_of_another_machine_its_cpus_alone_are_known(probe: Path) -> None:
    """A policy, a timer or memory that this machine lacks refuses nothing; what is wrong anywhere does."""
    commands = [
        ("cyclic", "--cpus=7", "--policy=rr:99"),
        ("cyclic", "--cpus=8"),
        ("cyclic", "--load=cpu:50,cpus=9"),
        ("irq", "--cpus=7", "--source=hpet", "--load=cpuu"),
        ("cyclic", "--timer=spin", "--cpus=0-7"),
    ]
    lines = "".join(json.dumps(command) + "\n" for command in commands)
    done = run("plan", "--elsewhere", "--cpus=0-7", given=lines)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.get("exit_code", 0) for answer in answers] == [0, 3, 3, 2, 2]
    assert all(part in answers[1]["message"] for part in ("CPU 8 ", "0-7"))
    assert run("plan", "--cpus=0", given="").returncode == 2
    assert json.loads(run("plan", "--elsewhere", json.dumps(["cyclic", "--cpus=4095"])).stdout)["ok"]


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
    alone = completed(
        ["taskset", "-c", "0", str(probe), "plan", json.dumps(["cyclic", "--timer=spin"])], check=True
    )
    assert json.loads(alone.stdout)["exit_code"] == 3


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_it_has_a_page(probe: Path, word: str) -> None:
    assert "howlate-probe plan" in run("plan", word).stdout
