"""Results of tools that howlate does not read, but whose layout another importer would take for its own."""

from __future__ import annotations

import re
from pathlib import Path

from howlate.imports.formats._log import log_head

_JSON = re.compile(r'"cmdline:?": "(?:[^" ]{0,200}/)?(\w+)[ "]')
_READ = ("cyclictest", "oslat")
"""The programs of rt-tests whose JSON howlate reads."""
_BEGINNINGS = {
    "latmus of EVL": re.compile(r"^# (?:libevl version: |clock gravity: )", re.M),
    "latency of Xenomai": re.compile(r"^(?:RTH[|]--|== Sampling period: )", re.M),
    "signaltest": re.compile(r"^T: *[0-9]{1,6} \( *[0-9]{1,10}\) P: *[0-9]{1,3} C:", re.M),
    "pmqtest, ptsematest, sigwaittest or svsematest": re.compile(r"^#[0-9]{1,6} -> #[0-9]{1,6}, Min", re.M),
    "stress-ng": re.compile(r"^stress-ng: (?:info|metrc): ", re.M),
    "runqlat of BCC": re.compile(r"^ *(?:usecs|nsecs|msecs) +: count +distribution", re.M),
}


def unread(path: Path) -> str | None:
    """The tool, if the file is from one of these."""
    text = log_head(path)
    if '"file_version"' in text and (match := _JSON.search(text)) and match[1] not in _READ:
        return f"{match[1]} of rt-tests"
    return next((tool for tool, begins in _BEGINNINGS.items() if begins.search(text)), None)
