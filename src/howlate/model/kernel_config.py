"""A kernel's configuration, as its text says it."""

from __future__ import annotations

import re
from collections.abc import Mapping

Config = Mapping[str, str]
"""CONFIG_X -> y, m or a value as it stands; what is not set is not in it."""
_LINE = re.compile(r"^(CONFIG_\w+)=(.*)$", re.MULTILINE)


def parse_config(text: str) -> dict[str, str]:
    """A .config."""
    return {name: value.strip() for name, value in _LINE.findall(text)}
