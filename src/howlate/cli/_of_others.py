"""Options by other names: what those of cyclictest and of `rtla timerlat` are here, with the line that does the same
(only looked at for an option that `check` and `top` do not have); and those that had another name in the version
before, which are taken for one more, with a hint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import click
from msgspec import Struct

from howlate.words.language import called
from howlate.words.printable import shell_line

COMMANDS = ("check", "top")
PROGRAMS = dict.fromkeys(("cyclictest", "rtla", "timerlat", "jitterdebugger", "latency"), "check")
PROGRAMS |= {"hist": "show --histogram", "histogram": "show --histogram", "hwlatdetect": "probe hardware-gap"}
PROGRAMS |= dict.fromkeys(("osnoise", "hwnoise"), "probe hardware-gap")
"""The programs themselves, where a command is expected."""
CYCLICTEST, RTLA = "cyclictest's", "rtla's"


class Word(Struct, frozen=True):
    """An option of another program."""

    program: str
    names: str
    meaning: str
    line: str
    """Options of the called command, or with "howlate" before it a command of its own."""
    example: str = ""
    """A value for the line where none was given."""
    numbers: range = range(10**12)
    """Those that it can mean."""


@cache
def words_of_others() -> tuple[Word, ...]:
    """Those of of_others.toml, which says what each means."""
    import tomllib  # read only when an option is unknown

    text = Path(__file__).with_name("of_others.toml").read_text(encoding="utf-8")
    return tuple(
        Word(
            f"{program}'s",
            names,
            meaning,
            line,
            *more[:1],
            *([range(more[1], more[2] + 1)] if more[1:] else []),
        )
        for program, words in tomllib.loads(text).items()
        for names, (meaning, line, *more) in words.items()
    )


def program(name: str) -> str:
    """The hint for somebody who names another program; "" if that is none."""
    return f"Write `{called()} {PROGRAMS[name]}`" if name in PROGRAMS else ""


def answer(command: str, options: Sequence[str], words: Sequence[str]) -> None:
    """UsageError for another program's options, all in one. `options`: those that the command has."""
    if command not in COMMANDS:
        return
    from howlate.errors import REMEDIED, UsageError

    answered = []
    for option, value in _given(options, words):
        meant = [
            word for word in words_of_others() if option in word.names.split() and _can_mean(word, value)
        ]
        if meant:
            answered.append((option, value, meant))
    if not answered:
        return
    meanings = (
        f"{option} is " + " or ".join(f"{word.program} {word.meaning}" for word in meant)
        for option, _, meant in answered
    )
    called_with = " ".join(filter(None, (command, shell_line(_kept(options, words)))))
    lines = dict.fromkeys(
        _call(called_with, [(word, value) for word, (_, value, _) in zip(choice, answered, strict=True)])
        for choice in _choices([meant for _, _, meant in answered])
    )
    raise UsageError(REMEDIED(problem="; ".join(meanings), remedy=f"write {' or '.join(lines)}"))


def _choices(meant: Sequence[Sequence[Word]]) -> Iterator[Sequence[Word]]:
    """A meaning for each option: of one program where one has all, else each option's own."""
    programs = [
        each for each in (CYCLICTEST, RTLA) if all(any(w.program == each for w in ws) for ws in meant)
    ]
    if len(meant) == 1:
        yield from ([word] for word in meant[0])
        return
    for each in programs or [""]:
        yield [next((word for word in words if word.program == each), words[0]) for words in meant]


def _call(command: str, asked: Sequence[tuple[Word, str]]) -> str:
    """The one line that has all their options, and the commands of their own after it."""
    lines = {_line(word, value): word for word, value in reversed(asked)}
    own = {line: word for line, word in reversed(lines.items()) if not line.startswith("howlate ")}
    calls = [" ".join(filter(None, (command, *_once(own))))] if own else []
    calls += [line.removeprefix("howlate ") for line in lines if line.startswith("howlate ")]
    return " and ".join(f"`{called()} {call}`" for call in calls)


