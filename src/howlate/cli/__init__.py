"""The command line. ONE FILE in this folder = ONE SUBCOMMAND: its `command`, under the file's name.

Only the file of the subcommand that is called is imported, and it imports what it needs when it runs. The
first line of a file's docstring is what `howlate --help` says of it.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path

import click

from howlate import __version__


class Folder(click.Group):
    """A group whose commands are the files of this folder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(
            m.name.rstrip("_") for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        module = importlib.import_module(f"{__name__}.{_module(cmd_name)}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name not in self.list_commands(ctx) and not name.startswith("-"):
            from howlate.errors import UsageError
            from howlate.model.decode import suggestion

            raise UsageError(f'"{name}" is not a command', suggestion(name, self.list_commands(ctx)))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the files' first lines, so that help imports none of them."""
        rows = [(name, _summary(name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _module(command: str) -> str:
    return command if (Path(__file__).parent / f"{command}.py").exists() else f"{command}_"


def _summary(command: str) -> str:
    text = (Path(__file__).parent / f"{_module(command)}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0].rstrip(".")


@click.command(
    cls=Folder,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Example: howlate check",
)
@click.version_option(__version__, prog_name="howlate")
def howlate() -> None:
    """How late can your Linux be? Measures it under load and says what the numbers allow you to promise."""
