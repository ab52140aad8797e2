"""RUN may be left out: it is the newest run below runs/, and one line says which."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.commands import Run
from howlate.cli._newest import _or_newest, newest_run
from howlate.errors import UsageError
from tree_of_commands import leaves

MORE = {"export": ("--format", "csv", "-o", "-"), "verdict": ("--deadline", "1ms")}
"""What a command needs beside RUN."""
OF_ONE_RUN = sorted(
    name for name, leaf in leaves().items() if any(param.callback is _or_newest for param in leaf.params)
)


def test_commands_of_one_run_are_found() -> None:
    assert {"show", "report", "export", "verdict", "why", "lab why"} <= set(OF_ONE_RUN)


@pytest.mark.parametrize("name", OF_ONE_RUN)
def test_without_a_run_it_is_the_newest(name: str, howlate: Run) -> None:
    for _ in range(2):
        assert howlate("run", "mine.toml", "--no-wait").code == 0
    newest = newest_run()
    assert newest == max(Path("runs").iterdir(), key=lambda run: (len(run.name), run.name))
    more = MORE.get(name, ())
    named = howlate(*name.split(), newest, *more)
    left_out = howlate(*name.split(), *more)
    assert (left_out.code, left_out.out) == (named.code, named.out)
    assert left_out.err == f"howlate: the newest run is {newest}\n{named.err}"


def test_the_newest_is_the_one_that_was_started_last(tmp_path: Path) -> None:
    for name, started in (
        ("b", "2026-01-02T00:00:00Z"),
        ("a", "2026-03-02T00:00:00Z"),
        ("c", "2025-01-02T00:00:00Z"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps({"id": name, "started": started}, indent=1))
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "run.json").write_bytes(b"\xff damaged")
    assert newest_run(tmp_path) == tmp_path / "a"


def test_without_any_run_it_says_how_to_make_one(howlate: Run) -> None:
    done = howlate("show")
    assert done.code == 2 and "there is no run below runs/" in done.err
    with pytest.raises(UsageError):
        newest_run(Path("absent"))
