"""Fetch kernels into the cache."""

from __future__ import annotations

import click

from howlate.cli._say import say
from howlate.lab.cli.lab._archive import ArchiveOptions, archive_options


@click.command(epilog="Example: howlate lab fetch 6.1 6.1-rt 6.12-rt@arm64")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--with-module",
    "modules",
    multiple=True,
    metavar="NAME",
    help="A further module of each kernel; may be repeated.",
)
@archive_options
def command(names: tuple[str, ...], modules: tuple[str, ...], archive: ArchiveOptions) -> int:
    """Fetch the kernels NAME into the cache: the newest of a series ("6.1", "6.12-rt@arm64"), a version
    ("6.1=6.1.192-2"), "all" or "all@arm64" (one of every series, standard and RT). Prints the folder of each.

    Only the kernel, its config, its System.map and the modules that the lab needs are kept.
    """
    from howlate.lab.kernels.catalogue import fetch, named
    from howlate.lab.kernels.modules import of_loads
    from howlate.targets import open_target

    opened = archive.opened()
    needed = of_loads(open_target("local").capabilities().loads)
    labels = named(",".join(names), lambda: opened)
    for label in labels:
        kernel = fetch(label, opened, modules=(*needed, *modules), say=say)
        absent = sorted(kernel.modules.absent)
        if absent:
            say(f"{kernel.pinned} has no module {', '.join(absent)}")
        click.echo(f"{kernel.pinned}  {kernel.vmlinuz.parent}")
    return 0
