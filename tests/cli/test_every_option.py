"""Every option of every command is given once, for real: in this process, with the real probe and as little
measuring as can be. What needs a guest of the lab is in tests/lab/test_every_option.py."""

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from cli.calls import OPTIONS
from cli.commands import is_a_sentence
from howlate import __main__ as entry
from howlate.cli import check
from howlate.system import paths as places
from made_study import study_text
from tree_of_commands import leaves, options_in, options_of

IMPORTED = Path(__file__).parents[1] / "fixtures" / "imported"
STUDY = study_text(policy="other", period="1ms", duration="50ms", axes={"load": ["none", "cpu:5"]})

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
    given = {option for words, _ in OPTIONS[name] for option in options_in(words.split(" "))}
    assert options_of(leaves()[name]) - OF_GUESTS.get(name, set()) <= given


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in ("advise", "check") else ())
        for name in OPTIONS
        if name != "probe"
    ],
)
def test_a_call_with_it_ends_as_it_should(name: str, work: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cell = next((work / "r" / "cells").iterdir()).name
    for words, codes in OPTIONS[name]:
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
        calls = [words.split(" ") for words, _ in OPTIONS[name]]
        places = [(call, at + 1) for call in calls for at, word in enumerate(call) if word in option.opts]
        if option.metavar == "TIME" and places:
            yield option, *places[0]


@pytest.mark.parametrize("name", [name for name in OPTIONS if any(True for _ in _times(name))])
def test_a_time_in_a_unit_that_there_is_not_is_refused(
    name: str, work: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """By each command in the same way: before anything is measured, with the units that there are."""
    for option, call, place in _times(name):
        code = called(" ".join([*call[:place], "5parsecs", *call[place + 1 :]]))
        said = capfd.readouterr().err
        assert code == 2 and is_a_sentence(said.splitlines(keepends=True)[-1]), (option.opts, said)
        assert option.opts[-1] in said and " ms" in said, (option.opts, said)
