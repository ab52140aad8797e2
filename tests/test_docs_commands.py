"""Every command on a page of the documentation is one that howlate, its probe or `./dev` takes: options, values,
studies and settings, as they stand there."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner

from howlate.cli import howlate
from howlate.errors import UsageError
from howlate.studies import studies
from howlate.system.paths import ROOT, probe_path

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BEGINS = re.compile(r"(?:\$ )?(?:\./)?(howlate-probe|howlate|dev)(?: |$)")
PLACEHOLDERS = {
    "STUDY": "check", "TIME": "1ms", "N": "2", "K": "1", "FACTOR": "1.5", "LOAD": "none", "L": "none",
    "RATE": "1e-6", "SIZE": "4", "SHARE": "0.95", "ARCH": "aarch64", "LIST": "0", "TEST": "cyclic",
    "ID": "toshiba-2010", "FORMAT": "csv", "A": "amd64", "KIND": "fifo-task", "B": "1000", "T": "1min", "NUMBER": "2",
    "SQL": "SELECT 1",
    "TABLE": "high-300us",
    "COMMAND": "check", "A,B": "a,b", "PLACE": "/tmp", "VERB": "list", "NAME=VALUE": "thp=never",
}  # fmt: skip
"""What stands for a value, where its kind matters."""


class Command(NamedTuple):
    page: str
    program: str
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: {self.program} {' '.join(self.words)}"


def lines_of(text: str) -> Iterator[str]:
    """Blocks' lines, those that go on joined, and what stands in backquotes; without a description beside it."""
    fenced = False
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        if line.strip().startswith("```"):
            fenced = not fenced
        elif (fenced or line.startswith("    ")) and BEGINS.match(line.strip()):
            yield re.split(r" {2,}(?=[^\s'\"\[-])", line.strip())[0]
        else:
            yield from (part for part in re.findall(r"`([^`]+)`", line) if BEGINS.match(part))


def typed(line: str) -> list[str]:
    """The words of a line: brackets around what may be left out are taken off, of alternatives the first stays."""
    quoted: list[str] = []

    def held(match: re.Match[str]) -> str:
        quoted.append(match[0])
        return f"\0{len(quoted) - 1}\0"

    line = re.sub(r"\"[^\"]*\"|'[^']*'", held, line)
    line = re.sub(r"\[([^\[\]|]*) \| [^\[\]]*\]", r"[\1]", line)  # of alternatives the first
    line = re.sub(r"(\s[a-z]+)\\\|[a-z]+ .*\\\|.*", r"\1", line)
    line = re.split(r"\s[|<>](?:\s|$)|&&|;", line)[0]
    line = re.sub(r"\[[^\[\]]*=\](?=\S)", "", line)  # [NAME=]RUN
    line = re.sub(r"(?<!\S)\[+|\]+(?=\s|$|\.\.\.)", "", line)
    line = re.sub(r"(?<=\S)\.\.\.|,\.\.\.", "", line)
    line = re.sub(r"(\S)\\?\|\S+", r"\1", line)
    line = re.sub(r"\s\|\s\S+( [A-Z]+)?", "", line)
    line = re.sub(r"\0(\d+)\0", lambda match: quoted[int(match[1])], line)
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # a query that goes on in the next lines
        words = [*shlex.split(line.partition('"')[0]), "SQL"]
    return [PLACEHOLDERS.get(word, word) for word in words]


def commands() -> list[Command]:
    found: dict[str, Command] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        same = re.search(r"^ +same=['\"]([^'\"]*)['\"]", text, re.MULTILINE)
        for line in lines_of(text):
            words = typed(line.replace("$same", same[1]) if same else line)
            if words and words[0] == "$":
                words = words[1:]
            one = Command(str(page.relative_to(ROOT)), words[0].removeprefix("./"), tuple(words[1:]))
            found.setdefault(str(one), one)
    return list(found.values())


COMMANDS = commands()
OF_HOST = [one for one in COMMANDS if one.program == "howlate"]
OF_PROBE = [one for one in COMMANDS if one.program == "howlate-probe"]


WRAPPED = re.compile(r"`(?:\./)?(?:howlate|howlate-probe|dev) [^`\n]*\n[^`\n]*`")


def test_no_command_is_broken_over_lines() -> None:
    """It would be copied in two pieces, and no test here would see it."""
    found = [
        (page.name, command[0])
        for page in PAGES
        for paragraph in re.split(r"\n\s*\n", page.read_text(encoding="utf-8"))
        for command in WRAPPED.finditer(paragraph)
    ]
    assert found == []
    assert WRAPPED.search("type `howlate run STUDY --target\nlab:6.1-rt`")


