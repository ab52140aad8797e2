"""The reader's language. English is the source text; a catalogue is read only where another language is spoken.

Two ways lead into a catalogue (docs/how-to/languages.md, docs/adr/):

- What is printed is written `_("{count} of {most} cells").format(count=…, most=…)` where it is printed.
- What is made elsewhere (errors, findings, warnings) is data: English, also in files and JSON. `retold` says such a
  sentence in the reader's language, whether it was made a moment ago or stands in an old run.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from howlate.catalogue import Catalogue

SOURCE = "en"
"""The language of the source text, which needs no catalogue."""
FOLDER = Path(__file__).parent / "locale"

OURS = "howlate"
"""How texts name the command, between backticks: `howlate doctor`."""

_spoken: Catalogue | None = None
_called = OURS


def languages() -> tuple[str, ...]:
    """What `--lang` takes: the source's and every catalogue's."""
    return (SOURCE, *sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))


def speak(language: str) -> None:
    """From now on; one of `languages()`."""
    global _spoken
    if language == SOURCE:
        _spoken = None
        return
    from howlate.catalogue import Catalogue, teach_click

    _spoken = Catalogue.read(language)
    teach_click(_, ngettext)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without the letters gets question marks
            stream.reconfigure(errors="replace")


def spoken() -> str:
    """The language that is spoken now."""
    return SOURCE if _spoken is None else _spoken.language


def _(text: str) -> str:
    """In the reader's language; values are filled in afterwards, by name."""
    return as_called(text if _spoken is None else _spoken.message(text))


def ngettext(one: str, many: str, count: int) -> str:
    """The form for so many."""
    return as_called((one if count == 1 else many) if _spoken is None else _spoken.plural(one, many, count))


def N_(text: str) -> str:  # noqa: N802 - gettext's own name for it
    """Marks a text that is translated later, where it is used."""
    return text


def retold(text: str) -> str:
    """A whole English sentence that was made elsewhere, values and all; as it stands where no catalogue knows it."""
    return as_called(text if _spoken is None else _spoken.retold(text))


def called() -> str:
    """What the reader types for howlate: `./howlate` in a checkout."""
    return _called


def as_called(text: str) -> str:
    """A text whose commands can be typed as they stand: `howlate doctor` becomes `./howlate doctor` for whoever
    called `./howlate`. Every text on its way to the reader passes here; what is stored keeps the one name."""
    if _called == OURS:
        return text
    own = re.sub(rf"`{OURS}(?=[ `])", lambda _match: f"`{_called}", text)
    return own.replace(f"`{OURS}-probe ", f"`{_called} probe ")


@contextlib.contextmanager
def english() -> Iterator[None]:
    """For what is stored or read by programs."""
    global _spoken, _called
    before, _spoken, _called = (_spoken, _called), None, OURS
    try:
        yield
    finally:
        _spoken, _called = before


def of_locale(environment: Mapping[str, str]) -> str:
    """What LANGUAGE, LC_ALL, LC_MESSAGES and LANG ask for, as gettext reads them; English where there is no such
    catalogue."""
    locale = next((its for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (its := environment.get(name))), "C")
    if _bare(locale) in ("c", "posix"):
        return SOURCE
    known = languages()
    wanted = (*environment.get("LANGUAGE", "").split(":"), locale)
    return next((bare for name in wanted if (bare := _bare(name)) in known), SOURCE)


def of_arguments(arguments: Sequence[str]) -> str | None:
    """What `--lang` says, wherever it stands: needed before the commands are, whose help is text as well. Whether it
    makes sense is for the option itself to say."""
    asked, command = None, ""
    for before, argument in zip(("", *arguments), arguments, strict=False):
        if before == "--lang":
            asked = argument
        elif argument.startswith("--lang="):
            asked = argument.removeprefix("--lang=")
        elif not argument.startswith("-"):
            command = command or argument
        if argument == "--" or command == "probe":  # what follows is the probe's
            break
    return asked


def choose(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Speaks what is asked for, else the locale's; $HOWLATE_COMMAND is what the launcher was called by."""
    global _called
    _called = environment.get("HOWLATE_COMMAND") or OURS
    asked = of_arguments(arguments)
    speak(asked if asked is not None and asked in languages() else of_locale(environment))


def _bare(locale: str) -> str:
    """ "ja" of "ja_JP.UTF-8"."""
    for mark in ".@_":
        locale = locale.partition(mark)[0]
    return locale.lower()
