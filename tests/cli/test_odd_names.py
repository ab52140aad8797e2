"""Names of folders and files that others chose: whatever a command says of them is one line that no terminal obeys,
and a command that is named to the reader leads to the same file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from cli.commands import Run
from howlate.words.printable import shell_word
from store.runs import a_folder
from store.streams import stream
from tree_of_commands import leaves

ODD = {
    "line": "a\nhowlate: PASS",
    "title": "\x1b]0;x\x07\x1b[2J\x9b",
    "turned": "\u202egnp\u2066 \u2028",
    "quoted": "it's $(id) `id`\n\\n",
    "option": "-rf\t",
    "bytes": os.fsdecode(b"\xff\xfe\n"),
}
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\u2066-\u2069]")
COMMANDS = leaves()
FOLLOWED = re.compile(r"howlate ((?:show|doctor|lab) .*?)(?:`[^`']*$|\.?$)", re.MULTILINE)
OTHERS = {"completion", "lab clean", "plan", "probe", "reference", "reference list", "settings", "studies"}
"""They take no name of a file that could be odd: an own list, so that a new command is looked at."""
MEASURING = ("advise", "calibrate", "why")
"""They measure before they look at a place for the page."""
WORDS = {
    "query": ["select 1"],
    "export": ["--format", "csv"],
    "lab bisect": ["--kernels", "6.1,6.12"],
    "reference show": [],
}


def is_quick(command: str, kind: str) -> bool:
    """Whether nothing is measured."""
    return command not in MEASURING and (command not in ("check", "run") or kind in ("file", "run"))


def is_told(text: str) -> bool:
    """Whether each line is one of howlate's."""
    return all(line.startswith(("howlate: ", "! ", "note: ", "  ")) for line in text.splitlines())


def is_path(param: click.Parameter) -> bool:
    return (
        param.name in ("study", "studies")
        or isinstance(param.type, click.Path)
        or param.name in ("runs", "names", "own")
    )


def calls(command: str, place: str) -> list[list[str]]:
    """The command with the name in the place of each argument and each option that may be a file."""
    words = command.split()
    arguments = [p for p in COMMANDS[command].params if isinstance(p, click.Argument) and is_path(p)]
    found = (
        [[*words, *WORDS.get(command, []), *(["--"] if place.startswith("-") else []), place]]
        if arguments
        else []
    )
    for option in COMMANDS[command].params:
        if isinstance(option, click.Option) and isinstance(option.type, click.Path):
            first = (
                ["./run"]
                if any(p.name in ("run", "runs", "files") for p in arguments)
                else ["check"]
                if arguments
                else []
            )
            found.append([*words, *WORDS.get(command, []), *first, option.opts[0], place])
    return found


def test_every_command_is_called() -> None:
    assert {name for name in COMMANDS if not calls(name, "x")} == OTHERS


@pytest.mark.parametrize("kind", ["none", "empty", "file", "run"])
@pytest.mark.parametrize("name", ODD.values(), ids=list(ODD))
def test_what_is_said_of_an_odd_name_is_one_line(howlate: Run, tmp_path: Path, name: str, kind: str) -> None:
    made = a_folder(Path("run"), {"none": stream([5, 2] * 50)}).path
    make: dict[str, Callable[[Path], object]] = {
        "none": str,
        "empty": Path.mkdir,
        "file": Path.touch,
        "run": lambda to: shutil.copytree(made, to),
    }
    for command in COMMANDS:
        for words in calls(command, name) if is_quick(command, kind) else ():
            place = Path(name)
            make[kind](place)
            done = howlate(*words)
            assert not OBEYED.search(done.out.replace("\t", "") + done.err), (words, done)
            assert "howlate: PASS" not in [line.strip() for line in (done.out + done.err).splitlines()], (
                words,
                done,
            )
            assert "a fault in howlate" not in done.err, (words, done)
            assert done.code not in (2, 3, 4) or not done.err or is_told(done.err), (words, done)
            if place.is_dir():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
@pytest.mark.parametrize("name", [*ODD.values(), "plain", "a b", "\\n", "é"])
def test_a_word_of_the_shell_is_one_line_and_the_same_bytes(name: str, locale: str) -> None:
    word = shell_word(name)
    read = subprocess.run(
        ["bash", "-c", f"printf %s x{word}"],
        env={**os.environ, "LC_ALL": locale},
        capture_output=True,
        check=True,
    )
    assert (read.stdout, "\n" in word) == (b"x" + os.fsencode(name), False)


@pytest.mark.parametrize("name", [odd for kind, odd in ODD.items() if kind != "bytes"])
def test_commands_that_are_named_lead_to_the_file(howlate: Run, tmp_path: Path, name: str) -> None:
    """But for names that no database opens, into which nothing is measured."""
    a_folder(Path(name), {"none": stream([5, 2] * 50)})
    place = f"./{name}" if name.startswith("-") else name
    named = []
    for words in (
        ["show", place, "--kernels"],
        ["import", place],
        ["lab", "why", place, "x"],
        ["why", place, "x"],
    ):
        done = howlate(*words)
        named += [ended[1] for ended in FOLLOWED.finditer(done.err)]
    assert len(named) >= 2
    for line in named:
        read = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True)
        assert os.fsencode(place) in read.stdout.split(b"\0"), line