def _once(own: Mapping[str, Word]) -> list[str]:
    """Each option once, and --set as often as there are settings: a list of CPUs decides before a number of threads,
    and a value that was given before one that stands for it."""
    found: dict[str, tuple[bool, bool, str]] = {}
    for line, word in own.items():
        for part in re.split(r" (?=--)", line):
            name = part.partition(" ")[0]
            key = part if name == "--set" else name
            found[key] = min(
                found.get(key, (True, True, part)), ("{cpus}" in word.line, "{" not in word.line, part)
            )
    return [part for _, _, part in found.values()]


def _given(options: Sequence[str], words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The options that the command lacks, and those that it has as a flag and others with a number: each with what
    may be its value."""
    for word, after in zip(words, (*words[1:], ""), strict=False):
        if word == "--":
            return
        option, attached = _split(word)
        if option and not _is_own(options, word, after):
            yield option, attached or ("" if after.startswith("-") else after)


def _kept(options: Sequence[str], words: Sequence[str]) -> list[str]:
    """The command's own options among them, each with its value."""
    kept: list[str] = []
    is_own = False
    for word, after in zip(words, (*words[1:], ""), strict=False):
        if _split(word)[0]:
            is_own = _is_own(options, word, after)
        kept += [word] if is_own else []
    return kept


def _split(word: str) -> tuple[str, str]:
    """An option, and the value that is attached to it; "" of what is none."""
    if not re.match("-+[A-Za-z]", word):
        return "", ""
    option, _, attached = word.partition("=") if word.startswith("--") else (word[:2], "", word[2:])
    return option, attached


def _is_own(options: Sequence[str], word: str, after: str) -> bool:
    """Whether the command has the option, and not as a flag that others have with a number."""
    option, attached = _split(word)
    is_flag = option in ("-h", "--histogram", "--json", "--brief")
    return option in options and not (is_flag and (attached or after.isdecimal()))


def _can_mean(word: Word, value: str) -> bool:
    if "{time}" in word.line:
        return bool(re.fullmatch(r"(\d+(\.\d+)?(ns|us|ms|s)?)?", value))
    if word.line == "--cpus {value}" and not re.fullmatch(r"(all|[\d,-]*)", value):
        return False
    return not value.isdecimal() or int(value) in word.numbers


def _line(word: Word, given: str) -> str:
    """The options with the value that was given, else with one that stands for it."""
    value = given or word.example
    number = value.removesuffix("us")
    kind, _, level = value.partition(":")
    if kind == "d":  # RUNTIME:PERIOD there, and a deadline between them here
        level = ":".join((level, level.rpartition(":")[2]))
    words = {
        "value": shell_line([value]) if value else "",
        "time": f"{number}us" if number.isdecimal() else value,
        "cpus": f"0-{int(value) - 1}"
        if value.isdecimal() and int(value) > 1
        else "0"
        if value == "1"
        else "all",
        "policy": f"{_POLICIES.get(kind, kind)}:{level}" if kind != "o" else "other",
    }
    return word.line.format(**words)


_POLICIES = {"f": "fifo", "r": "rr", "d": "deadline"}


RENAMED: Mapping[str, Mapping[str, str]] = {
    "advise": {"--cpus": "--guest-cpus", "--seconds": "--cell-duration"},
    "calibrate": {"--cpus": "--guest-cpus"},
    "history": {"--out": "--output"},
    "import": {"--set": "--map"},
    "lab fetch": {"--module": "--with-module"},
    "lab prove": {"--from": "--begin", "--kernel": "--own-kernel", "--out": "--output"},
    "lab why": {"--kernel": "--own-kernel"},
    "check": {"--seconds": "--duration"},
    "lab run": {"--cpus": "--guest-cpus", "--kernel": "--own-kernel"},
    "plan": {"--seconds": "--cell-duration"},
    "show": {"--kernels": "--configs"},
    "why": {"--kernel": "--own-kernel", "--seconds": "--cell-duration"},
}
"""By command: the old name and the one that it has now."""


def renamed(command: str, words: Sequence[str]) -> list[str]:
    """The words of a call with the names of today; each old one is named on standard error."""
    names = RENAMED.get(command, {})
    options = words[: words.index("--")] if "--" in words else words
    now = []
    for word in options:
        name, equals, value = word.partition("=")
        if name in names:
            click.echo(
                f"howlate: {name} of {command} is called {names[name]} now; the next version does not know {name}.",
                err=True,
            )
        now.append(f"{names.get(name, name)}{equals}{value}")
    return [*now, *words[len(options) :]]
