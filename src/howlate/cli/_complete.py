"""What howlate answers when a shell asks how to complete an argument."""

from __future__ import annotations

import click

COMPLETE_VARIABLE = "_HOWLATE_COMPLETE"
"""The environment variable by which a shell asks howlate to complete words."""


def studies(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The studies that come with howlate; the shell itself completes the names of study files."""
    from howlate.studies import studies

    return [name for name in studies() if name.startswith(incomplete)]
