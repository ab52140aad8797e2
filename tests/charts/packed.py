"""The numbers that travel with a picture, read back."""

from howlate.figures.svg import DIGITS


def unpack(text: str) -> list[int]:
    """The inverse of `pack`; document/page.js has it for a page."""
    values: list[int] = []
    value = rest = shift = 0
    for char in text:
        digit = DIGITS.index(char)
        rest |= (digit & 31) << shift
        shift += 5
        if digit < 32:
            value += -(rest >> 1) if rest & 1 else rest >> 1
            values.append(value)
            rest = shift = 0
    return values
