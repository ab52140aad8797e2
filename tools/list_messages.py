"""Every message, help and title of howlate in one list, to be read from end to end.

./dev messages    one a line: where it stands, what it is, and its text
"""

import sys
from collections.abc import Iterator

import click
from babel.messages.extract import extract_from_file

from howlate.system.paths import ROOT
from messages import SOURCES, every_message
from tree_of_commands import leaves

KEYWORDS = {"Caption": (1,), "_": (1,), "N_": (1,), "ngettext": (1, 2)}


def messages() -> Iterator[tuple[str, str, str]]:
    """Where, what, text."""
    for message in every_message():
        for what, text in (("message", message.text), ("several", message.many), ("remedy", message.remedy)):
            if text:
                yield message.id, what, text
    for words, command in leaves().items():
        yield f"howlate {words}", "help", command.help or ""
        for param in command.params:
            if isinstance(param, click.Option):
                yield f"howlate {words}", param.opts[-1], param.help or ""
    for path in sorted(SOURCES.rglob("*.py")):
        for line, found, _, _ in extract_from_file("python", str(path), keywords=KEYWORDS):
            for form in found if isinstance(found, tuple) else (found,):
                yield f"{path.relative_to(ROOT)}:{line}", "title", form


def main() -> int:
    for where, what, text in messages():
        print(f"{where}\t{what}\t{' '.join(text.split())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
