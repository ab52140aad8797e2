"""Play the worst samples of a lab run again, and say where every instruction went: `howlate why --from replay`."""

from __future__ import annotations

from typing import Any

import click

from howlate.why.cli._replay import REPLAY
from howlate.why.cli.why import command as why


def _replayed(**values: Any) -> int:
    assert why.callback is not None
    code: int = why.callback(**{**values, "source": values["source"] or REPLAY})
    return code


command = click.Command(
    why.name,
    params=why.params,
    callback=_replayed,
    help=why.help,
    epilog="Example: howlate lab why runs/20260102T030405-preemption-models --worst 3",
)
