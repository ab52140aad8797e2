"""Names of folders and files that others chose, at every place where a command is given one: no terminal obeys them,
each sentence stays on its line, and a command that names one can be pasted into bash."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from cli.calls import WITH_NAMES
from imports.foreign import FIXTURES
from made_evidence import quiet
from processes import environment
from store.runs import a_folder, a_run
from store.streams import header, stream
from tree_of_commands import leaves

from .commands import STUDY, Run, Said

PLANTED = "PLANTED"
NAMES = {
    "lines": f"n\n{PLANTED}",
    "controls": f"n\r{PLANTED}\u2028{PLANTED}\x85{PLANTED}\x1b]0;title\x07\x1b[2J\x9b2J\u202egnp\u2066.exe\u200f",
    "bytes": os.fsdecode(b"n\xff\x9b\x1b[2J"),
    "quotes": "n '\"\\$(touch x)`touch x`;#~*",
}
"""Of a folder or a file, by what is in them."""
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


THERE = ("RUN", "NODEADLINE", "FILE", "CYCLIC", "INI")
STUDIES = ("STUDY", "BAD")
COMMAND = re.compile(r"`(howlate(?:-probe)? [^`]*)`|To go on: (howlate .*)|As a page: (howlate .*)")


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest, howlate: Run, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is there, of this name."""
    monkeypatch.setenv("COLUMNS", "2000")
    name = NAMES[request.param]
    samples = [int(value) for value in quiet(2_000)]
    for place in (*THERE, *STUDIES):
        Path(place).mkdir()
    changes = {"parameters": header()["parameters"] | {"deadline": "1ms"}}
    a_folder(Path("run"), {"none": stream(samples, header_changes=changes)}, run=a_run("none"))
    a_folder(Path("none"), {"none": stream(samples)}, run=a_run("none"))
    shutil.move("run", Path("RUN", name))
    shutil.move("none", Path("NODEADLINE", name))
    Path("FILE", name).write_text("nothing\n")
    shutil.copy(FIXTURES / "cyclictest-2.10.txt", Path("CYCLIC", name))
    Path("INI", f"{name}.ini").write_text("x = 1\n")
    Path("STUDY", f"{name}.toml").write_text(STUDY)
    Path("BAD", f"{name}.toml").write_text(f"{STUDY}\nx")
    return name


def words_of(line: str, name: str) -> list[str]:
    ends = {"INI": ".ini", "STUDY": ".toml", "BAD": ".toml"}
    paths = {place: f"{place}/{name}{ends.get(place, '')}" for place in (*THERE, *STUDIES)} | {"NAME": name}
    return [
        re.sub(r"\b(?:RUN|NODEADLINE|FILE|CYCLIC|INI|STUDY|BAD|NAME)\b", lambda at: paths[at[0]], word)
        for word in line.split()
    ]


def faults_of(said: Said, words: list[str]) -> list[str]:
    """What a terminal obeys, a sentence that goes on at the begin of a line, a fault."""
    wrong = OBEYED.findall(said.out + said.err)
    wrong += [sign for sign in (f"\n{PLANTED}", "fault in howlate") if sign in said.err]
    return [f"{words}: {wrong}: {said.err!r}"] if wrong else []


@pytest.fixture
def called(howlate: Run) -> Run:
    """As `howlate`; the probe takes the place of the process that calls it."""

    def call(*words: str) -> Said:
        if words[0] != "probe":
            return howlate(*words)
        command = [sys.executable, "-m", "howlate", *words]
        done = subprocess.run(
            command, env=environment(), capture_output=True, text=True, errors="surrogateescape"
        )
        return Said(done.returncode, done.stdout, done.stderr)

    return call


def evaluated(command: str) -> list[str]:
    """The words that bash makes of it; it is valid, and executes nothing."""
    done = subprocess.run(
        ["bash", "-c", f"set -f; printf '%s\\0' {command}"], capture_output=True, check=True
    )
    assert not done.stderr and not Path("x").exists()
    return os.fsdecode(done.stdout).split("\0")[:-1]


def test_every_command_is_given_such_names() -> None:
    """At each place that takes a path."""
    assert WITH_NAMES.keys() == leaves().keys()
    for command, leaf in leaves().items():
        text = " ".join(WITH_NAMES[command])
        for param in leaf.params:
            if isinstance(param, click.Option) and isinstance(param.type, click.Path):
                assert any(f"{option} " in text for option in param.opts), (command, param.opts)


def test_no_terminal_obeys_a_name(called: Run, name: str) -> None:
    commands, faults = [], []
    for line in (line for lines in WITH_NAMES.values() for line in lines):
        words = words_of(line, name)
        said = called(*words)
        faults += faults_of(said, words)
        commands += ["".join(found) for found in COMMAND.findall(said.out + said.err)]
    assert not faults
    named = [command for command in commands if "/" in command and "RUN" in command]
    assert len(named) > 2 or name == NAMES["bytes"], commands
    for command in named:
        assert any(word.endswith(f"/{name}") for word in evaluated(command)), command


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(name, text, marks=[pytest.mark.sweep] * (at != place), id=f"{name}-{text.strip()}")
        for at, name in enumerate(NAMES)
        for place, text in enumerate(("x", "[defaults]\nx = 1\n", "deadline = '1ms'\n", ""))
    ],
    indirect=["name"],
)
def test_no_terminal_obeys_the_name_of_the_working_folder(called: Run, name: str, text: str) -> None:
    """A howlate.toml there is named where it is not good, and where it sets something."""
    faults = []
    folder = Path(name)
    folder.mkdir()
    Path("RUN", name).rename(folder / "run")
    os.chdir(folder)
    Path("howlate.toml").write_text(text)
    for line in (lines[0] for lines in WITH_NAMES.values()):
        words = words_of(line.replace("RUN", "run"), name)
        faults += faults_of(called(*words), words)
    assert not faults
