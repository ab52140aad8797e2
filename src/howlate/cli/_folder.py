"""A group of commands that is a folder of files."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import click

from howlate.cli._language import as_typed, ready
from howlate.cli._of_others import answer, program, renamed
from howlate.errors import REMEDIED, UsageError
from howlate.rooms import docstring, plugins
from howlate.system.plugins import plugin


class Folder(click.Group):
    """A group whose commands are the files of a package's folder; a folder in it is a nested group.

    Only the called file is imported. The first line of a file's docstring is its line in the help.
    """

    def __init__(self, *args: Any, package: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.package = package

    @cached_property
    def modules(self) -> dict[str, str]:
        """Modules by command: `import` is in the file `import_.py`, because `import` is a keyword of Python."""
        return {name.rstrip("_"): module for name, module in plugins(self.package).items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.modules:
            return None
        return ready(plugin(self.modules[cmd_name], "command", click.Command))

    def get_help(self, ctx: click.Context) -> str:
        if ctx.parent is None:  # their parents loaded the others
            as_typed(self)
        return super().get_help(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Another program's options without a command are those of `check`."""
        own = [name for param in self.get_params(ctx) for name in param.opts]
        if ctx.parent is None and args and args[0].startswith("-") and args[0].partition("=")[0] not in own:
            check = self.get_command(ctx, "check")
            assert check is not None
            answer("check", [name for param in check.params for name in param.opts], args)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name not in self.list_commands(ctx) and not name.startswith("-"):
            from howlate.model.decode import unknown

            if ctx.parent is None and (elsewhere := program(name)):
                raise UsageError(REMEDIED(problem=unknown("command", name, ()), remedy=elsewhere))
            raise UsageError(unknown("command", name, self.list_commands(ctx)))
        _, command, words = super().resolve_command(ctx, args)
        assert command is not None
        full = name if ctx.parent is None else f"{ctx.info_name} {name}"
        words = renamed(full, words)
        options = command.get_params(click.Context(command, parent=ctx))
        answer(full, [option for param in options for option in param.opts], words)
        return name, command, words

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Read the files' first lines, so that help imports none of them."""
        rows = [(name, self._summary(name)) for name in self.list_commands(ctx)]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def _summary(self, command: str) -> str:
        return docstring(self.modules[command]).partition("\n")[0].rstrip(".")
