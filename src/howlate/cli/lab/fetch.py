"""Fetch kernels into the cache."""

from __future__ import annotations

from pathlib import Path

import click

from howlate.cli.lab._archive import archive_options, open_archive, say


@click.command(epilog="Example: howlate lab fetch 6.1 6.1-rt 6.12-rt@arm64")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--module", "modules", multiple=True, metavar="NAME", help="A further module of each; several times."
)
@archive_options
def command(
    names: tuple[str, ...],
    modules: tuple[str, ...],
    mirrors: tuple[str, ...],
    keyring: Path | None,
    refresh: bool,
) -> int:
    """Fetch the kernels NAME into the cache: the newest of a series ("6.1", "6.12-rt@arm64"), or a version
    ("6.1=6.1.192-2"), "all" or "all@arm64" (one of every series, standard and RT). Prints the folder of each.

    Only the kernel, its config, its System.map and the modules that the lab needs are kept."""
    from howlate.lab.kernels import fetch, named
    from howlate.lab.modules import DEFAULT

    archive = open_archive(mirrors, keyring)
    if refresh:
        archive.packages(refresh=True)
    labels = named(",".join(names), lambda: archive)
    for label in labels:
        kernel = fetch(label, archive, modules=(*DEFAULT, *modules), say=say)
        absent = sorted(kernel.modules.absent)
        if absent:
            say(f"{kernel.pinned} has no module {', '.join(absent)}")
        click.echo(f"{kernel.pinned}  {kernel.vmlinuz.parent}")
    return 0
