"""Run the probe that was built for this machine, by hand."""

from __future__ import annotations

import os

import click

from howlate.errors import TargetError
from howlate.system.paths import NOT_STARTED, probe_path
from howlate.words.language import OURS, called


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: howlate probe cyclic --period 250us --duration 5s --load cpu:50",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="ARGS...")
def command(arguments: tuple[str, ...]) -> int:
    """Pass ARGS to the probe: its tests, load, list, facts, restore (docs/probe.md).

    The probe's own help: `howlate probe -- --help`.
    """
    path = str(probe_path())
    named = {} if called() == OURS else {"HOWLATE_PROBE_COMMAND": f"{called()} probe"}
    try:
        os.execve(path, [path, *arguments], os.environ | named)
    except OSError as problem:
        raise TargetError(NOT_STARTED(path=path, reason=problem.strerror)) from None
