"""Runs as command-line arguments: a folder, or NAME=FOLDER."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from howlate.words.statement import rule

if TYPE_CHECKING:
    from howlate.errors import ExitCode
    from howlate.model.loaded import RunContent

NO_RUN_NAMED = rule("cli.no-run-named", '"{text}" names no run folder', remedy="write RUN, or NAME=RUN")
NAME_TWICE = rule("cli.name-twice", 'two runs are called "{name}"', remedy="give each run a name of its own")


def named_run(text: str) -> tuple[str, Path]:
    """A run's name and folder: both from "NAME=RUN", or from an existing folder with that name."""
    from howlate.errors import UsageError

    name, equals, path = text.partition("=")
    if not equals or not name or "/" in name or Path(text).exists():
        name, path = "", text
    if not path:
        raise UsageError(NO_RUN_NAMED(text=text))
    return name, Path(path)


def named_runs(texts: Iterable[str]) -> list[tuple[str, Path]]:
    """The names and folders of all arguments. UsageError if two runs share a name, since their rows could not
    be told apart."""
    from howlate.errors import UsageError

    runs = [named_run(text) for text in texts]
    names = [name for name, _path in runs if name]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(NAME_TWICE(name=name))
    return runs


def tell_missing(runs: Iterable[tuple[Path, RunContent]]) -> ExitCode:
    """Name on standard error what each run lacks; the exit code says where something that was measured is gone."""
    import click

    from howlate.errors import ExitCode
    from howlate.report.missing import missing_of
    from howlate.words.say import english

    code = ExitCode.DONE
    for path, content in runs:
        for told in missing_of(content):
            click.echo(f"! {path}: {english(told)}", err=True)
        code = ExitCode.BROKEN if content.gone else code
    return code


def read_named(runs: Iterable[tuple[str, Path]], bins: bool = True) -> list[RunContent]:
    """The contents of the runs, under the names that the user gave."""
    from howlate.store.loaded import load_run

    return [replace(load_run(path, bins), name=name) for name, path in runs]
