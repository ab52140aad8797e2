"""Every option of every command is given once, for real: in this process, with the real probe and as little
measuring as can be. What needs a guest of the lab is in tests/lab/test_every_option.py."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import pytest

from cli.commands import is_a_sentence
from howlate import __main__ as entry
from howlate.cli import check
from howlate.system import paths as places
from tree_of_commands import leaves, options_in, options_of

IMPORTED = Path(__file__).parents[1] / "fixtures" / "imported"
STUDY = """
schema = 1
id = "mine"
title = "Mine"
question = "?"
test = "cyclic"
[settings]
policy = "other"
period = "1ms"
duration = "50ms"
[axes]
load = ["none", "cpu:5"]
"""
JUDGED = (0, 1, 5)
"""How late this machine is now is not what is asked here."""
UNTIL = ("--until-decided", "--horizon", "1ms", "--at-most", "20s")

Call = tuple[str, Sequence[int]]
CALLS: dict[str, Sequence[Call]] = {
    "advise": (
        ("advise --dry-run --json --load none --set timer=timerfd --quantile max --seed 3 --no-wait", (0, 3)),
        (
            "advise --knobs stat_interval --pairs 8 --cell-duration 100ms --quantile 0.5 --no-wait --out a -o a.html",
            (0, 3, 5),
        ),
    ),
    "calibrate": (
        (
            "calibrate --kinds fifo-task --count 10 --above 100us --seed 2 --events few --out c --json",
            (0, 1, 3, 4, 5),
        ),
    ),
    "check": (
        (
            "check --duration 1s --period 500us --priority 80 --warm-up 10ms --load none,cpu:5 --deadline 200us "
            "--cpus 0 --out c --no-wait --histogram --brief",
            JUDGED,
        ),
        (
            "check --long --no-wait --json --policy other --target local --set timer=timerfd --load none",
            JUDGED,
        ),
        ("check -D 1s --no-wait --threshold 1us", (1,)),
        ("check --cell-duration 100ms --scale 0.5 --most-cells 9 --dry-run --policy other", (0,)),
        ("check --resume --seeds 2 --policy other", (2,)),
        (
            "check -D 1s --no-wait --deadline 200us --miss-rate 0.5 --until-decided --horizon 1ms --at-most 20s "
            "--cluster 2",
            JUDGED,
        ),
        ("check -D 1s --no-wait --deadline 1us --until-decided --miss-rate 1e-2", JUDGED),
        ("check -D 1s --no-wait --rounds 2 --every 1s", (0,)),
    ),
    "compare": (
        ("compare r s=s --by load --deadline 1ms --json -o c.html", (0,)),
        ("compare r s=s --by load --all", (0,)),
    ),
    "completion": (("completion bash", (0,)),),
    "doctor": (
        ("doctor --run r --all", (0,)),
        ("doctor --target local --json", (0,)),
        ("doctor --restore", (0,)),
    ),
    "export": (
        ("export r --format csv --with-parameters -o r.csv", (0,)),
        ("export r --format text3 --cell CELL -o -", (0,)),
    ),
    "history": (
        (
            "history r s --label load=none --statistic max --margin 0.2 --fail-on worse -o h.html --index",
            (0,),
        ),
        ("history --machine 1 --json --no-index", (0, 2)),
        ("history r s --all", (0,)),
        ("history r s --brief", (0,)),
    ),
    "import": (
        ("import cyclictest-2.10.txt --format cyclictest --label board=left --out i --json", (0, 5)),
        ("import samples.csv --brief --map latency_us=latency_us --out j", (0, 2, 5)),
        ("import howlate.ini -o out.toml", (0, 2)),
    ),
    "plan": (
        (
            "plan --miss-rate 1e-3 --true-rate 1e-4 --period 1ms --horizon 1s --ratio 1.5 --cell-duration 1s "
            "--cluster 2 --deadline 200us --confidence 0.9 --json",
            (0,),
        ),
    ),
    "probe": (("probe cyclic --duration 10ms --policy other", (0,)),),
    "query": (("query SELECT(1) r --index --csv", (0,)), ("query SELECT(1) r --no-index --json", (0,))),
    "reference": (("reference", (0,)),),
    "reference audit": (("reference audit --json", (0,)),),
    "reference list": (("reference list --json", (0,)),),
    "reference show": (("reference show tut-2017 --json", (0,)),),
    "report": (
        ("report r -o r.html --axis latency=0:1ms,linear --axes own --by load --format html", (0,)),
        ("report r --format svg -o pictures --json", (0,)),
    ),
    "run": (
        (
            "run mine.toml --set deadline=1us --scale 0.5 --out t --no-wait --most-cells 9 --histogram --json",
            JUDGED,
        ),
        ("run mine.toml --target local --no-wait --resume --brief", (0, 2)),
        ("run mine.toml --dry-run", (0,)),
        ("run mine.toml --no-wait --rounds 2 --every 1s", JUDGED),
        (
            f"run mine.toml --no-wait --set deadline=1us --miss-rate 0.5 --cluster 2 {' '.join(UNTIL)}",
            JUDGED,
        ),
        ("run mine.toml --emit-job job --target-arch x86_64", (0,)),
        ("run mine.toml --seeds 2", (2,)),
        (
            "run mine.toml --dry-run --period 2ms --policy rr --priority 9 --load none --cpus 0 --deadline 1ms "
            "--warm-up 10ms -D 1s",
            (0, 3),
        ),
        ("run mine.toml --dry-run --cell-duration 1s", (0,)),
    ),
    "settings": (("settings cyclic --json", (0,)), ("settings --defaults", (0,))),
    "show": (
        ("show r --cells --histogram", (0,)),
        ("show r --verify", (0,)),
        ("show r --json", (0,)),
        ("show r --brief", (0,)),
        ("show r --configs --all", (2,)),
    ),
    "studies": (("studies --json", (0,)),),
    "top": (
        (
            "top -D 2s --no-wait --period 2ms --priority 80 --warm-up 10ms --load none --deadline 200us --cpus 0 "
            "--out t --histogram --brief",
            JUDGED,
        ),
        ("top --cell-duration 500ms -D 20s --no-wait --json --threshold 1us --set timer=timerfd", (1,)),
        ("top --policy other --scale 0.5 --most-cells 400 --dry-run", (0,)),
        ("top --resume --seeds 2 --policy other", (2,)),
    ),
    "studies show": (("studies show check --json", (0,)),),
    "verdict": (
        (
            "verdict r --deadline 1ms --miss-rate 0.1 --horizon 1ms --confidence 0.9 --cluster 2 --extrapolate",
            JUDGED,
        ),
        ("verdict r --deadline 1ms --junit j.xml --summary s.md --json --all", JUDGED),
        ("verdict r --deadline 1ms --brief", JUDGED),
    ),
    "why": (
        ("why r --all --worst 1 -o why.html", (0,)),
        ("why r --json --from events", (0,)),
        (
            "why r --against 6.1 --stacks s.txt --speedscope s.json --debuginfo . --own-kernel mine=mine.toml "
            "--module . --mirror http://localhost --keyring mine.toml --refresh",
            (2,),
        ),
        ("why r --try --pairs 6 --cell-duration 100ms --out w", (0, 2, 3, 5)),
    ),
}
"""By command; the words are those that a user types. Options that are refused here on purpose are those of the lab
(--seeds, --kernels --all), which tests/lab/test_every_option.py gives to its guests."""
LAB = "lab "
OF_GUESTS = {"advise": {"kernels", "cpus"}, "calibrate": {"kernels", "cpus"}}
"""Options of other commands that need a guest, likewise."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of the study, which explain their late samples."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "mine.toml").write_text(STUDY)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for out in ("r", "s"):
            words = f"run mine.toml --no-wait --set explain=true --set explain-above=1us --out {out}"
            code = called(words)
            if code != 0:  # no right to trace here
                code = called(f"run mine.toml --no-wait --out {out}")
            assert code == 0
    return folder


