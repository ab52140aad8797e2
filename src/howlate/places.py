"""Where things stand: the probe, the studies, the runs."""

from __future__ import annotations

import os
from pathlib import Path

from howlate.errors import TargetError

ROOT = Path(__file__).resolve().parents[2]
STUDIES = ROOT / "studies"
RUNS = Path("runs")
"""Below the working folder."""


def probe_path() -> Path:
    """The probe built for this machine: $HOWLATE_PROBE, else build/probe/howlate-probe of this repository."""
    path = Path(os.environ.get("HOWLATE_PROBE") or ROOT / "build" / "probe" / "howlate-probe")
    try:
        there = path.is_file()
    except OSError as problem:
        raise TargetError(
            f"{path} cannot be looked at: {problem.strerror}", "make its folder readable for yourself"
        ) from None
    if not there:
        raise TargetError(
            f"the probe is not built ({path} is not there)", "./howlate builds it when it is called"
        )
    if not os.access(path, os.X_OK):
        raise TargetError(f"{path} cannot be executed", "make it executable, or let ./howlate build it again")
    return path
