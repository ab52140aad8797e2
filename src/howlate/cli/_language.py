"""`--lang` on every command, and help with howlate's name as the reader types it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from howlate.words.language import OURS, as_called, called, languages, speak


def _chosen(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    known = languages()
    if value not in known:
        from howlate.errors import UsageError
        from howlate.model.decode import unknown

        raise UsageError(unknown("language", value, known))
    speak(value)


def lang_option(*, hidden: bool = False) -> Callable[[Any], Any]:
    """An option of every command, though only the help of `howlate` itself lists it."""
    return click.option(
        "--lang",
        metavar="|".join(languages()),
        callback=_chosen,
        expose_value=False,
        is_eager=True,
        hidden=hidden,
        help="The language of reports and tables (default: the locale's).",
    )


def ready(command: click.Command) -> click.Command:
    """A loaded command with `--lang`, whose help spells commands as the reader types them."""
    foreign = command.context_settings.get(
        "ignore_unknown_options"
    )  # whose arguments belong to another program
    if not foreign and all(parameter.name != "lang" for parameter in command.params):
        lang_option(hidden=True)(command)
        command.params.extend(reversed(command.__dict__.pop("__click_params__", [])))
    as_typed(command)
    for own in getattr(command, "commands", {}).values():
        ready(own)
    return command


AS_IT_IS = "\b\n"
"""click leaves a paragraph behind it as it is: an example is there to be copied, so it stays on one line."""


def as_typed(command: click.Command) -> None:
    """A command's help and example with howlate's name as the reader types it."""
    command.help = as_called(command.help) if command.help else command.help
    if command.epilog and not command.epilog.startswith(AS_IT_IS):
        command.epilog = command.epilog.replace(f"Example: {OURS} ", f"{AS_IT_IS}Example: {called()} ", 1)
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.help:
            parameter.help = as_called(parameter.help)
