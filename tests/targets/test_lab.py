"""The lab as a target, where no guest has to run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from fakes import LIST, capabilities, study
from howlate.errors import StorageError
from howlate.lab.archive import Package
from howlate.lab.bench import Bench, Line
from howlate.plan import make_plan
from howlate.targets.lab import LabTarget, open_lab
from lab.made_archive import bzimage


class NoArchive:
    """One that must not be asked."""

    def packages(self, refresh: bool = False) -> Sequence[Package]:
        raise AssertionError("the archive was asked")

    def fetch(self, package: Package, folder: Path) -> Path:
        raise AssertionError("a package was fetched")

    def places(self) -> Sequence[tuple[str, str, Path]]:
        raise AssertionError("the archive was asked")


def test_nothing_is_fetched_once_it_is_stopped(tmp_path: Path) -> None:
    target = open_lab("6.1,6.1-rt", archive=NoArchive(), cache=tmp_path)
    target.stop()
    for machine in target.machines:
        with pytest.raises(KeyboardInterrupt):
            target.facts(machine)


def test_a_stream_that_cannot_be_written_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bzImage-made"
    file.write_bytes(bzimage("6.9.1"))
    left = [Line("0", b"", b"", {"stream": b"x"})]
    monkeypatch.setattr(Bench, "run", lambda *_: left)
    monkeypatch.setattr(LabTarget, "_ask", lambda *_: LIST)
    monkeypatch.setenv("HOWLATE_PROBE", sys.executable)  # some file: nothing is run
    target = open_lab("", own=[file], archive=NoArchive(), cache=tmp_path / "cache")
    cell = make_plan(study(axes={"load": ("none",)}), capabilities()).cells[0]
    assert target.run_cell(cell, tmp_path / "stream", lambda _: None).measured
    with pytest.raises(StorageError, match="could not be written"):
        target.run_cell(cell, tmp_path / "absent" / "stream", lambda _: None)
