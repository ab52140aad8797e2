"""The histogram of `rtla timerlat hist`: per CPU the latency of the timer's interrupt, of the thread that it wakes,
and with -u of the return to user space, each from the timer's expiry on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from howlate.imports.formats._foreign import Foreign, importer
from howlate.imports.formats._rtla import read_histogram
from howlate.imports.formats._text import log_head

COLUMNS = {"IRQ": "irq_latency_ns", "Thr": "thread_latency_ns", "Usr": "user_latency_ns"}


def recognises(path: Path) -> bool:
    return "# RTLA timerlat histogram" in log_head(path)


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    return read_histogram(path, "timerlat", COLUMNS)


IMPORTER = importer("timerlat", "a histogram of rtla timerlat (hist)", recognises, read_file)
