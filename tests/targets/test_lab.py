"""The lab as a target, where no guest has to run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from howlate.lab.archive import Package
from howlate.targets.lab import open_lab


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
