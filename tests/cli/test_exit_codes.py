"""The table of docs/commands.md, "Exit codes": every command in every situation that it can be in, run for real with
the stand-in as its probe."""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from cli.calls import OF_SITUATIONS
from fakes import FakeLab
from howlate.lab.targets import lab
from howlate.store.run_folder import RunFolder
from howlate.system.paths import ROOT
from lab.made_archive import MadeArchive, made_key, served
from lab.test_archive import DYNAMIC, old_layout
from store.streams import header, stream
from tree_of_commands import leaves
from verdict.test_command import SAMPLES, measured

from .commands import STUDY, Run

SITUATIONS = {
    "pass": "passed, done",
    "fail": "failed",
    "open": "inconclusive",
    "usage": "wrong usage",
    "impossible": "not possible",
    "broken": "broken",
}
CODES = {"pass": 0, "fail": 1, "open": 5, "usage": 2, "impossible": 3, "broken": 4}
OUTPUTS = {"pipe": "pipe closed", "full": "output unwritable"}

GUESTS: dict[str, dict[str, str]] = {
    "calibrate": {
        "pass": "calibrate --kernels 6.1-rt --kinds irqs-off --count 200",
    },
    "lab bisect": {
        "pass": "lab bisect mine.toml --good 6.1[preempt=full] --bad 6.1[preempt=none] --limit 330us "
        "--set activations=200",
        "open": "lab bisect mine.toml --good 6.1[preempt=full] --bad 6.1[preempt=none] --limit 1s",
    },
    "lab prove": {
        "pass": "lab prove --load cpu:100 --kernels 6.1-rt --window 60us --begin 100ms --within 1us --checks 0 "
        "--accept-sampled-premises",
        "fail": "lab prove --load cpu:100 --kernels 6.1-rt --window 60us --deadline 1us --checks 0",
        "open": "lab prove --load cpu:5,policy=fifo:90 --kernels 6.1-rt --window 60us --within 1us --checks 0",
    },
    "lab why": {
        "pass": "lab run mine.toml --kernels 6.1[preempt=none] --seeds 1 --out r && lab why r",
    },
}
"""What tests/lab/test_exit_codes.py types, to real guests; the module is loaded nowhere else."""
NO_OUTPUT = ("lab clean", "probe")
"""`lab clean` prints nothing where nothing is kept; `probe` becomes the probe, which has tests of its own."""