@pytest.fixture
def work(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path / "work"
    shutil.copytree(kept, place)
    for name in ("cyclictest-2.10.txt", "samples.csv"):
        shutil.copy(IMPORTED / name, place)
    monkeypatch.chdir(place)
    monkeypatch.setenv("HOWLATE_PROBE", str(places.probe_path()))
    monkeypatch.setattr(check, "LONG_NS", 10**9)
    yield place


def called(words: str) -> int:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        return entry.main(words.replace("SELECT(1)", "SELECT\t1").split(" "))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize("name", [name for name in leaves() if not name.startswith(LAB)])
def test_every_option_is_given_once(name: str) -> None:
    given = {option for words, _ in CALLS[name] for option in options_in(words.split(" "))}
    assert options_of(leaves()[name]) - OF_GUESTS.get(name, set()) <= given


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in ("advise", "check") else ())
        for name in CALLS
        if name != "probe"
    ],
)
def test_a_call_with_it_ends_as_it_should(name: str, work: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cell = next((work / "r" / "cells").iterdir()).name
    for words, codes in CALLS[name]:
        code = called(words.replace("CELL", cell))
        said = capfd.readouterr()
        assert code in codes, (words, code, said.err)
        assert "Traceback" not in said.out + said.err and "fault in howlate" not in said.err, words
        if code in (2, 3, 4):
            assert is_a_sentence(said.err.splitlines(keepends=True)[-1]), (words, said.err)


def test_the_groups_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk finds an option that a command gets."""
    leaf = leaves()["plan"]
    monkeypatch.setattr(leaf, "params", [*leaf.params, click.Option(["--new"])])
    assert "new" in options_of(leaf)


def _times(name: str) -> Iterator[tuple[click.Option, list[str], int]]:
    """The options of a command whose value is a time, and of the first call with each the words and the place."""
    for option in (param for param in leaves()[name].params if isinstance(param, click.Option)):
        calls = [words.split(" ") for words, _ in CALLS[name]]
        places = [(call, at + 1) for call in calls for at, word in enumerate(call) if word in option.opts]
        if option.metavar == "TIME" and places:
            yield option, *places[0]


@pytest.mark.parametrize("name", [name for name in CALLS if any(True for _ in _times(name))])
def test_a_time_in_a_unit_that_there_is_not_is_refused(
    name: str, work: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """By each command in the same way: before anything is measured, with the units that there are."""
    for option, call, place in _times(name):
        code = called(" ".join([*call[:place], "5parsecs", *call[place + 1 :]]))
        said = capfd.readouterr().err
        assert code == 2 and is_a_sentence(said.splitlines(keepends=True)[-1]), (option.opts, said)
        assert option.opts[-1] in said and " ms" in said, (option.opts, said)
