"""The command line. ONE FILE in this folder = ONE SUBCOMMAND: its `command`, under the file's name.

A folder in it is a group (`howlate lab`), built in the same way. Only the file of the called subcommand is
imported, and it imports what it needs when it runs. `howlate --help` shows the first line of each file's
docstring.
"""

from __future__ import annotations

import click

from howlate.cli._folder import Folder
from howlate.cli._language import lang_option
from howlate.system.version import __version__


@click.command(
    cls=Folder,
    package=__name__,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Example: howlate check",
)
@lang_option()
@click.version_option(__version__, prog_name="howlate")
def howlate() -> None:
    """How late can your Linux be? Measures it under load and says what the numbers allow you to promise."""
