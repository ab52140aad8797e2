"""The reader's language. English is the source text; gettext translates it, and another language's catalogue
is read only if that language is chosen (docs/how-to/languages.md, docs/adr/0007-statements-and-gettext.md).

Only results are translated: messages by their ids (`translated`), and the texts around them: `_("{count} of
{most} cells").format(count=..., most=...)`.
"""

from __future__ import annotations

import contextlib
import functools
import gettext
import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

SOURCE = "en"
"""The language of the source text, which needs no catalogue."""
FOLDER = Path(__file__).parent.parent / "locale"

OURS = "howlate"
"""The name of the command in texts, between backticks: `howlate doctor`."""

_language = SOURCE
_spoken = gettext.NullTranslations()
_called = OURS


def languages() -> tuple[str, ...]:
    """The languages that `--lang` accepts: the source's and every catalogue's."""
    return (SOURCE, *sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))


def speak(language: str) -> None:
    """Choose the language from now on; one of `languages()`."""
    global _language, _spoken
    _language = language
    if language == SOURCE:
        _spoken = gettext.NullTranslations()
        return
    _spoken = catalogue(path_of(language))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without these letters shows question marks
            stream.reconfigure(errors="replace")


def path_of(language: str) -> Path:
    return FOLDER / language / "LC_MESSAGES" / "howlate.po"


class CatalogueError(Exception):
    """A catalogue that cannot be read."""

    def __init__(self, path: Path, reason: Exception) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason


@functools.cache
def catalogue(path: Path) -> gettext.GNUTranslations:
    """A .po file in the form that gettext reads. Texts that are not translated, or marked as fuzzy, stay
    English."""
    import polib  # type: ignore[import-untyped]

    try:
        compiled = polib.pofile(str(path), encoding="utf-8").to_binary()
    except (OSError, UnicodeDecodeError) as problem:
        raise CatalogueError(path, problem) from None
    translations = gettext.GNUTranslations(io.BytesIO(compiled))
    translations.add_fallback(_Untranslated())
    return translations


class _Untranslated(gettext.NullTranslations):
    """The fallback for what a catalogue does not have: a text stays English, a message has no template."""

    def pgettext(self, context: str, message: str) -> str:
        return ""

    def npgettext(self, context: str, msgid1: str, msgid2: str, n: int) -> str:
        return ""


def spoken() -> str:
    return _language


def _(text: str) -> str:
    """The text in the reader's language; values are filled in afterwards, by name."""
    return as_called(_spoken.gettext(text)) if text else ""


def ngettext(one: str, many: str, count: int) -> str:
    return as_called(_spoken.ngettext(one, many, count))


def N_(text: str) -> str:  # noqa: N802 - gettext's own name for it
    """Marks a text that is translated later, where it is used."""
    return text


def sentences(*texts: str) -> str:
    """Whole sentences one after the other, without empty ones; Japanese puts no space between them."""
    return " ".join(filter(None, texts)).replace("。 ", "。")


def translated(message_id: str, text: str, many: str, count: int) -> str:
    """The template of a message in the reader's language, for a count; "" if there is none. The message's id is the
    context of its translation."""
    if many:
        return _spoken.npgettext(message_id, text, many, count)
    return _spoken.pgettext(message_id, text)


def called() -> str:
    """What the reader types for howlate: `./howlate` in a checkout."""
    return _called


def as_called(text: str) -> str:
    """The text with commands as they can be typed: `howlate doctor` becomes `./howlate doctor` if the user
    called `./howlate`. Every text for the reader passes through here; stored texts keep the one name."""
    if _called == OURS:
        return text
    own = re.sub(rf"`{OURS}(?=[ `])", lambda _match: f"`{_called}", text)
    return own.replace(f"`{OURS}-probe ", f"`{_called} probe ")


@contextlib.contextmanager
def english(called: str = OURS) -> Iterator[None]:
    """English, for what is stored or read by programs; with `called`, for a reader of what is not translated."""
    global _language, _spoken, _called
    before = _language, _spoken, _called
    _language, _spoken, _called = SOURCE, gettext.NullTranslations(), called
    try:
        yield
    finally:
        _language, _spoken, _called = before


def of_locale(environment: Mapping[str, str]) -> str:
    """The language that LANGUAGE, LC_ALL, LC_MESSAGES and LANG ask for, as gettext reads them; English if
    there is no such catalogue."""
    locale = next(
        (value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environment.get(name))), "C"
    )
    if _bare(locale) in ("c", "posix"):
        return SOURCE
    known = languages()
    wanted = (*environment.get("LANGUAGE", "").split(":"), locale)
    return next((bare for name in wanted if (bare := _bare(name)) in known), SOURCE)


def of_arguments(arguments: Sequence[str]) -> str | None:
    """The value of `--lang`, wherever it is: it is needed before the commands are loaded, because their help
    is text as well. The option itself checks the value."""
    asked, command = None, ""
    for before, argument in zip(("", *arguments), arguments, strict=False):
        if before == "--lang":
            asked = argument
        elif argument.startswith("--lang="):
            asked = argument.removeprefix("--lang=")
        elif not argument.startswith("-"):
            command = command or argument
        if argument == "--" or command == "probe":  # the rest belongs to the probe
            break
    return asked


def choose(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Choose the requested language, else the locale's; $HOWLATE_COMMAND is the name by which the launcher
    was called."""
    global _called
    _called = environment.get("HOWLATE_COMMAND") or OURS
    asked = of_arguments(arguments)
    speak(asked if asked is not None and asked in languages() else of_locale(environment))


def _bare(locale: str) -> str:
    """ "ja" of "ja_JP.UTF-8"."""
    for mark in ".@_":
        locale = locale.partition(mark)[0]
    return locale.lower()
