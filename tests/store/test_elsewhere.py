"""What `howlate import` looks into, and what it leaves out with a word."""

from pathlib import Path

import pytest

from howlate.store import elsewhere
from howlate.store.elsewhere import streams_in
from howlate.store.frames import MAGIC
from rights import without_rights


def line_of(results: Path, number: int) -> None:
    folder = results / str(number)
    folder.mkdir(parents=True)
    (folder / "stdout").write_text("")


def test_a_neighbour_that_cannot_be_read_or_is_large_costs_no_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elsewhere, "MOST_ENTRIES", 5)
    (tmp_path / "a.hls").write_bytes(MAGIC)
    (tmp_path / "large").mkdir()
    for number in range(9):
        (tmp_path / "large" / f"{number}.txt").touch()
    hidden = tmp_path / "lost+found"
    hidden.mkdir()
    line_of(hidden, 0)
    with without_rights(hidden):
        found = streams_in(tmp_path)
    assert found.files == (tmp_path / "a.hls",)
    assert found.ignored[0].startswith("2 folders ")
