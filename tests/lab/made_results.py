"""Results as a guest writes them."""

from collections.abc import Mapping

import google_crc32c

from howlate.lab.guests.window import FILE_HEAD, padded


def encode_tree(files: Mapping[str, bytes]) -> bytes:
    """A result as the guest writes it."""
    out = bytearray()
    for name in sorted(files):
        raw, data = name.encode(), files[name]
        out += FILE_HEAD.pack(len(raw), google_crc32c.value(data), len(data))
        for part in (raw, data):
            out += part + bytes(padded(len(part)) - len(part))
    return bytes(out)
