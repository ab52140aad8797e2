"""A statement is a rule and its values; its text is made from the two, and stored beside them."""

from collections.abc import Iterator

import pytest

from howlate.words import statement as statements
from howlate.words.say import english, from_json, remedy, to_json
from howlate.words.statement import Message, Statement, message


@pytest.fixture
def taken() -> Iterator[Message]:
    made = message("test.taken", "{who} took {taken_ns:time} {where}", remedy="end {who}")
    yield made
    del statements.MESSAGES[made.id]


@pytest.fixture
def places() -> Iterator[Message]:
    made = message("test.places", "at {places} place", "at {places} places", by="places")
    yield made
    del statements.MESSAGES[made.id]


def test_the_text_is_made_of_template_and_values(taken: Message, places: Message) -> None:
    statement = taken(who=("gcc", "ld"), taken_ns=12_000_000, where=places(places=3))
    assert english(statement) == "gcc, ld took 12.0 ms at 3 places"
    assert remedy(statement) == "end gcc, ld"
    assert english(places(places=1)) == "at 1 place"


def test_a_statement_is_the_same_after_json(taken: Message, places: Message) -> None:
    statement = taken(who=("gcc", "ld"), taken_ns=12_000_000, where=places(places=3))
    assert from_json(to_json(statement)) == statement


def test_values_are_exactly_the_fields(taken: Message) -> None:
    with pytest.raises(TypeError, match=r"test\.taken"):
        taken(who="gcc")


def test_a_rule_is_declared_once(taken: Message) -> None:
    with pytest.raises(ValueError, match="twice"):
        message("test.taken", "another sentence")


def test_a_rule_that_is_not_known_keeps_its_text() -> None:
    stored = {"rule": "cell.of-another-howlate", "values": {"a": 1}, "text": "It was late."}
    assert english(from_json(stored)) == "It was late."
    assert from_json("It was late.") == Statement.verbatim("It was late.")


def test_values_of_another_kind_keep_their_text(taken: Message) -> None:
    stored = {
        "rule": "test.taken",
        "values": {"who": "gcc", "taken_ns": "long", "where": ""},
        "text": "It was late.",
    }
    assert english(from_json(stored)) == "It was late."


def test_a_console_below_a_sentence_keeps_its_lines() -> None:
    from howlate.lab.guests.guest import WITH_CONSOLE

    assert english(WITH_CONSOLE(problem="the guest ended", console="one\ntwo")) == "the guest ended\none\ntwo"
