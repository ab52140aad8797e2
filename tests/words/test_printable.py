"""Names that others chose, on a terminal and a page."""

from __future__ import annotations

import pytest

from howlate.words.printable import printable, without_controls
from howlate.words.say import say, text_of
from howlate.words.statement import Statement


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("kworker/1:2-events", "kworker/1:2-events"),
        ("Web Content", "Web Content"),
        ("スレッド", "スレッド"),
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202eb", r"a\u202eb"),
        ("a\u2028b", r"a\u2028b"),
        ("a\u202fb", "a\u202fb"),
        ("\x00", r"\x00"),
    ],
)
def test_what_is_no_letter_or_sign_is_shown_as_its_number(name: str, shown: str) -> None:
    assert printable(name) == shown


def test_a_text_keeps_its_lines_and_loses_what_a_terminal_obeys() -> None:
    text = "one\ntwo\x1b]0;title\x07"
    for shown in (without_controls(text), text_of(text), say(Statement.verbatim(text))):
        assert shown == "one\ntwo\\x1b]0;title\\x07"
