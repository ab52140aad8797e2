"""A name as a word of bash: one line, and the same bytes in any locale."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from howlate.words.printable import shell_path, shell_word
from howlate.words.say import english, remedy
from howlate.words.statement import MESSAGES, Message

NAMES = [
    "plain",
    "a b",
    "é",
    "\\n",
    "a\nb",
    "it's $(id) `id`\n\\n",
    "\x1b]0;x\x07\x9b",
    "\u202egnp\u2028",
    os.fsdecode(b"\xff\xfe\n"),
]


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("name", NAMES)
def test_bash_reads_the_same_bytes(name: str, locale: str) -> None:
    word = shell_word(name)
    environment = {**os.environ, "LC_ALL": locale}
    done = subprocess.run(
        ["bash", "-c", f"printf %s x{word}"], env=environment, capture_output=True, check=True
    )
    assert (done.stdout, "\n" in word) == (b"x" + os.fsencode(name), False)


@pytest.mark.parametrize(
    ("path", "word"), [("-rf", "./-rf"), ("a", "a"), ("/-x", "/-x"), ("-\n", "$'./-\\x0a'")]
)
def test_no_path_is_an_option(path: str, word: str) -> None:
    assert shell_path(path) == word


@pytest.mark.parametrize("make", [str, Path])
@pytest.mark.parametrize("name", NAMES)
def test_a_remedy_names_the_file_itself(
    name: str, make: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a str or a Path, and after the statement has passed into another one."""
    message = Message("test.shell", "{path}", remedy="touch {path:shell}")
    monkeypatch.setitem(MESSAGES, message.id, message)
    again = message(path=message(path=make(name)).values["path"])
    assert "\n" not in english(again)
    assert remedy(again) == f"touch {shell_path(name)}"
