"""Tables that were forged, over every command that reads samples."""

import re

import pytest

from hostile.test_hostile import hostile

SOME = ["texts of 2 GB", "row groups that are listed often", "release: one highest", "latency_ns: struct"]
EACH = [
    pytest.param([word for kind in SOME for word in ("--kind", kind)], id="some"),
    pytest.param([], id="all", marks=pytest.mark.sweep),
]


@pytest.mark.parametrize("words", EACH)
def test_a_forged_table_is_refused_in_a_sentence(words: list[str]) -> None:
    done = hostile("hostile.forged", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    calls, refused = map(int, re.findall(r"(\d+) (?:calls|refused)", done.stdout.replace(",", "")))
    assert calls >= 10 * len(SOME) and refused > calls // 10, done.stdout


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("release: one highest", "FAULT traceback"),
        pytest.param("one row group of many rows", "FAULT memory", marks=pytest.mark.sweep),
    ],
)
def test_a_reader_without_limits_is_found(kind: str, fault: str) -> None:
    """By its rows and by its footer."""
    done = hostile("hostile.forged", "--plant", "--kind", kind)
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith(fault) and f" {kind}: " in line for line in lines), done.stdout
