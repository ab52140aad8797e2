"""What the commands of the archive share: their options, and the archive that the options name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from howlate.cli._options import together
from howlate.cli._say import say

if TYPE_CHECKING:
    from howlate.lab.archive.packages import Archive


class ArchiveOptions(Struct, frozen=True):
    """Where the kernels come from."""

    mirrors: tuple[str, ...]
    keyring: Path | None
    refresh: bool

    def opened(self) -> Archive:
        """The archive through this machine's apt, or through the mirrors; with fresh lists if requested."""
        from howlate.lab.archive.apt import AptArchive
        from howlate.lab.archive.mirror import MirrorArchive, no_keyring
        from howlate.lab.cache import cache_folder

        if self.keyring is not None and not self.keyring.is_file():
            raise no_keyring(self.keyring)
        archive: Archive
        if self.mirrors:
            archive = MirrorArchive(cache_folder() / "mirror", self.mirrors, self.keyring, say)
        else:
            archive = AptArchive(cache_folder() / "apt", keyring=self.keyring, say=say)
        if self.refresh:
            archive.packages(refresh=True)
        return archive


archive_options = together(
    "archive",
    ArchiveOptions,
    [
        click.option(
            "--mirror",
            "mirrors",
            multiple=True,
            metavar="URL",
            help="A mirror of the Debian archive, instead of this machine's apt; may be repeated.",
        ),
        click.option(
            "--keyring",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="The keys that sign the archive (default: those of the package debian-archive-keyring).",
        ),
        click.option("--refresh", is_flag=True, help="Fetch the lists again, however recent they are."),
    ],
)
"""--mirror, --keyring, --refresh, passed as `archive`."""