Call = Callable[[str], int]
LABS = {"lab refused": "refused", "lab broken": "broken", "lab interrupted": "interrupt"}
"""By mode what each guest does instead of measuring."""


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """An archive with one kernel, and the keys that sign it."""
    place = tmp_path_factory.mktemp("mirror")
    with made_key(place / "home") as key, served(place / "www") as at:
        made = MadeArchive(place / "www" / "debian", key)
        package = old_layout("6.1.0-56-amd64", DYNAMIC)
        made.add("bookworm", "linux-image-6.1.0-56-amd64", "6.1.56-1", "amd64", package)
        for suite in ("bookworm", "trixie"):
            made.publish(suite)
        yield f"{at.address}/debian", key.keyring


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs and streams in each state."""
    place = tmp_path_factory.mktemp("kept")
    for name, deadline in (("kept", "200us"), ("late", "5us"), ("damaged", "200us")):
        measured(place / name, deadline, none=SAMPLES)
        parameters = header()["parameters"] | {"deadline": deadline}
        (place / f"{name}.stream").write_bytes(stream(SAMPLES, header_changes={"parameters": parameters}))
    for number, later in enumerate([*range(6), *range(100, 104)]):
        folder = measured(place / "worse" / f"r{number}", none=[n + 100 * later for n in SAMPLES[:20]])
        run = RunFolder(folder).read_run()
        run = replace(run, id=f"r{number}", started=f"2026-01-{number + 1:02}T00:00:00Z")
        RunFolder(folder).write_run(run)
    measured(place / "partly", "200us", none=SAMPLES, never=SAMPLES)
    shutil.rmtree(place / "partly" / "cells" / "never")
    (place / "partly" / "finished.txt").write_text("none\n")
    rising = header()["parameters"] | {"deadline": "1500ns"}
    (place / "open.stream").write_bytes(
        stream([1000 + n for n in range(300)], header_changes={"parameters": rising})
    )
    (place / "damaged" / "run.json").write_text("{")
    whole = (place / "damaged.stream").read_bytes()
    (place / "damaged.stream").write_bytes(whole[:5000] + bytes([whole[5000] ^ 0xFF]) + whole[5001:])
    (place / "mine.toml").write_text(STUDY)
    return place


@pytest.fixture
def call(howlate: Run, kept: Path, mirror: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> Call:
    shutil.copytree(kept, ".", dirs_exist_ok=True)
    monkeypatch.setenv("HOWLATE_CACHE", str(Path("cache").resolve()))
    number = iter(range(99))
    words_of = {"MIRROR": f"{mirror[0]} --keyring {mirror[1]}", "NOWHERE": "http://127.0.0.1:1"}

    def called(words: str) -> int:
        mode, _, typed = words.rpartition(": ")
        for name, text in words_of.items():
            typed = typed.replace(name, text)
        argv = [word.replace("NEW", f"new-{next(number)}") for word in typed.split(" ")]
        if not mode.startswith("lab"):
            return howlate(*argv, stand_in=mode).code
        guests = FakeLab(("6.1",), {"6.1": [LABS[mode]] * 99} if mode in LABS else None, parallel=1)
        with monkeypatch.context() as patch:
            patch.setattr(lab, "open_lab", lambda *_args, **_more: guests)
            return howlate(*argv).code

    return called


@contextmanager
def output_to(descriptor: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", os.fdopen(descriptor, "w", encoding="utf-8"))
        yield


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in ("advise", "check") else ())
        for name in OF_SITUATIONS
    ],
)
def test_each_situation_has_its_code(name: str, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """And keeps it where nobody reads the output; where that cannot be written, it is 4."""
    calls = OF_SITUATIONS[name]
    found = {situation: call(words) for situation, words in calls.items()}
    assert found == {situation: CODES[situation] for situation in calls}
    printing = {situation: calls[situation] for situation in ("fail", "pass") if situation in calls}
    for situation, words in [*printing.items()][: name not in NO_OUTPUT]:
        reader, writer = os.pipe()
        os.close(reader)
        with output_to(writer, monkeypatch):
            assert call(words) == CODES[situation]
        with output_to(os.open("/dev/full", os.O_WRONLY), monkeypatch):
            assert call(words) == 4


def test_no_command_is_missing() -> None:
    assert set(OF_SITUATIONS) == set(leaves())


def table() -> str:
    """As docs/commands.md has it."""
    heads = ["command", *SITUATIONS.values(), *OUTPUTS.values()]
    rows = [heads, ["---"] * len(heads)]
    for name, calls in OF_SITUATIONS.items():
        prints = name not in NO_OUTPUT and any(one in calls for one in ("fail", "pass"))
        every = {*calls, *GUESTS.get(name, ())}
        codes = [str(CODES[one]) if one in every else "" for one in SITUATIONS]
        rows.append([f"`{name}`", *codes, "kept" if prints else "", "4" if prints else ""])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def test_the_table_of_the_documentation_is_what_was_run() -> None:
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^\| command \| passed.*\n(?:\|.*\n)+", text, re.MULTILINE)
    assert shown.strip() == table()


def test_the_json_of_a_history_says_what_its_code_says(howlate: Run, kept: Path) -> None:
    shutil.copytree(kept, ".", dirs_exist_ok=True)
    for words, code in ((("worse",), 1), (("worse", "--margin", "9"), 0), (("kept", "late"), 0)):
        said = howlate("history", *words, "--fail-on", "worse", "--json")
        assert (said.code, json.loads(said.out)["worse"]) == (code, bool(code))
        assert howlate("history", *words, "--json").code == 0


def test_json_says_what_the_code_says(howlate: Run, kept: Path) -> None:
    shutil.copytree(kept, ".", dirs_exist_ok=True)
    for name, code in (("kept", 0), ("late", 1)):
        said = howlate("verdict", name, "--json")
        assert (said.code, json.loads(said.out)["outcome"]) == (code, {0: "PASS", 1: "FAIL"}[code])
