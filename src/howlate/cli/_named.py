"""Runs as command-line arguments: a folder, or NAME=FOLDER."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from howlate.cli._say import say
from howlate.errors import DamagedError, ExitCode, UsageError
from howlate.model.decode import twice
from howlate.words.printable import printable
from howlate.words.say import english
from howlate.words.statement import Message

if TYPE_CHECKING:
    from howlate.model.loaded import RunContent
    from howlate.model.run import Run
    from howlate.store.run_folder import RunFolder


def named_run(text: str) -> tuple[str, Path]:
    """A run's name and folder: both from "NAME=RUN", or from an existing folder with that name."""
    name, equals, path = text.partition("=")
    if not equals or not name or "/" in name or Path(text).exists():
        name, path = "", text
    if not path:
        raise UsageError('"{text}" names no run folder', remedy="write RUN, or NAME=RUN", text=text)
    return name, Path(path)


def named_runs(texts: Iterable[str]) -> list[tuple[str, Path]]:
    """The names and folders of all arguments. UsageError if two runs share a name, since their rows could not
    be told apart."""
    runs = [named_run(text) for text in texts]
    names = [name for name, _path in runs if name]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(twice("name", name, "give each run a name of its own"))
    return runs


def tell_missing(runs: Iterable[tuple[Path, RunContent]]) -> ExitCode:
    """Name on standard error what each run lacks, and the cells whose samples are not what was measured. The exit
    code says whether something measured is gone or changed, or something planned was never measured."""
    from howlate.statistics.valid import UNCHECKED

    codes = [ExitCode.DONE]
    for path, content in runs:
        codes.append(_tell(path, content.gone, content.unmeasured))
        for cell in content.summaries:
            for told in (warning for warning in cell.warnings if warning.rule == UNCHECKED.id):
                click.echo(f"! {printable(str(path))}/cells/{cell.id}: {english(told)}", err=True)
                codes += [] if cell.valid else [ExitCode.BROKEN]
    return _graver(codes)


def tell_cells_missing(folder: RunFolder, run: Run) -> ExitCode:
    """The same of a run whose summaries are not read."""
    whole, finished = set(folder.whole_cells(run)), folder.finished_cells()
    return _tell(folder.path, tuple(sorted(finished - whole)), run.plan.unmeasured({*whole, *finished}))


def _tell(path: Path, gone: tuple[str, ...], unmeasured: tuple[str, ...]) -> ExitCode:
    from howlate.document.missing import missing_named

    for told in missing_named(gone, unmeasured):
        click.echo(f"! {printable(str(path))}: {english(told)}", err=True)
    return ExitCode.BROKEN if gone else ExitCode.INCONCLUSIVE if unmeasured else ExitCode.DONE


def _graver(codes: Iterable[ExitCode]) -> ExitCode:
    found = set(codes)
    return next(code for code in (ExitCode.BROKEN, ExitCode.INCONCLUSIVE, ExitCode.DONE) if code in found)


@contextmanager
def damaged_where(code: ExitCode, only: Message | None = None) -> Iterator[None]:
    """Turn a UsageError (of this rule) into damage where something that was measured is gone."""
    try:
        yield
    except UsageError as problem:
        if code is ExitCode.BROKEN and (only is None or problem.statement.rule == only.id):
            raise DamagedError(problem.statement) from None
        raise


def read_named(runs: Iterable[tuple[str, Path]], *, bins: bool = True) -> list[RunContent]:
    from howlate.store.loaded import load_run

    with say.living("reading the runs"):
        return [replace(load_run(path, bins=bins, intervals=True), name=name) for name, path in runs]
