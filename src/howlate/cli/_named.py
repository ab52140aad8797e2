"""Runs as command-line arguments: a folder, NAME=FOLDER, or nothing for the newest run below runs/."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from howlate.cli._say import say
from howlate.errors import DamagedError, ExitCode, HowlateError, UsageError
from howlate.model.decode import twice
from howlate.system.paths import NO_RUN, RUNS
from howlate.words.printable import printable
from howlate.words.say import english, text_of
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


HEAD = 4096
"""The beginning of run.json, whose first members say when it was started."""
_STARTED = re.compile(rb'"started": "(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"')
_VIRTUAL = b'"clock": "virtual"'


def newest_run(runs: Path = RUNS, *, virtual: bool = False) -> Path:
    """The run that was measured last. UsageError if there is none."""
    if (run := next(newest_runs(runs, virtual=virtual), None)) is not None:
        return run
    what, command = ("run of the lab", "lab run") if virtual else ("run", "check")
    raise UsageError(NO_RUN(what=what, runs=runs, hint=f"name one, or make one: `howlate {command}`"))


def newest_runs(runs: Path = RUNS, *, virtual: bool = False) -> Iterator[Path]:
    """The runs, the one that was measured last first. Those that cannot be read, or are of the future, are passed
    over, and one line says which. `virtual`: of those of the lab in virtual time."""
    from howlate.store.run_folder import RUN, RunFolder

    started = []
    for file in runs.glob(f"*/{RUN}"):
        try:
            with file.open("rb") as opened:
                head = opened.read(HEAD)
        except OSError:
            continue
        found = _STARTED.search(head)
        if found is not None and (_VIRTUAL in head or not virtual):
            started.append((found[1].decode(), file.parent))
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 86_400))
    passed = []
    for begun, run in sorted(started, key=lambda each: (each[0] <= now, each), reverse=True):
        try:
            RunFolder.open(run).read_run()
        except HowlateError as problem:
            passed.append(f"{printable(str(run))} ({text_of(problem.statement)})")
            continue
        if begun <= now:
            passed += [f"{printable(str(each))} (started {at})" for at, each in started if at > now]
            started = [each for each in started if each[0] <= now]
        if passed:
            click.echo(f"howlate: passed over: {', '.join(passed)}", err=True)
            passed = []
        yield run


def newest_two() -> list[Path]:
    """The newest run of the same study before the newest run, if any, and that run; named on standard error."""
    from howlate.store.run_folder import RunFolder

    runs = newest_runs()
    newest = next(runs, None) or newest_run()
    study = RunFolder.open(newest).read_run().study.id
    before = next((run for run in runs if RunFolder.open(run).read_run().study.id == study), None)
    _tell_newest(
        newest, "" if before is None else f", and the one of its study before it {printable(str(before))}"
    )
    return [newest] if before is None else [before, newest]


def _tell_newest(run: Path, more: str = "") -> None:
    click.echo(f"howlate: the newest run is {printable(str(run))}{more}", err=True)


def _or_newest(context: click.Context, argument: click.Parameter, value: Any) -> Any:
    """The value, or the newest run in its form, named on standard error."""
    if value not in (None, ()) or context.resilient_parsing:
        return value
    run = newest_run(virtual=context.command_path.endswith(" lab why"))
    _tell_newest(run)
    found = argument.type.convert(str(run), argument, context)
    return (found,) if argument.nargs == -1 else found


def run_or_newest(_context: click.Context, _option: click.Parameter, value: str | None) -> Path | None:
    """The callback of an option that may stand without RUN."""
    if value == "":
        _tell_newest(run := newest_run())
        return run
    return None if value is None else Path(value)


def run_argument(*, several: bool = False, named: bool = False) -> Callable[[Any], Any]:
    """The parameter `run` or, if there may be several, `runs`. `named`: as texts, which may be NAME=RUN."""
    return click.argument(
        "runs" if several else "run",
        nargs=-1 if several else 1,
        required=False,
        type=str if named else click.Path(path_type=Path),
        callback=_or_newest,
        metavar=f"[{'[NAME=]' if named else ''}RUN{'...' if several else ''}]",
    )
