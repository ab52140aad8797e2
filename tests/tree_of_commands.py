"""The commands of the command line and their options, as click has them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest.mock import patch

import click
from click.core import ParameterSource

from howlate.cli import howlate

EVERYWHERE = ("lang", "version", "help")
"""Every command has them, and their own tests."""


def leaves() -> dict[str, click.Command]:
    """The commands that do something, by their words: "check", "lab run"."""
    return dict(_below(howlate, (), click.Context(howlate)))


def _below(
    command: click.Command, words: tuple[str, ...], context: click.Context
) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(words), command
        return
    if command.invoke_without_command:
        yield " ".join(words), command
    for name in command.list_commands(context):
        own = command.get_command(context, name)
        assert own is not None
        yield from _below(own, (*words, name), click.Context(own, parent=context))


def options_of(command: click.Command) -> set[str]:
    """The names of its options."""
    own = {param.name or "" for param in command.params if isinstance(param, click.Option)}
    return own - set(EVERYWHERE)


def parsed(argv: Sequence[str]) -> click.Context:
    """The innermost command's context; click.ClickException if these words are no call. RUN may be left out, also
    where there is none."""
    with patch("howlate.cli._named.newest_run", return_value=Path("runs/newest")):
        return _parsed(argv)


def _parsed(argv: Sequence[str]) -> click.Context:
    context = click.Context(howlate, info_name="howlate")
    command: click.Command = howlate
    words = list(argv)
    while isinstance(command, click.Group):
        context = command.make_context("howlate", words, parent=context if command is not howlate else None)
        words = [*context._protected_args, *context.args]
        if not words:
            return context
        name, found, words = command.resolve_command(context, words)
        assert found is not None
        context, command = click.Context(found, info_name=name, parent=context), found
    return command.make_context(command.name, words, parent=context.parent)


def options_in(argv: Sequence[str]) -> set[str]:
    """The names of the options that are given in these words."""
    context = parsed(argv)
    names = [param.name or "" for param in context.command.params if isinstance(param, click.Option)]
    return {name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
