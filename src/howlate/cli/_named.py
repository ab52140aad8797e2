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
    name, equals, path = text.partition("=")
    if equals and name and "/" not in name and not Path(text).exists():
        return name, Path(path)
    return "", Path(text)


def read_named(runs: Iterable[tuple[str, Path]], bins: bool = True) -> list[RunContent]:
    """Their contents, called as the user calls them."""
    from howlate.report.content import read_content

    return [replace(read_content(path, bins), name=name) for name, path in runs]
