"""What the commands of the archive have in common: their options, and the archive that these mean."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from howlate.language import retold

if TYPE_CHECKING:
    from howlate.lab.archive import Archive


def archive_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--mirror, --keyring, --refresh."""
    for option in (
        click.option("--refresh", is_flag=True, help="Fetch the lists anew, however young they are."),
        click.option(
            "--keyring",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="The keys that the archive is signed with (default: the package debian-archive-keyring's).",
        ),
        click.option(
            "--mirror",
            "mirrors",
            multiple=True,
            metavar="URL",
            help="A mirror of the Debian archive, instead of this machine's apt; can be given several times.",
        ),
    ):
        command = option(command)
    return command


def open_archive(mirrors: tuple[str, ...], keyring: Path | None) -> Archive:
    """The archive through this machine's apt, or the mirrors."""
    from howlate.errors import UsageError
    from howlate.lab.apt import AptArchive
    from howlate.lab.cache import cache_folder
    from howlate.lab.mirror import MirrorArchive

    if keyring is not None and not keyring.is_file():
        raise UsageError(f"the keyring {keyring} is not there", "name a file that gpgv can read")
    if mirrors:
        return MirrorArchive(cache_folder() / "mirror", mirrors, keyring, say)
    return AptArchive(cache_folder() / "apt", keyring=keyring, say=say)


def say(text: str) -> None:
    """Progress, on standard error."""
    clear = "\r\x1b[K" if sys.stderr.isatty() else ""  # a line of progress may stand there
    click.echo(f"{clear}howlate: {retold(text)}", err=True)
