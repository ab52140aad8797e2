"""Lists that are longer or wider than a terminal: what is left out is told."""

import os
import re
import shutil
import sys

import pytest

from cli.commands import Run
from howlate.lab.cli.lab.kernels import _print


def test_settings_are_one_screen_and_say_how_many_more_there_are(howlate: Run) -> None:
    first, every = howlate("settings").out, howlate("settings", "--all").out
    own = [line for line in every.splitlines() if line.endswith("  the probe")]
    assert len(first.splitlines()) <= 22 and own
    assert f"\n{len(own)} more " in first and "settings --all" in first
    assert not re.search("  the probe$", first, re.MULTILINE)
    assert howlate("settings", "cyclic").out.splitlines()


@pytest.mark.parametrize(("width", "left"), [(40, True), (60, True), (120, False)])
def test_kernels_name_the_columns_that_have_no_room(
    width: int, left: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        "label": "6.1-rt@arm64",
        "version": "6.1.192-3~bpo13+1",
        "suite": "bookworm-security",
        "bytes": 71e6,
        "is_complete": True,
        "is_gone": False,
        "is_fetched": True,
        "preempt": {"built": "voluntary", "choices": ["none", "voluntary", "full"]},
    }
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((width, 24)))
    _print([row])
    lines = capsys.readouterr().out.splitlines()
    shown, told = lines[0].split(), " ".join(lines[2:]).partition(":")[0]
    assert bool(told) is left and all(len(line) <= width for line in lines)
    columns = ["KERNEL", "VERSION", "SUITE", "MB", "FETCHED", "PREEMPTION"]
    assert [name for name in columns if name not in shown] == re.findall("[A-Z]{2,}", told)
