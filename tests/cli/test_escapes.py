"""Texts of others: no terminal obeys them, no file for CI is broken by them, no spreadsheet executes them."""

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.commands import Run
from howlate.system.outputs import Escaping, surviving_readers
from howlate.words.printable import for_terminal, no_formula, one_line
from processes import environment
from store.runs import a_folder, a_run
from store.streams import header, stream

PAYLOAD = "\x1b]0;title\x07\x1b[31mred\x9b2J\u202egnp.exe\x08\u2066\ufffe\n=cmd()|x"
"""A title, a colour, C1, directions, what XML cannot hold, another line."""
OBEYED = ("\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\x08", "\ufffe")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose label is the payload."""
    samples = stream(
        [10, 20] * 500, header_changes={"parameters": header()["parameters"] | {"deadline": "1ms"}}
    )
    labels = {"none": {"load": PAYLOAD, "kernel": "=1+1"}}
    return a_folder(tmp_path / "run", {"none": samples}, labels, a_run("none")).path


def test_what_a_terminal_obeys_is_shown() -> None:
    shown = for_terminal(PAYLOAD, styles=False)
    assert not [sign for sign in OBEYED if sign in shown]
    assert shown.startswith("\\u001b]0;title\\u0007\\u001b[31mred\\u009b2J\\u202egnp.exe")
    assert for_terminal("a\tb\nc µ 。\n", styles=True) == "a\tb\nc µ 。\n"
    assert (
        for_terminal("\x1b[1mbold\x1b[0m\x1b]0;x\x07", styles=True) == "\x1b[1mbold\x1b[0m\\u001b]0;x\\u0007"
    )
    assert for_terminal("\r\x1b[Khowlate: x", styles=True) == "\r\x1b[Khowlate: x"
    assert for_terminal("x\r\x1b[K", styles=True) == "x\\u000d\\u001b[K"


def test_json_stays_the_same_value() -> None:
    value = {"label": PAYLOAD, "other": "\ud800"}
    shown = for_terminal(json.dumps(value, ensure_ascii=False), styles=False)
    shown.encode()
    assert json.loads(shown) == value


def test_both_streams_pass_there(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    monkeypatch.setattr(sys, "stdout", inner[0])
    monkeypatch.setattr(sys, "stderr", inner[1])
    with surviving_readers():
        for stream_ in (sys.stdout, sys.stderr):
            assert isinstance(stream_, Escaping)
            stream_.write("\x1b[2J")
            stream_.own("\x1b[K")
    assert [s.buffer.getvalue() for s in inner] == [b"\\u001b[2J\x1b[K"] * 2


def commands(run: Path) -> list[tuple[str, ...]]:
    place = str(run)
    return [
        ("show", place),
        ("show", place, "--json"),
        ("show", place, "--cells"),
        ("verdict", place),
        ("history", place),
        ("query", "select * from runs join cells using(run)", place),
        ("query", "select load, kernel from cells", place, "--csv"),
        ("show", PAYLOAD),
        ("query", f"select {PAYLOAD}", place),
    ]


def test_no_command_prints_what_a_terminal_obeys(howlate: Run, run: Path) -> None:
    for argv in commands(run):
        done = howlate(*argv)
        assert not [sign for sign in OBEYED if sign in done.out + done.err], argv


def test_a_terminal_gets_bold_and_no_other_sequence(run: Path) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "howlate", "verdict", str(run)],
        stdout=theirs,
        stderr=theirs,
        env=environment(TERM="xterm"),
    )
    os.close(theirs)
    read = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        read += piece
    done.wait()
    assert b"\x1b]0" not in read and b"\x1b[31mred" not in read and read


def test_files_for_ci_are_valid_and_inert(howlate: Run, run: Path) -> None:
    howlate("verdict", run, "--junit", "j.xml", "--summary", "s.md")
    suite = ElementTree.parse("j.xml").getroot()
    assert len(suite) == 1
    text = Path("j.xml").read_text() + (summary := Path("s.md").read_text())
    assert not [sign for sign in OBEYED if sign in text]
    assert summary.splitlines()[0].startswith("## ") and "\n=cmd" not in summary


def test_spreadsheets_execute_nothing(howlate: Run, run: Path) -> None:
    howlate("export", run, "--format", "csv", "-o", "out.csv")
    told = [*csv.reader(io.StringIO(Path("out.csv").read_text()))]
    told += [
        *csv.reader(io.StringIO(howlate("query", "select kernel, -1 as n from cells", run, "--csv").out))
    ]
    cells = [cell for row in told for cell in row]
    assert "'=1+1" in cells and "-1" in cells
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == ["-1"]


@pytest.mark.parametrize(
    ("text", "cell"), [("=x", "'=x"), ("-5", "-5"), ("+1e3", "+1e3"), ("-x", "'-x"), ("", "")]
)
def test_numbers_stay_numbers(text: str, cell: str) -> None:
    assert no_formula(text) == cell


def test_a_title_is_one_line() -> None:
    assert one_line("ssh-ed25519 AAAA\nkey \u202e") == "ssh-ed25519 AAAA key \\u202e"


def test_the_page_has_no_line_of_others(howlate: Run, run: Path) -> None:
    howlate("report", run, "-o", "page.html")
    page = Path("page.html").read_text()
    assert not [sign for sign in OBEYED if sign in page]
    assert "\n=cmd()" not in page
