"""Settings of this machine that tests change."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.commands import PROBE
from lacks import AS_ROOT, skip


@contextmanager
def put_back(setting: Path) -> Iterator[str]:
    """A setting's text before the test, to which it is put back: to the word in brackets where it lists several."""
    if not os.access(setting, os.W_OK):
        skip("the right to change a setting of this machine", AS_ROOT)
    text = setting.read_text()
    try:
        yield text
    finally:
        subprocess.run([PROBE, "restore"], check=False)
        if setting.read_text() != text:
            setting.write_text(text.partition("[")[2].partition("]")[0] or text)
