"""Names of folders and files that others chose, at every place where a command is given one: no terminal obeys them,
each sentence stays on its line, and a command that names one can be pasted into bash."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from imports.foreign import FIXTURES
from made_evidence import quiet
from store.runs import a_folder, a_run
from store.streams import header, stream
from tree_of_commands import leaves

from .commands import STUDY, Run, Said, environment

PLANTED = "PLANTED"
NAMES = {
    "lines": f"n\n{PLANTED}",
    "returns": f"n\r{PLANTED}\u2028{PLANTED}\x85{PLANTED}",
    "sequences": "n\x1b]0;title\x07\x1b[2J\x9b2J",
    "directions": "n\u202egnp\u2066.exe\u200f",
    "bytes": os.fsdecode(b"n\xff\x9b\x1b[2J"),
    "quotes": "n '\"\\$(touch x)`touch x`;#~*",
}
"""Of a folder or a file, by what is in them."""
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
CALLS: dict[str, tuple[str, ...]] = {
    "advise": ("advise --dry-run --out NAME/a --no-wait", "advise --dry-run -o NAME"),
    "calibrate": ("calibrate --kinds fifo-task --count 0 --out NAME", "calibrate --kinds NAME"),
    "check": ("check --out NAME/file/c", "check --cpus NAME", "check --out RUN"),
    "top": ("top --out NAME/file/c", "top --cpus NAME", "top --out RUN"),
    "compare": (
        "compare NAME",
        "compare RUN RUN",
        "compare a=RUN NAME=RUN",
        "compare RUN --by NAME",
        "compare RUN RUN -o NAME/x",
    ),
    "completion": ("completion NAME",),
    "doctor": ("doctor --run NAME", "doctor --run RUN", "doctor --target NAME", "doctor --target ssh:NAME"),
    "export": (
        "export NAME",
        "export RUN --format csv -o NAME.csv",
        "export RUN --format perfetto -o NAME",
        "export RUN --format parquet -o NAME/x/y",
        "export RUN --format csv --cell NAME",
        "export RUN --format sh7780 -o NAME",
    ),
    "history": ("history NAME", "history RUN", "history RUN -o NAME.html", "history --label NAME=x"),
    "import": (
        "import NAME",
        "import FILE",
        "import FILE --format cyclictest --out RUN",
        "import FILE --format NAME",
        "import CYCLIC --out NAME/file/i",
        "import CYCLIC --label a=NAME --out i",
        "import INI -o NAME/x/y",
        "import CYCLIC --deadline 1ms",
    ),
    "lab bisect": (
        "lab bisect NAME --revisions NAME",
        "lab bisect STUDY --module NAME --keyring NAME --out NAME",
        "lab bisect STUDY --revisions FILE --good NAME --bad y",
    ),
    "lab clean": ("lab clean",),
    "lab fetch": ("lab fetch NAME", "lab fetch 6.1 --mirror NAME", "lab fetch 6.1 --keyring NAME"),
    "lab kernels": ("lab kernels --mirror NAME", "lab kernels --keyring NAME"),
    "lab prove": (
        "lab prove STUDY --own-kernel NAME",
        "lab prove NAME",
        "lab prove STUDY --own-kernel FILE --module NAME --keyring NAME -o NAME",
    ),
    "lab run": (
        "lab run NAME",
        "lab run STUDY --own-kernel NAME",
        "lab run STUDY --own-kernel FILE --out NAME",
        "lab run STUDY --probe NAME",
        "lab run STUDY --module NAME --keyring NAME",
    ),
    "lab why": (
        "lab why NAME",
        "lab why RUN",
        "lab why RUN none -o NAME",
        "lab why RUN NAME --own-kernel NAME --module NAME --stacks NAME --speedscope NAME "
        "--debuginfo NAME --keyring NAME",
    ),
    "plan": ("plan --deadline NAME",),
    "probe": ("probe NAME", "probe cyclic --stream=NAME/x/y"),
    "query": ("query SELECT(1) NAME", "query NAME RUN", "query SELECT(1) RUN --index", "query 'x' RUN"),
    "reference": ("reference NAME",),
    "reference audit": ("reference audit NAME",),
    "reference list": ("reference list NAME",),
    "reference show": ("reference show NAME", "reference show tut-2017 NAME"),
    "report": (
        "report NAME",
        "report RUN -o NAME.html",
        "report RUN RUN -o NAME/x/y.html",
        "report RUN --axis NAME=x",
        "report RUN --format svg -o NAME",
    ),
    "run": (
        "run NAME",
        "run STUDY --dry-run",
        "run STUDY --out RUN",
        "run STUDY --out NAME --no-wait",
        "run STUDY --out NAME/file/t --no-wait",
        "run STUDY --emit-job NAME",
        "run STUDY --emit-job RUN",
        "run STUDY --target NAME",
        "run STUDY --set NAME=1",
        "run BAD --dry-run",
    ),
    "settings": ("settings NAME", "settings"),
    "show": (
        "show NAME",
        "show RUN",
        "show RUN --json",
        "show RUN --verify",
        "show RUN --configs",
        "show RUN RUN",
    ),
    "studies": ("studies",),
    "studies show": ("studies show NAME", "studies show STUDY", "studies show BAD"),
    "verdict": (
        "verdict NAME",
        "verdict RUN --deadline 1ms",
        "verdict RUN --deadline NAME",
        "verdict NODEADLINE",
        "verdict RUN --deadline 1ms --junit NAME.xml --summary NAME/x/y",
    ),
    "why": (
        *("why NAME", "why RUN", "why RUN NAME", "why RUN -o NAME/x/y", "why RUN --try --out NAME"),
        "why RUN NAME --own-kernel NAME --module NAME --stacks NAME --speedscope NAME "
        "--debuginfo NAME --keyring NAME",
    ),
}
"""By command. RUN, FILE, STUDY, BAD are of that name, NAME is not there."""


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
    assert CALLS.keys() == leaves().keys()
    for command, leaf in leaves().items():
        text = " ".join(CALLS[command])
        for param in leaf.params:
            if isinstance(param, click.Option) and isinstance(param.type, click.Path):
                assert any(f"{option} " in text for option in param.opts), (command, param.opts)


def test_no_terminal_obeys_a_name(called: Run, name: str) -> None:
    commands, faults = [], []
    for line in (line for lines in CALLS.values() for line in lines):
        words = words_of(line, name)
        said = called(*words)
        faults += faults_of(said, words)
        commands += ["".join(found) for found in COMMAND.findall(said.out + said.err)]
    assert not faults
    named = [command for command in commands if "/" in command and "RUN" in command]
    assert len(named) > 2 or name == NAMES["bytes"], commands
    for command in named:
        assert any(word.endswith(f"/{name}") for word in evaluated(command)), command


def test_no_terminal_obeys_the_name_of_the_working_folder(called: Run, name: str) -> None:
    """A howlate.toml there is named where it is not good, and where it sets something."""
    faults = []
    folder = Path(name)
    folder.mkdir()
    Path("RUN", name).rename(folder / "run")
    os.chdir(folder)
    for text in ("x", "[defaults]\nx = 1\n", "deadline = '1ms'\n", ""):
        Path("howlate.toml").write_text(text)
        for line in (lines[0] for lines in CALLS.values()):
            words = words_of(line.replace("RUN", "run"), name)
            faults += faults_of(called(*words), words)
    assert not faults
