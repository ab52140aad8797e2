"""RUN may be left out: it is the newest run below runs/, and one line says which."""

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from cli.commands import Run
from howlate.cli._named import _or_newest, newest_run, newest_two
from howlate.errors import UsageError
from howlate.store.run_folder import RunFolder
from store.runs import a_run
from tree_of_commands import leaves

MORE = {"export": ("--format", "csv", "-o", "-"), "verdict": ("--deadline", "1ms")}
"""What a command needs beside RUN."""
OF_ONE_RUN = sorted(
    name for name, leaf in leaves().items() if any(param.callback is _or_newest for param in leaf.params)
)


def test_commands_of_one_run_are_found() -> None:
    assert {"show", "report", "export", "verdict", "why", "lab why"} <= set(OF_ONE_RUN)


@pytest.mark.parametrize("name", [name for name in OF_ONE_RUN if name != "lab why"])
def test_without_a_run_it_is_the_newest(name: str, howlate: Run) -> None:
    for _ in range(2):
        assert howlate("run", "mine.toml", "--no-wait").code == 0
    newest = newest_run()
    assert newest == max(Path("runs").iterdir(), key=lambda run: (len(run.name), run.name))
    more = MORE.get(name, ())
    named = howlate(*name.split(), newest, *more)
    left_out = howlate(*name.split(), *more)
    assert (left_out.code, left_out.out) == (named.code, named.out)
    first, _, others = left_out.err.partition("\n")
    assert (first.split()[-1], others) == (str(newest), named.err)


def _made(runs: Path, name: str, started: str, clock: str = "real") -> Path:
    """A run of this name, as a run.json has it that was written whole."""
    (runs / name / "cells").mkdir(parents=True)
    run = replace(a_run("none"), id=name, token=name, started=started, clock=clock)
    RunFolder(runs / name).write_run(run)
    return runs / name


def test_the_newest_is_the_one_that_was_started_last(tmp_path: Path) -> None:
    for name, started in (
        ("b", "2026-01-02T00:00:00Z"),
        ("a", "2026-03-02T00:00:00Z"),
        ("c", "2025-01-02T00:00:00Z"),
    ):
        _made(tmp_path, name, started=started)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "run.json").write_bytes(b"\xff damaged")
    assert newest_run(tmp_path) == tmp_path / "a"


@pytest.mark.parametrize("started", ["2026-03-02T00:00:00Z", "9999-03-02T00:00:00Z"])
@pytest.mark.parametrize("damage", ["cut", "text", "none"])
def test_what_cannot_be_the_newest_is_passed_over_and_named(
    tmp_path: Path, started: str, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _made(tmp_path, "good", started="2026-01-02T00:00:00Z")
    file = _made(tmp_path, "bad", started=started) / "run.json"
    text = file.read_text()
    file.write_text({"cut": text[:200], "text": f'{{"started": "{started}"}}', "none": text}[damage])
    passed = damage != "none" or started > "9"
    assert newest_run(tmp_path) == tmp_path / ("good" if passed else "bad")
    said = capsys.readouterr().err
    assert (said.count("\n"), str(tmp_path / "bad") in said) == (passed, passed), said


def test_runs_of_the_future_are_better_than_none(tmp_path: Path) -> None:
    _made(tmp_path, "only", started="9999-01-02T00:00:00Z")
    assert newest_run(tmp_path) == tmp_path / "only"


def test_lab_why_takes_the_newest_run_of_the_lab(tmp_path: Path) -> None:
    _made(tmp_path, "lab", started="2026-01-02T00:00:00Z", clock="virtual")
    _made(tmp_path, "here", started="2026-03-02T00:00:00Z")
    assert newest_run(tmp_path, virtual=True) == tmp_path / "lab"


def test_the_newest_is_compared_with_the_one_of_its_study_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("1", "2", "3", "4"):
        folder = RunFolder(_made(Path("runs"), name, started=f"2026-01-0{name}T00:00:00Z"))
        run = folder.read_run()
        other = replace(run, study=replace(run.study, id="other"))
        folder.write_run(other if name == "3" else run)
    assert newest_two() == [Path("runs/2"), Path("runs/4")]
    told = "howlate: the newest run is runs/4, and the one of its study before it runs/2\n"
    assert capsys.readouterr().err == told
    for name in ("2", "4"):
        (Path("runs") / name).rename(name)
    assert newest_two() == [Path("runs/3")]


def test_compare_and_doctor_need_no_run(howlate: Run) -> None:
    for out in ("runs/a", "runs/b"):
        assert howlate("run", "mine.toml", "--no-wait", "--out", out).code == 0
    for left_out, named in (
        (("compare",), ("compare", "runs/a", "runs/b")),
        (("doctor", "--run"), ("doctor", "--run", "runs/b")),
        (("doctor", "--run", "--json"), ("doctor", "--run", "runs/b", "--json")),
    ):
        short, whole = howlate(*left_out), howlate(*named)
        assert (short.code, short.out) == (whole.code, whole.out) and short.out
        assert re.search(r"newest run is runs/b(,|$)", short.err.splitlines()[0])


def test_without_any_run_it_says_how_to_make_one(howlate: Run) -> None:
    for name, said in (
        ("show", "there is no run below runs/"),
        ("compare", "there is no run below"),
        ("lab why", "no run of the lab below runs/"),
    ):
        done = howlate(*name.split())
        assert done.code == 2 and said in done.err
    with pytest.raises(UsageError):
        newest_run(Path("absent"))
