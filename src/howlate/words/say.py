"""Converts statements to text, and to JSON and back: the border at which a sentence is made."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from msgspec.structs import replace

from howlate.words import language
from howlate.words.language import SOURCE, as_called, ngettext, sentences, spoken
from howlate.words.quantities import MOST_LISTED, QUANTITIES, SEPARATORS, grouped, sentence_case
from howlate.words.rooms import modules_of_results
from howlate.words.statement import (
    MESSAGES,
    TEXTS,
    VERBATIM,
    Capitalised,
    Caption,
    Listed,
    Message,
    Statement,
    message,
    plain,
)

AND_MORE = message("list.and-more", "{shown} and {count} more")
SPAN = re.compile(r"(\bfrom )?(\{(?!before)[^{}]*\})(?: to | bis | から )(\{[^{}]*\})(?: ?まで)?(?:の間)?")
"""From one end to the other; from what was before to what is after is none."""


def say(statement: Statement) -> str:
    """A statement in the reader's language, with commands as the reader types them."""
    return as_called(_text(statement, _spoken))


Text = Union[Statement, Caption, Listed, Capitalised, str, "tuple[Text, ...]"]
"""What can be said: a statement, a caption, a finished text, or several of these one after the other."""


def text_of(text: Text) -> str:
    """A `Text` in the reader's language."""
    if isinstance(text, tuple):
        return sentences(*map(text_of, text))
    if isinstance(text, Caption):
        values = {
            name: value if isinstance(value, (int, float)) else text_of(value)
            for name, value in text.values.items()
        }
        template = language._(text.template)
        return without_spans(template, lambda each: each.format(**values)).format(**values)
    if isinstance(text, Listed):
        return text.separator.join(filter(None, map(text_of, text.texts)))
    if isinstance(text, Capitalised):
        return sentence_case(text_of(text.text))
    return say(text) if isinstance(text, Statement) else as_called(text)


def without_spans(template: str, write: Callable[[str], str]) -> str:
    """The template with one value in the place of a span whose ends are written alike."""

    def of_span(span: re.Match[str]) -> str:
        start, first, last = span.groups()
        is_one = write(first) == write(last)
        return f"{'of ' if start else ''}{first}" if is_one else span[0]

    return SPAN.sub(of_span, template)


def count_text(count: float) -> str:
    """A count in the reader's language, in which a comma may be the decimal one."""
    return f"{count:,}" if spoken() == SOURCE else grouped(count, " ")


def text_to_json(text: Text) -> list[dict[str, Any]]:
    """The statements of a text as JSON; for a finished text only the text."""
    if isinstance(text, tuple):
        return [each for inner in text for each in text_to_json(inner)]
    return [to_json(text if isinstance(text, Statement) else Statement.verbatim(text_of(text)))]


def english(statement: Statement) -> str:
    """A statement in English, for files and programs."""
    return _text(statement, _source)


def english_text(text: Text) -> str:
    """A `Text` in English."""
    with language.english():
        return text_of(text)


def remedy(statement: Statement) -> str:
    """What to do about it, in English: the message's own remedy, else that of a statement inside it; "" if there
    is nothing to do."""
    made_by = MESSAGES.get(statement.rule)
    if made_by and made_by.remedy and _is_known(statement):
        return _Filler(_source).format(made_by.remedy, **statement.values)
    inner = (value for value in statement.values.values() if isinstance(value, Statement))
    return statement.remedy or next(filter(None, map(remedy, inner)), "")


def filled(template: str, values: Mapping[str, Any]) -> str:
    """A template of an English sentence with these values."""
    return _Filler(_source).format(template, **values)


def statement_of(text: Statement | str, /, *, remedy: str = "", **values: Any) -> Statement:
    """A sentence that is written where it is said, in English: `text` and `remedy` are templates like a message's.
    What is stored with a result, counted in plural or translated has a message; its statement is given back."""
    if isinstance(text, Statement):
        return text
    plainly = {name: plain(value, is_text=name in TEXTS) for name, value in values.items()}
    return Statement(VERBATIM, plainly, filled(text, plainly), filled(remedy, plainly))


