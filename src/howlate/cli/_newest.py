"""RUN as an argument that may be left out: then it is the newest run below runs/."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from howlate.system.paths import RUNS
from howlate.words.printable import printable

HEAD = 4096
"""Of run.json, whose first members say when it was started."""
_STARTED = re.compile(rb'"started": "([0-9TZ:-]+)"')


def newest_run(runs: Path = RUNS) -> Path:
    """The run that was started last. UsageError if there is none."""
    from howlate.errors import UsageError
    from howlate.store.run_folder import RUN

    started = []
    for file in runs.glob(f"*/{RUN}"):
        try:
            with file.open("rb") as opened:
                found = _STARTED.search(opened.read(HEAD))
        except OSError:
            continue
        if found is not None:
            started.append((found[1], file.parent))
    if not started:
        raise UsageError(
            "there is no run below {runs}/", remedy="name one, or make one: `howlate check`", runs=runs
        )
    return max(started)[1]


def _or_newest(context: click.Context, argument: click.Parameter, value: Any) -> Any:
    """The value, or the newest run in its form, named on standard error."""
    if value not in (None, ()) or context.resilient_parsing:
        return value
    run = newest_run()
    click.echo(f"howlate: the newest run is {printable(str(run))}", err=True)
    found = argument.type.convert(str(run), argument, context)
    return (found,) if argument.nargs == -1 else found


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
