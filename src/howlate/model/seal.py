"""A checksum inside a JSON file, by which howlate detects that somebody changed a value by hand.

The checksum is in the file that it covers, so both are always replaced together. It covers the values and not
the text, so reformatting the file changes nothing. It detects accidents and edits, not a forger who computes
it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

CHECKSUM = "checksum"
"""The member that holds it."""
_ALGORITHM = "blake2b-256"


def sealed(value: Mapping[str, Any]) -> dict[str, Any]:
    """The object with its checksum as the last member."""
    stored = json.loads(json.dumps({name: member for name, member in value.items() if name != CHECKSUM}))
    return {**stored, CHECKSUM: _digest(stored)}


def is_changed(value: Mapping[str, Any]) -> bool:
    """Whether the values differ from those that the checksum covers; False if an older howlate stored none."""
    if CHECKSUM not in value:
        return False
    try:
        return bool(value[CHECKSUM] != _digest(value))
    except RecursionError:
        return True


def _digest(value: Mapping[str, Any]) -> str:
    rest = {name: member for name, member in value.items() if name != CHECKSUM}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return f"{_ALGORITHM}:{hashlib.blake2b(text.encode(), digest_size=32).hexdigest()}"
