"""Runs as commands take them: a folder, or NAME=FOLDER."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from howlate.report.content import RunContent


def named_run(text: str) -> tuple[str, Path]:
    """A run's name and folder: of "NAME=RUN" both, of a folder with that name the folder."""
    from howlate.errors import UsageError

    name, equals, path = text.partition("=")
    if not equals or not name or "/" in name or Path(text).exists():
        name, path = "", text
    if not path:
        raise UsageError(f'"{text}" names no run folder', "write RUN, or NAME=RUN")
    return name, Path(path)


def named_runs(texts: Iterable[str]) -> list[tuple[str, Path]]:
    """Of every argument; UsageError where one name is given to two runs, whose rows nobody could tell apart."""
    from howlate.errors import UsageError

    runs = [named_run(text) for text in texts]
    names = [name for name, _path in runs if name]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f'two runs are called "{name}"', "give each run a name of its own")
    return runs


def read_named(runs: Iterable[tuple[str, Path]], bins: bool = True) -> list[RunContent]:
    """Their contents, called as the user calls them."""
    from howlate.report.content import read_content

    return [replace(read_content(path, bins), name=name) for name, path in runs]
