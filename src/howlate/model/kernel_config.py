"""A kernel's configuration, as its text says it."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode
from collections.abc import Mapping
from typing import Any

Config = Mapping[str, str]
"""CONFIG_X -> y, m or a value as it stands; what is not set is not in it."""
_LARGEST = 16 << 20
_LINE = re.compile(r"^(CONFIG_\w+)=(.*)$", re.MULTILINE)


def parse_config(text: str) -> dict[str, str]:
    return {name: value.strip() for name, value in _LINE.findall(text)}


def unpack_config(packed: Any) -> dict[str, str]:
    """The options of /proc/config.gz as the probe hands it over, {"options": "HZ SMP ...", "gzip": base64}, named
    without CONFIG_; ValueError if it is damaged."""
    texts = [packed.get(key) for key in ("options", "gzip")] if isinstance(packed, dict) else []
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ValueError("it was not handed over whole")
    unpacker = zlib.decompressobj(wbits=31)
    try:
        text = unpacker.decompress(b64decode(packed["gzip"], validate=True), _LARGEST)
    except (ValueError, zlib.error) as error:
        raise ValueError(f"the compressed file is damaged: {error}") from None
    if not unpacker.eof:
        raise ValueError("the compressed file is damaged: it ends early, or is too large")
    names = set(packed["options"].split())
    options = parse_config(text.decode(errors="replace"))
    return {name: options[f"CONFIG_{name}"] for name in sorted(names) if f"CONFIG_{name}" in options}
