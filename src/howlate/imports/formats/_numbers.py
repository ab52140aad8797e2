"""Files with millions of lines of whole numbers, read in pieces: a piece that matches as a whole is converted at
once, another is read line by line for the one that is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from howlate.errors import UsageError
from howlate.imports.formats._text import Line, cut
from howlate.model.decode import UNREADABLE

PIECE = 1 << 20


class NumberRows(Struct, frozen=True):
    """How the lines look: `line` matches one with its end, and has as many numbers as there are `columns`."""

    line: str
    """A regular expression of bytes, without groups."""
    columns: int
    separators: bytes
    """Characters between the numbers, blanks aside."""
    what: str
    """What a line is called."""
    begins: tuple[str, ...] = ()
    """How a result begins: such a line between the numbers is of a second one."""

    def read(self, path: Path, skip: int = 0) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
        """Pieces of the file behind its first `skip` lines: the number of their first line, and their numbers, a row
        a line."""
        pattern = re.compile(rb"(?:" + self.line.encode() + rb")+")
        blank = bytes.maketrans(self.separators, b" " * len(self.separators))
        try:
            with path.open("rb") as file:
                for _ in range(skip):
                    file.readline(PIECE)
                number = skip + 1
                while piece := file.read(PIECE):
                    piece += file.readline(PIECE)
                    if not pattern.fullmatch(piece):
                        raise self._wrong(path, number, piece)
                    values = np.array(piece.translate(blank).split(), dtype=np.int64)
                    yield number, values.reshape(-1, self.columns)
                    number += piece.count(b"\n")
        except OSError as problem:
            raise UsageError(UNREADABLE(path=path, reason=problem.strerror or problem)) from None

    def _wrong(self, path: Path, number: int, piece: bytes) -> Exception:
        pattern = re.compile(self.line.encode())
        for offset, raw in enumerate(piece.splitlines(keepends=True)):
            if not pattern.fullmatch(raw):
                text = raw.decode("utf-8", "replace").rstrip("\r\n")
                if not raw.endswith(b"\n"):
                    return cut(path, number + offset, "its last line is incomplete")
                line = Line(path, number + offset, text)
                if text.startswith(self.begins):
                    return line.second()
                return line.wrong(f'"{text[:60]}" is not {self.what}')
        return Line(path, number, "").wrong(f"this is not {self.what}")
