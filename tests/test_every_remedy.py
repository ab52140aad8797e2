"""Every remedy can be done where it is printed: each command in the sentences of howlate, of the doctor and of the
probe parses, each option is one that the reader has, each knob is one of the probe's and takes the value."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

import howlate
from howlate.doctor import checks
from howlate.document.text import wrapped
from howlate.system.paths import ROOT, probe_path
from howlate.words.statement import Message
from messages import every_message
from processes import completed
from tree_of_commands import leaves, parsed

FOREIGN = {
    "--build": "./dev",
    "--cap-add": "docker",
    "--cpuset-cpus": "docker",
    "--privileged": "docker",
    "--security-opt": "docker",
    "--start": "corectl",
    "--ulimit": "docker",
    "--with-cobalt": "./dev probe",
    "--with-evl": "./dev probe",
}
"""Options of other programs, which stand beside their program's name."""
COMMAND = re.compile(r"`(howlate(?:-probe)?(?: [^`]*)?)`")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def texts_of(one: Message) -> Iterator[str]:
    yield from (text for text in (one.text, one.many, one.remedy) if text)


def rules_with(pattern: re.Pattern[str]) -> list[Message]:
    return [one for one in every_message() if any(pattern.search(text) for text in texts_of(one))]


def filled(template: str) -> str:
    """With a word in each place that a value fills; what follows a word at once are options that may be missing."""
    return re.sub(r"\{[^}]*\}", "N", re.sub(r"(?<=\w)\{[^}]*\}", "", template)).replace("...", "N")


@pytest.mark.parametrize("one", rules_with(COMMAND), ids=lambda one: one.id)
def test_every_command_in_a_sentence_parses(one: Message) -> None:
    """A name alone may lack its arguments; options have their values."""
    for text in texts_of(one):
        for command in COMMAND.findall(text):
            program, *words = shlex.split(filled(command))
            if program == "howlate-probe":
                continue  # below
            try:
                parsed(words)
            except click.exceptions.Exit:
                pass  # --help
            except click.MissingParameter as lack:
                assert isinstance(lack.param, click.Argument), (command, lack.format_message())
            except click.BadParameter as value:
                assert "N" in value.format_message(), (command, value.format_message())


@pytest.mark.parametrize("width", [24, 40, 60, 80, 119])
def test_a_command_in_a_sentence_is_printed_so_that_it_can_be_copied(width: int) -> None:
    """On one line where it fits, and no word of it broken where it does not."""
    for one in rules_with(COMMAND):
        for text in map(filled, texts_of(one)):
            lines = wrapped(text, width)
            assert " ".join(lines).split() == text.split(), one.id
            for command in COMMAND.findall(text):
                assert len(command) + 2 >= width or any(f"`{command}`" in line for line in lines), one.id


DEV = re.compile(r"\./dev ([a-z]+)")


def test_a_command_of_dev_in_a_sentence_is_one_of_its_own() -> None:
    known = {
        name
        for names in re.findall(r"^\s*([a-z|]+)\)", (ROOT / "dev").read_text(), re.MULTILINE)
        for name in names.split("|")
    }
    sources = Path(howlate.__file__).parent
    told = {name for path in sources.rglob("*.py") for name in DEV.findall(path.read_text(encoding="utf-8"))}
    assert {"cross", "probe"} <= told <= known


def all_options() -> set[str]:
    return {
        name
        for leaf in leaves().values()
        for param in leaf.params
        if isinstance(param, click.Option)
        for name in (*param.opts, *param.secondary_opts)
    } | {"--help", "--lang"}


@pytest.mark.parametrize("one", rules_with(OPTION), ids=lambda one: one.id)
def test_every_option_in_a_sentence_is_one_that_a_command_has(one: Message) -> None:
    known = all_options() | set(FOREIGN)
    for text in texts_of(one):
        bare = re.sub(r"`howlate-probe [^`]*`", "", text)
        assert set(OPTION.findall(bare)) <= known, text


def test_every_knob_that_the_doctor_offers_is_the_probes_and_takes_the_value() -> None:
    offered = [knob for check in checks() for knob in check.holds]
    assert len(offered) > 15
    lines = "".join(json.dumps(["cyclic", "--cpus=0", f"--knob={knob}"]) + "\n" for knob in offered)
    done = completed([probe_path(), "plan", "--elsewhere"], input=lines, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    refused = [
        (knob, a) for knob, a in zip(offered, answers, strict=True) if not a["ok"] and a["exit_code"] == 2
    ]
    assert not refused


def sentences_of_the_probe() -> dict[str, str]:
    """The string literals of its sources that are more than a word or two, adjacent ones joined."""
    found = {}
    for file in sorted((ROOT / "probe" / "src").rglob("*.cpp")):
        for number, literal in enumerate(re.findall(r'"(?:[^"\\\n]|\\.|"\s*\n?\s*")*"', file.read_text())):
            text = re.sub(r'"\s*"', "", literal)[1:-1]
            if text.count(" ") > 1 and (OPTION.search(text) or "howlate-probe " in text):
                found[f"{file.stem}-{number}"] = text
    return found


def test_every_option_and_command_that_the_probe_names_is_its_own() -> None:
    listed = json.loads(
        subprocess.run([probe_path(), "list", "--json"], capture_output=True, check=True).stdout
    )
    params = {param["name"] for one in (*listed["tests"], *listed["loads"]) for param in one["params"]}
    commands = [
        "hold",
        "facts",
        "plan",
        "job",
        "session",
        "load",
        "restore",
        "list",
        "check-stream",
        "cyclic",
    ]
    for command in commands:
        told = completed([probe_path(), command, "--help"]).stdout
        params |= {name[2:] for name in OPTION.findall(told)}
    told = completed([probe_path(), "--help"], check=True).stdout
    names = {test["name"] for test in listed["tests"]} | set(re.findall(r"^  ([a-z-]+)", told, re.MULTILINE))
    known = {f"--{name}" for name in params} | set(FOREIGN) | {"--help", "--version"}
    for where, text in sentences_of_the_probe().items():
        bare = re.sub(r"`howlate [^`]*`", "", text)
        assert set(OPTION.findall(bare)) <= known, (where, text)
        for command in re.findall(r"`howlate-probe ([a-z-]+)", text):
            assert command in names | set(commands), (where, text)
