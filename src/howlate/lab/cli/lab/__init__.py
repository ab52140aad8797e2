"""Measure kernels side by side in virtual machines."""

from __future__ import annotations

import click

from howlate.cli._folder import Folder


@click.command(cls=Folder, package=__name__, epilog="Example: howlate lab kernels")
def command() -> None:
    """Measure kernels side by side in virtual machines: no reboot, exactly reproducible
    (docs/lab/)."""
