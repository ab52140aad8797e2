"""RUN as an argument that may be left out: then it is the newest run below runs/."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from howlate.errors import HowlateError, UsageError
from howlate.system.paths import NO_RUN, RUNS
from howlate.words.printable import printable
from howlate.words.say import text_of

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
    _tell(newest, "" if before is None else f", and the one of its study before it {printable(str(before))}")
    return [newest] if before is None else [before, newest]


def _tell(run: Path, more: str = "") -> None:
    click.echo(f"howlate: the newest run is {printable(str(run))}{more}", err=True)


def _or_newest(context: click.Context, argument: click.Parameter, value: Any) -> Any:
    """The value, or the newest run in its form, named on standard error."""
    if value not in (None, ()) or context.resilient_parsing:
        return value
    run = newest_run(virtual=context.command_path.endswith(" lab why"))
    _tell(run)
    found = argument.type.convert(str(run), argument, context)
    return (found,) if argument.nargs == -1 else found


def run_or_newest(_context: click.Context, _option: click.Parameter, value: str | None) -> Path | None:
    """The callback of an option that may stand without RUN."""
    if value == "":
        _tell(run := newest_run())
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
