"""What stands in a PNG: its pixels, for tests that look at pictures."""

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def pixels_of(path: Path) -> Pixels:
    """Height x width x 3, of a PNG with 8 bits a sample (or fewer, of a palette) and no interlacing."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG"
    chunks: dict[bytes, bytes] = {}
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        chunks[kind] = chunks.get(kind, b"") + data[at + 8 : at + 8 + size]
        at += 12 + size
    width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert not interlaced and (depth == 8 or colours == 3)
    samples = _SAMPLES[colours]
    stride = (width * samples * depth + 7) // 8
    lines = _unfiltered(zlib.decompress(chunks[b"IDAT"]), height, stride, max(1, samples * depth // 8))
    if colours == 3:
        bits = np.unpackbits(lines, axis=1).reshape(height, -1, depth)[:, :width]
        index = bits @ (1 << np.arange(depth)[::-1])
        palette = np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)
        return palette[index]
    whole = lines.reshape(height, width, samples)
    return whole[:, :, :3] if samples >= 3 else np.repeat(whole[:, :, :1], 3, axis=2)


def _unfiltered(raw: bytes, height: int, stride: int, step: int) -> Pixels:
    """The lines as they were before each was told by its neighbours (PNG's filters 0 to 4)."""
    out = np.zeros((height, stride), np.uint8)
    before = bytearray(stride)
    for row in range(height):
        kind, line = (
            raw[row * (stride + 1)],
            bytearray(raw[row * (stride + 1) + 1 : (row + 1) * (stride + 1)]),
        )
        for i in range(stride if kind else 0):
            left = line[i - step] if i >= step else 0
            corner = before[i - step] if i >= step else 0
            told = (0, left, before[i], (left + before[i]) // 2, _nearest(left, before[i], corner))[kind]
            line[i] = (line[i] + told) & 255
        out[row] = np.frombuffer(bytes(line), np.uint8)
        before = line
    return out


def _nearest(left: int, above: int, corner: int) -> int:
    """Paeth's choice."""
    wanted = left + above - corner
    return min((left, above, corner), key=lambda value: abs(wanted - value))


def of_colour(pixels: Pixels, colour: tuple[int, int, int], within: int = 8) -> npt.NDArray[np.bool_]:
    """Where a colour stands."""
    found: npt.NDArray[np.bool_] = (np.abs(pixels.astype(int) - np.array(colour)) <= within).all(axis=2)
    return found
