"""Every message of howlate, in every language: its values reproduce its sentence."""

import json
import re
import string
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from babel.messages.pofile import read_po
from hypothesis import given, settings
from hypothesis import strategies as st

from howlate.words import language
from howlate.words.quantities import MOST_LISTED, NARROW_SPACE, QUANTITIES, SEPARATORS
from howlate.words.rooms import messages_of_results
from howlate.words.say import AND_MORE, english, from_json, remedy, say, statement_of, to_json
from howlate.words.statement import MESSAGES, Message, Statement
from messages import every_message, import_all, in_place, said_in
from processes import completed

NAMES = st.text("abcdefghijklmnopqrstuvwxyz{}%`:0123456789", min_size=1, max_size=12)
NUMBERS = st.integers(0, 10**12) | st.floats(0, 1e12, allow_nan=False)
LISTS = st.lists(NAMES, min_size=1, max_size=9).map(tuple)
PHRASES = st.builds(AND_MORE, shown=NAMES, count=st.integers(0, 10**6))
DRAWN: dict[str, st.SearchStrategy[Any]] = {
    "": NAMES | st.integers(-(10**6), 10**6) | PHRASES,
    "percent": st.floats(0, 1),
    "level": st.floats(0, 1),
    "probability": st.floats(0, 1),
    "count": st.integers(0, 10**9),
    "given": st.integers(0, 10**12),
    **dict.fromkeys(SEPARATORS, LISTS),
}
"""The values that a field of this quantity may have; NUMBERS of a quantity that is not named."""


import_all()
EVERY = sorted(MESSAGES)


@pytest.fixture(autouse=True)
def _english_afterwards() -> Iterator[None]:
    yield
    language.speak(language.SOURCE)


def parts_of(template: str) -> dict[str, str]:
    """The fields of a template, with their quantities."""
    return {name: spec or "" for _, name, spec, _ in string.Formatter().parse(template) if name}


def statements_of(message: Message) -> st.SearchStrategy[Statement]:
    """Statements with drawn values, of the kinds that the template asks for."""
    quantities = parts_of(message.text) | parts_of(message.many) | parts_of(message.remedy)
    drawn = {name: DRAWN.get(spec, NUMBERS) for name, spec in quantities.items()}
    if message.by:
        drawn[message.by] = st.integers(0, 10**6)
    return st.fixed_dictionaries(drawn).map(lambda values: message(**values))


def written(value: Any, quantity: str) -> list[str]:
    """What a sentence has to hold of a value, whatever its language."""
    if isinstance(value, Statement):
        return [str(part) for part in value.values.values()]
    if isinstance(value, tuple) and quantity == "all":
        return list(value)
    if isinstance(value, tuple):
        return [*value[:MOST_LISTED], *([str(len(value) - MOST_LISTED)] if len(value) > MOST_LISTED else [])]
    return [QUANTITIES[quantity](value) if quantity else str(value)]


def template_of(message: Message, statement: Statement) -> str:
    """The template that a statement has in the language that is spoken."""
    count = statement.values[message.by] if message.by else 1
    return language.translated(message.id, message.text, message.many, count) or (
        message.many if message.many and count != 1 else message.text
    )


