"""Run the probe that was built for this machine, by hand."""

from __future__ import annotations

import click


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: howlate probe cyclic --period 250us --duration 5s --load cpu:50",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="ARGS...")
def command(arguments: tuple[str, ...]) -> int:
    """Hand ARGS to the probe in place of this command: its tests, load, list, facts, restore (docs/probe.md).

    Its own help: `howlate probe -- --help`."""
    import os

    from howlate.errors import TargetError
    from howlate.language import OURS, called
    from howlate.places import probe_path

    path = str(probe_path())
    named = {} if called() == OURS else {"HOWLATE_PROBE_COMMAND": f"{called()} probe"}
    try:
        os.execve(path, [path, *arguments], os.environ | named)
    except OSError as problem:
        raise TargetError(
            f"{path} could not be started: {problem.strerror}", "let `howlate check` build it again"
        ) from None
