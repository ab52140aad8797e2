"""Every foreign format that the tests know, and their files: each module made_NAME.py here has its FORMATS."""

import importlib
from pathlib import Path

from msgspec.structs import replace

from imports.made import FIXTURES, LATENCY, File, Format

__all__ = ["BY_NAME", "FILES", "FIXTURES", "FORMATS", "LATENCY", "File"]

FORMATS: tuple[Format, ...] = tuple(
    format
    for path in sorted(Path(__file__).parent.glob("made_*.py"))
    for format in importlib.import_module(f"imports.{path.stem}").FORMATS
)
FILES = tuple(replace(file, format=format.name) for format in FORMATS for file in format.files)
"""Those of cyclictest, oslat and jitterdebugger are what the programs of Debian wrote; the others are laid out as the
tools' sources do it."""
BY_NAME = {file.name: file for file in FILES}
"""Each file once."""
