"""Remove the lab's cached results, guests and modules."""

from __future__ import annotations

import click


@click.command(epilog="Example: howlate lab clean")
def command() -> int:
    """Remove what the lab has made in its cache and can make again: results, booted guests, built modules,
    copies of kernels of your own. The archive's kernels stay, so that tomorrow's run measures the same ones.
    """
    from howlate.lab.cache import cache_folder
    from howlate.lab.tidy import clean

    folder = cache_folder()
    click.echo(f"{clean(folder) / 1000000.0:,.0f} MB removed from {folder}")
    return 0
