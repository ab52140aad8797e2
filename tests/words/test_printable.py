"""Names that others chose, on a terminal and a page."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from howlate.document.document import Document, Section, Texts
from howlate.document.document_terminal import print_document
from howlate.document.text import escaped
from howlate.words.printable import printable, without_controls


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
    assert without_controls(text) == escaped(text) == "one\ntwo\\x1b]0;title\\x07"
    out = io.StringIO()
    items = (
        Texts("paragraph", (text,)),
        Texts("listed", (text,)),
        Texts("notes", (text,)),
        Texts("", (text,)),
    )
    print_document(Console(file=out, width=80), Document((Section("s", items),)))
    assert out.getvalue().count("two\\x1b]0;title\\x07") == len(items) and "\x1b" not in out.getvalue()


@given(st.text())
def test_what_is_printable_stays(name: str) -> None:
    assert printable(printable(name)) == printable(name)
