"""The histogram of `rtla osnoise hist`: per CPU how long each noise took. From which length on it counts (-T) the
file does not say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from howlate.imports.formats._foreign import Foreign, importer
from howlate.imports.formats._rtla import read_histogram
from howlate.imports.formats._text import log_head

COLUMNS = {"CPU": "noise_ns"}


def recognises(path: Path) -> bool:
    return "# RTLA osnoise histogram" in log_head(path)


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    foreign = read_histogram(path, "osnoise", COLUMNS)
    return replace(foreign, known=replace(foreign.known, threshold_ns=None, missed_releases=True))


IMPORTER = importer("osnoise", "a histogram of rtla osnoise (hist)", recognises, read_file)
