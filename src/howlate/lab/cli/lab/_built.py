"""The options for kernels and modules that the user built."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import Struct

from howlate.cli._options import together

kernel_option = click.option(
    "--own-kernel",
    "own",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="[NAME=]PATH",
    help="A further kernel of your own (bzImage or Image), under its file's name or NAME; may be repeated.",
)
modules_option = click.option(
    "--module",
    "modules",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Modules of your own, built for each kernel and loaded before each cell; may be repeated.",
)


class BuiltOptions(Struct, frozen=True):
    """What the user built: kernels as `PATH` or `NAME=PATH`, each also with `[parameters]`; folders of modules."""

    own: tuple[Path, ...]
    modules: tuple[Path, ...]


built_options = together("built", BuiltOptions, [kernel_option, modules_option])
"""--own-kernel, --module, passed as `built`."""
