"""A small suite with the marks and the accounting of this one."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from howlate.system.paths import ROOT


def suite(folder: Path, files: Mapping[str, str]) -> Path:
    """A suite of these test files."""
    tests = folder / "tests"
    for name, text in files.items():
        (tests / name).parent.mkdir(parents=True, exist_ok=True)
        (tests / name).write_text(text)
    for name in ("conftest.py", "lacks.py", "made_once.py", "spent.py"):
        shutil.copy(ROOT / "tests" / name, tests)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder
