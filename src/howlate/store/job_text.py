"""The text of a job (docs/job.md), which a guest, a machine over SSH and a board by hand run alike."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence


def job_text(lines: Iterable[Sequence[str]]) -> bytes:
    """A job: one argv a line, as a JSON array."""
    return "".join(json.dumps(list(line), ensure_ascii=False) + "\n" for line in lines).encode()