@pytest.mark.parametrize("topic", sorted({message_id.partition(".")[0] for message_id in EVERY}))
@given(data=st.data())
@settings(max_examples=settings().max_examples // 10)
def test_the_values_of_a_statement_reproduce_its_sentence(topic: str, data: st.DataObject) -> None:
    """Of every message; those of a topic in one test, because each test of properties costs more than a message."""
    for message_id in EVERY:
        if message_id.partition(".")[0] == topic:
            reproduces(MESSAGES[message_id], data.draw(statements_of(MESSAGES[message_id]), label=message_id))


def reproduces(message: Message, statement: Statement) -> None:
    language.speak(language.SOURCE)
    stored = json.loads(json.dumps(to_json(statement)))
    assert from_json(stored) == statement and stored["text"] == english(statement)
    assert bool(remedy(statement)) == bool(message.remedy)
    for name in language.languages():
        language.speak(name)
        sentence = say(statement)
        for field, quantity in parts_of(template_of(message, statement)).items():
            plain = sentence.replace(
                NARROW_SPACE, ","
            )  # as thousands are separated where a comma is the decimal one
            assert all(
                text in sentence or text in plain for text in written(statement.values[field], quantity)
            )
        assert say(from_json(stored)) == sentence
        assert to_json(statement) == stored


@pytest.mark.parametrize("room", sorted({message.module.split(".")[1] for message, _ in in_place()}))
@given(data=st.data())
@settings(max_examples=settings().max_examples // 10)
def test_a_sentence_in_its_place_has_its_values_and_remedy(room: str, data: st.DataObject) -> None:
    """Of every one in the sources; read again it is the same, whatever its values hold."""
    for message, given_values in in_place():
        if message.module.split(".")[1] != room:
            continue
        assert given_values == message.fields, message.id
        values = data.draw(statements_of(message), label=message.id).values
        statement = statement_of(message.text, remedy=message.remedy, **values)
        for field, quantity in parts_of(message.text).items():
            assert all(text in say(statement) for text in written(statement.values[field], quantity))
        assert from_json(json.loads(json.dumps(to_json(statement)))) == statement
        assert bool(remedy(statement)) == bool(message.remedy)


def test_a_sentence_whose_values_do_not_fit_is_seen() -> None:
    source = 'raise UsageError("{a} is no {b}", remedy="{c}", a=1, d=2)'
    [(message, given_values)] = said_in(source, "x")
    assert message.fields - given_values == {"b", "c"} and given_values - message.fields == {"d"}


@pytest.mark.parametrize("name", language.languages())
@given(text=st.text() | st.sampled_from([message.text for message in MESSAGES.values()]))
def test_a_sentence_of_the_probe_is_never_changed_by_a_language(name: str, text: str) -> None:
    language.speak(name)
    assert say(Statement.verbatim(text)) == say(from_json(text)) == text
    assert say(Statement.verbatim(text, "probe.no-such-timer")) == text


@pytest.mark.parametrize("name", [name for name in language.languages() if name != language.SOURCE])
def test_only_the_rules_of_results_are_translated(name: str) -> None:
    of_results = {message.id for message in messages_of_results()}
    with language.path_of(name).open("rb") as file:
        translated = {message.context for message in read_po(file, locale=name) if message.context}
    assert translated <= of_results


def test_a_sentence_has_one_language() -> None:
    """A phrase of a sentence that is not translated stays English, too."""
    message = Message("test.untranslated", "There are {names}.")
    MESSAGES[message.id] = message
    try:
        statement = message(names=tuple("abcdefgh"))
        for name in language.languages():
            language.speak(name)
            assert say(statement) == "There are a, b, c, d, e, f and 2 more."
    finally:
        del MESSAGES[message.id]


@pytest.mark.parametrize("name", language.languages())
def test_what_is_stored_is_english_whatever_is_spoken(name: str) -> None:
    language.speak(name)
    assert to_json(AND_MORE(shown="a, b", count=3))["text"] == "a, b and 3 more"


def test_thousands_have_no_comma_where_it_is_the_decimal_one() -> None:
    seen = MESSAGES["cell.dropped"](count=9_051)
    assert "9,051" in english(seen) and "9,051" in say(seen)
    language.speak("de")
    assert "9\u202f051" in say(seen)


def test_a_stored_statement_is_said_in_the_readers_language_before_anything_else_is_imported() -> None:
    stored = {"rule": "cell.no-sample", "values": {}, "text": "there is no sample outside warm-up."}
    code = (
        "from howlate.words.language import speak; from howlate.words.say import from_json, say; "
        f"speak('de'); print(say(from_json({stored})))"
    )
    done = completed([sys.executable, "-c", code], check=True)
    assert done.stdout == "außerhalb des Aufwärmens gibt es keinen Messwert.\n"


def test_a_stored_statement_whose_rule_is_gone_keeps_its_text() -> None:
    language.speak("de")
    assert (
        say(from_json({"rule": "cell.of-another-howlate", "values": {"a": 1}, "text": "It was late."}))
        == "It was late."
    )


PLURAL = re.compile(r"\{\w+(?::count|:number)?\} (?:\{things\}|[a-z-]{4,}s) (?:were|are|have)\b")
"""A count in a sentence that only fits several."""


def test_one_is_told_in_the_singular() -> None:
    """A message that counts has a form for one, chosen by the count."""
    wrong = {message.id: message.text for message in every_message() if PLURAL.search(message.text)}
    assert wrong == {}
    not_yet = MESSAGES["report.not-measured-yet"]
    assert english(not_yet(count=1)) == not_yet.text.format(count=1)
    assert english(not_yet(count=2)) == not_yet.many.format(count=2)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.95, "95 %"),
        (0.9999, "99.99 %"),
        (0.99999, "99.999 %"),
        (0.9999999999999999, "99.99999999999999 %"),
        (1.0, "100 %"),
    ],
)
def test_a_share_below_one_never_reads_as_all(share: float, text: str) -> None:
    assert QUANTITIES["level"](share) == text
