"""A group of commands that is a folder of files."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path
from typing import Any

import click

from howlate.cli._language import in_words, speaking
from howlate.language import _


class Folder(click.Group):
    """A group whose commands are the files of a package's folder; a folder in it is a group of its own.

    Only the file that is called is imported. The first line of a file's docstring is its line of the help.
    """

    def __init__(self, *args: Any, package: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.package = package
        self.folder = Path(__file__).parent.joinpath(*package.split(".")[2:])

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(
            m.name.rstrip("_") for m in pkgutil.iter_modules([str(self.folder)]) if not m.name.startswith("_")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        name = self._file(cmd_name).relative_to(self.folder).parts[0].removesuffix(".py")
        command: click.Command = importlib.import_module(f"{self.package}.{name}").command
        return speaking(command)

    def get_help(self, ctx: click.Context) -> str:
        if ctx.parent is None:  # the others were loaded by their parents
            in_words(self)
        return super().get_help(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name not in self.list_commands(ctx) and not name.startswith("-"):
            from howlate.errors import UsageError
            from howlate.model.decode import suggestion

            known = self.list_commands(ctx)
            if ctx.parent is None:
                raise UsageError(f'"{name}" is not a command', suggestion(name, known))
            raise UsageError(f'"{name}" is not a command of {ctx.command_path}', suggestion(name, known))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """From the files' first lines, so that help imports none of them."""
        rows = [(name, self._summary(name)) for name in self.list_commands(ctx)]
        if rows:
            with formatter.section(_("Commands")):
                formatter.write_dl(rows)

    def _file(self, command: str) -> Path:
        """`run.py`, `import_.py` (where Python keeps the word for itself) or `lab/__init__.py`."""
        places = (self.folder / f"{command}.py", self.folder / command / "__init__.py")
        return next((p for p in places if p.exists()), self.folder / f"{command}_.py")

    def _summary(self, command: str) -> str:
        text = self._file(command).read_text(encoding="utf-8")
        return _((ast.get_docstring(ast.parse(text)) or "").partition("\n")[0].rstrip("."))