def test_the_pages_have_commands_and_they_are_found() -> None:
    assert len(OF_HOST) > 150 and len(OF_PROBE) > 60
    assert any(one.page == "docs/cores.md" and "toshiba-2010" in one.words for one in OF_HOST)
    assert typed("howlate why RUN [CELL] [--worst K | --against KERNEL] [-o page.html]") == [
        "howlate", "why", "RUN", "CELL", "--worst", "1", "-o", "page.html",
    ]  # fmt: skip
    assert typed("howlate show [NAME=]RUN... --kernels '6.1[preempt=none],6.1-rt'  # two")[2:] == [
        "RUN", "--kernels", "6.1[preempt=none],6.1-rt",
    ]  # fmt: skip


@pytest.mark.parametrize("one", OF_HOST, ids=str)
def test_a_command_of_howlate_parses(one: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By click's own parser, down to the last command, with its types; files need not be there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("howlate.cli._named.newest_run", lambda **_: Path("runs/newest"))
    command: click.Command = howlate
    words, context = list(one.words), click.Context(howlate, info_name="howlate")
    while isinstance(command, click.Group):
        if words and words[0] == "--lang":
            words = words[2:]
        if not words or words[0].startswith("--"):
            assert not words or words[0] in ("--help", "--version"), str(one)
            return
        found = command.get_command(context, words[0])
        assert found is not None, f"{one}: there is no {words[0]}"
        command, words = found, words[1:]
        context = click.Context(command, info_name=command.name, parent=context)
    if {"--help", "..."} & {*words} or (not words and one.words[0] != "check"):
        return  # a mention of the command
    try:
        command.make_context(str(command.name), words, parent=context.parent)
    except click.MissingParameter:
        assert not any(word.startswith("-") for word in words), str(one)  # a mention, and no line to type
    except click.BadParameter as problem:
        assert "does not exist" in problem.format_message(), f"{one}: {problem.format_message()}"


@pytest.fixture(scope="module")
def tests_of_probe() -> set[str]:
    listed = subprocess.run([probe_path(), "list", "--json"], capture_output=True, check=True, timeout=60)
    return {test["name"] for test in json.loads(listed.stdout)["tests"]}


@pytest.mark.parametrize("one", [one for one in OF_PROBE if one.words], ids=str)
def test_a_command_of_the_probe_is_planned(one: Command, tests_of_probe: set[str]) -> None:
    """For a machine that has what it asks for: wrong usage is wrong everywhere. Of other commands their name."""
    if one.words[0] in tests_of_probe:
        line = json.dumps(
            [PLACEHOLDERS.get(word, word) for word in one.words if word not in ("--json", "--help", "...")]
        )
        done = subprocess.run(
            [probe_path(), "plan", "--elsewhere"],
            input=f"{line}\n".encode(),
            capture_output=True,
            check=True,
            timeout=60,
        )
        answer = json.loads(done.stdout)
        assert answer["ok"] or answer["exit_code"] == 3, f"{one}: {answer['message']}"
    elif one.words[0] != "<test>":
        done = subprocess.run(
            [probe_path(), one.words[0], "--help"], capture_output=True, check=False, timeout=60
        )
        assert done.returncode == 0, f"{one}: {done.stderr.decode()}"


CORE_TIMERS = re.compile(r"\b(?:cobalt|evl|alchemy)[a-z-]*(?:,(?:cobalt|evl|alchemy)[a-z-]*)*")


def study_of(one: Command) -> list[str]:
    """The study that a command runs, here or in the lab, and how it changes it; [] for another command."""
    words = [word for word in one.words if word != "lab"]
    if words[:1] != ["run"] or len(words) < 2 or words[1] not in studies():
        return []
    kept = ["run", words[1]]
    for name, value in pairwise(words):
        if name in ("--set", "--scale", "--seeds"):
            kept += [name, CORE_TIMERS.sub("clock_nanosleep", value)] if name != "--seeds" else []
    return kept


@pytest.mark.parametrize("one", [one for one in COMMANDS if len(study_of(one)) > 2], ids=str)
def test_a_study_takes_what_a_page_sets(
    one: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planned by the probe itself, here: a value that no machine takes is wrong usage. A core's timer is a choice
    like any other that the published loop does not have."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(howlate, [*study_of(one), "--dry-run"], standalone_mode=False)
    assert not isinstance(done.exception, UsageError), f"{one}: {done.exception}"


DEV = re.compile(r"^\s*([a-z|]+)\)", re.MULTILINE)


def test_a_command_of_dev_is_one_of_its_own() -> None:
    known = {name for names in DEV.findall((ROOT / "dev").read_text()) for name in names.split("|")}
    told = {one.words[0] for one in COMMANDS if one.program == "dev" and one.words}
    assert told <= known | {"--yes", "bench", "fresh"}, told - known