def advice(message: str, remedy: str) -> str:
    """A message and its remedy as sentences, with commands as the reader types them."""
    ends = ".?!。？"
    sentences = (
        text if text[-1] in ends else f"{text}." for text in (message, sentence_case(remedy)) if text
    )
    return as_called(" ".join(sentences))


def to_json(statement: Statement) -> dict[str, Any]:
    """Message, values and English text; a remedy that no message knows."""
    return {
        "rule": statement.rule,
        "values": {name: _stored(value) for name, value in statement.values.items()},
        "text": english(statement),
        **({"remedy": statement.remedy} if statement.remedy else {}),
    }


def from_json(value: object) -> Statement:
    """The inverse; a bare text, as in older runs, becomes a verbatim statement."""
    if not isinstance(value, Mapping):
        return Statement.verbatim(str(value))
    stored = value.get("values")
    values = {name: _read(each) for name, each in stored.items()} if isinstance(stored, Mapping) else {}
    statement, text = Statement(str(value.get("rule", "")), values), str(value.get("text", ""))
    if not _is_known(statement):
        return replace(statement, text=text, remedy=str(value.get("remedy", "")))
    try:
        english(statement)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):  # values of another kind
        return Statement.verbatim(text, statement.rule)
    return statement


def _is_known(statement: Statement) -> bool:
    """Whether this howlate has the message, with the same fields. In another language the stored text is not
    enough, so the rooms with such messages are imported."""
    if statement.rule and statement.rule not in MESSAGES and spoken() != SOURCE:
        modules_of_results()
    made_by = MESSAGES.get(statement.rule)
    return made_by is not None and statement.values.keys() == made_by.fields


CAPTIONS = (Caption, Listed, Capitalised)

Templates = Callable[[Message, int], str]
"""The template of a message for a count; "" if there is none."""


def _spoken(message: Message, count: int) -> str:
    return language.translated(message.id, message.text, message.many, count)


def _source(message: Message, count: int) -> str:
    return message.many if message.many and count != 1 else message.text


def _text(statement: Statement, templates: Templates) -> str:
    if not _is_known(statement):
        return statement.text
    made_by = MESSAGES[statement.rule]
    count = statement.values[made_by.by] if made_by.by else 1
    template = templates(made_by, count)
    if not template:  # an untranslated statement is English, including everything inside it
        templates, template = _source, _source(made_by, count)
    return _Filler(templates).format(template, **statement.values)


class _Filler(string.Formatter):
    """Writes each value in the format that its field names, and phrases in the same language."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates

    def vformat(self, format_string: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        plain = super().vformat
        template = without_spans(format_string, lambda each: plain(each, args, kwargs))
        return plain(template, args, kwargs)

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Statement):
            return _text(value, self._templates)
        if isinstance(value, CAPTIONS):
            return _caption_text(value, self._templates)
        if isinstance(value, tuple):
            return self._listed([self.format_field(each, "") for each in value], format_spec or "list")
        if format_spec == "count" and self._templates is not _source and spoken() != SOURCE:
            return grouped(value)  # a comma would be read as the decimal one
        return QUANTITIES[format_spec](value) if format_spec else str(value)

    def _listed(self, texts: list[str], separator: str) -> str:
        most = len(texts) if separator == "all" else MOST_LISTED
        shown = SEPARATORS[separator].join(texts[:most])
        if len(texts) <= most:
            return shown
        return _text(AND_MORE(shown=shown, count=len(texts) - most), self._templates)


def _caption_text(caption: Caption | Listed | Capitalised, templates: Templates) -> str:
    return text_of(caption) if templates is not _source else english_text(caption)


def _stored(value: Any) -> Any:
    if isinstance(value, Statement):
        return to_json(value)
    if isinstance(value, CAPTIONS):
        return _caption_text(value, _source)
    return [_stored(each) for each in value] if isinstance(value, tuple) else value


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return from_json(value)
    return tuple(_read(each) for each in value) if isinstance(value, list) else value


def more_rows_text(count: int) -> str:
    """How many rows a table leaves out."""
    return ngettext("{count} more row", "{count} more rows", count).format(count=count)
