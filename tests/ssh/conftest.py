"""The machine of the tests over SSH."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from processes import until
from ssh.server import Server, serving


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with serving(tmp_path, monkeypatch) as one:
        yield one
        assert until(lambda: not one.folders()), one.folders()
        one.cut()  # that of a killed howlate lasts a minute
        assert until(lambda: not one.started()), one.started()
