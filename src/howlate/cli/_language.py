"""`--lang`, and the help of commands in the reader's language."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import click

from howlate.language import N_, OURS, _, called, languages, speak

EXAMPLE = N_("Example:")

CLICKS_OWN = (
    N_("Usage:"),
    N_("Options"),
    N_("Commands"),
    N_("Positional arguments"),
    N_("Show this message and exit."),
    N_("Show the version and exit."),
    N_("%(prog)s, version %(version)s"),
    N_("default: {default}"),
    N_("required"),
    N_("Missing argument"),
    N_("Missing option"),
    N_("Missing command."),
    N_("Missing {param_type}"),
    N_("Invalid value: {message}"),
    N_("Invalid value for {param_hint}: {message}"),
    N_("No such option {name!r}."),
    N_("Option {name!r} does not take a value."),
    N_("{value!r} is not a valid {number_type}."),
    N_("{value} is not in the range {range}."),
    N_("{name} {filename!r} does not exist."),
    N_("{name} {filename!r} is a file."),
    N_("{name} {filename!r} is a directory."),
    N_("{name} {filename!r} is not readable."),
    N_("file"),
    N_("directory"),
    N_("path"),
)
"""What click says of its own accord, here for the catalogues: it asks them through gettext."""


def _chosen(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is None:
        return
    known = languages()
    if value not in known:
        from howlate.errors import UsageError

        raise UsageError(f'the language "{value}" is not spoken here', f"known are: {', '.join(known)}")
    speak(value)


def lang_option(hidden: bool = False) -> Callable[[Any], Any]:
    """On every command, though only the first one's help tells of it."""
    return click.option(
        "--lang",
        metavar="|".join(languages()),
        callback=_chosen,
        expose_value=False,
        is_eager=True,
        hidden=hidden,
        help="The language of what is said (default: the locale's).",
    )


def speaking(command: click.Command) -> click.Command:
    """A command that was loaded, with the option, and its help in the language that is spoken."""
    foreign = command.context_settings.get("ignore_unknown_options")  # whose arguments are another program's
    if not foreign and all(parameter.name != "lang" for parameter in command.params):
        lang_option(hidden=True)(command)
        command.params.extend(reversed(command.__dict__.pop("__click_params__", [])))
    in_words(command)
    for own in getattr(command, "commands", {}).values():
        speaking(own)
    return command


def in_words(command: click.Command) -> None:
    """Help and options, as they stand in the catalogue, and the example as the reader calls howlate."""
    command.help = _(inspect.cleandoc(command.help)) if command.help else command.help
    example = f"{EXAMPLE} {OURS} "
    if command.epilog and command.epilog.startswith(example):
        command.epilog = f"{_(EXAMPLE)} {called()} {command.epilog.removeprefix(example)}"
    for parameter in command.params:
        if isinstance(parameter, click.Option) and parameter.help:
            parameter.help = _(parameter.help)
