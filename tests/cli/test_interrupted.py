"""`calibrate` and `advise`, interrupted while they measure: what is whole is kept, nothing is concluded, and how to
go on is said. What happens to knobs is in tests/e2e/test_advise.py."""

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

import stand_in
from cli.commands import Run
from howlate.cli import _progress
from howlate.cli._measure import tell_interrupted
from howlate.measure.session import Session
from howlate.store.run_folder import RunFolder
from howlate.system.paths import probe_path
from processes import environment, told_through
from store.runs import a_folder, a_run

PROBE = probe_path()
RESTORED = "every knob is as it was"
"""What `advise` says of a machine that is restored."""
NOT_RESTORED = "what a killed probe changed was not restored"
WORDS = {
    "calibrate": (("--kinds=stopped,page-faults", "--count=10"), "--inject=", "Nothing is judged"),
    "advise": (
        (
            "--knobs=cpu_dma_latency",
            "--load=none",
            "--pairs=7",
            "--no-wait",
            "--cell-duration=2",
            "--set=policy=other",
        ),
        "--knob=",
        "the result needs all of them",
    ),
}


def test_a_knob_that_could_not_be_put_back_is_not_said_to_be_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = Session(a_folder(tmp_path / "r", {}), a_run(), ())
    interrupt = KeyboardInterrupt()
    assert tell_interrupted(session, interrupt, "again", RESTORED) == 5
    assert RESTORED in capsys.readouterr().err
    interrupt.add_note(NOT_RESTORED)
    assert tell_interrupted(session, interrupt, "again", RESTORED) == 5
    err = capsys.readouterr().err
    assert NOT_RESTORED in err and RESTORED not in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", sorted(WORDS))
def test_an_interrupted_command_concludes_nothing_and_says_how_to_go_on(
    tmp_path: Path, command: str, number: int
) -> None:
    words, sign, concludes = WORDS[command]
    probe = tmp_path / "probe"
    asked = f'case $1 in list) exec {probe_path()} "$@";; esac'
    waits = f'case "$1 $*" in "cyclic "*{sign}*) echo "$$" > {tmp_path}/waits; exec sleep 600;; esac'
    stand_in.put(probe, f"{asked}\n{waits}")
    os.mkfifo(tmp_path / "waits")
    process = subprocess.Popen(
        [sys.executable, "-m", "howlate", command, *words, "--out", "a b"],
        cwd=tmp_path,
        env=environment(HOWLATE_PROBE=str(probe)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    waiting = int(told_through(tmp_path / "waits"))
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 5, err
    assert "Traceback" not in err
    assert "cells complete" in err and "--out 'a b'" in err
    assert concludes in err and (RESTORED in err) == (command == "advise")
    assert out == "a b\n"
    assert not Path(f"/proc/{waiting}").exists()


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        (["check", "--no-wait"], ["run", "check"]),
        (["run", "check"], ["run", "check"]),
        (["check", "--no-wait", "--threshold", "10s"], ["check", "--threshold=10s"]),
        (["check", "--rounds", "2", "--every", "1ms"], ["--rounds=2", "--every=1ms"]),
        (
            [*("check", "--until-decided", "--deadline", "10s", "--miss-rate", "0.5", "--at-most", "3s")],
            ["--until-decided", "--at-most=3s", "--miss-rate=0.5"],
        ),
    ],
    ids=lambda words: " ".join(words[:3]),
)
def test_how_a_run_goes_on_has_one_answer_that_works(
    howlate: Run, monkeypatch: pytest.MonkeyPatch, command: list[str], kept: list[str]
) -> None:
    def interrupted(*_: object, **_options: object) -> None:
        raise KeyboardInterrupt

    if "--threshold" in command:  # which the stand-in does not have
        monkeypatch.setenv("HOWLATE_PROBE", str(PROBE))
    with monkeypatch.context() as patched:
        patched.setattr(_progress, "execute_cells", interrupted)
        done = howlate(*command, "--set", "duration=200ms", "--set", "load=none", "--out", "a b")
    told = {done.err.partition("To go on: ")[2].splitlines()[0]}
    for asked in (["verdict", "--deadline=1ms"], ["why"], ["export", "--format=csv", "-o=x"]):
        told.add(howlate(*asked, "a b").err.partition("`")[2].partition("`")[0])
    (again,) = told
    assert [word for word in shlex.split(again) if word in kept] == kept
    begun = RunFolder(Path("a b")).read_run().plan
    assert howlate(*shlex.split(again)[1:]).code in (0, 4, 5)
    plan = RunFolder(Path("a b")).read_run().plan
    assert plan == replace(begun, cells=begun.cells[: len(plan.cells)])
    assert RunFolder(Path("a b")).whole_cells() == [cell.id for cell in plan.cells]
    assert len(plan.cells) == len(begun.cells) or "--until-decided" in kept
