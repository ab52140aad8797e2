"""The printed figures of a published study, shown with our own. A separate room knows the documents and
their content, and answers `find_document` (howlate/rooms.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct

from howlate.errors import UsageError
from howlate.model.decode import members
from howlate.rooms import hooks


class PrintedFigure(Struct, frozen=True):
    value: float
    """A time in nanoseconds, or a count."""
    number: float
    """The same in the document's unit."""
    text: str
    """The text as printed."""
    mark: str
    """How certain the transcription is."""
    sign: str = ""
    """The sign that the mark puts behind the figure."""
    meaning: str = ""
    """The meaning of the sign."""
    about: str = ""
    """A sign if the document itself says "about"."""


class PrintedLine(Struct, frozen=True):
    """A row of a document, placed in one of our tables, for one column of the samples."""

    label: str
    """The document's name for it."""
    table: str
    place: str
    title: str
    samples: int
    """The samples of each row; 0 if the document does not say."""
    preemption: tuple[str, ...]
    """The preemption models of the machines with which the row is shown, and no others; empty: of any, or of none
    if `why` says so."""
    why: str
    """Why none of our figures can be compared with it."""
    figures: Mapping[str, PrintedFigure]
    """By the figures of sides/sides.py."""

    @property
    def values(self) -> dict[str, float]:
        """Times in nanoseconds, and counts."""
        return {name: figure.value for name, figure in self.figures.items()}

    def to_json(self) -> dict[str, Any]:
        return {
            **members(self, "label", "table", "place", "why"),
            "preemption": list(self.preemption),
            "values": self.values,
            "marks": {name: figure.mark for name, figure in self.figures.items()},
        }


class PrintedDocument(Protocol):
    """The document of a published study."""

    def lines(
        self, labels: Mapping[str, str], column: str, parameters: Mapping[str, str]
    ) -> tuple[PrintedLine, ...]:
        """What the document prints for the cells of these labels and one column of their samples, in its
        order."""


def of_both_modes(name: str) -> bool:
    """Whether a document has rows that were measured in user space and rows that were measured in the kernel."""
    return any(tell(name) for tell in hooks("of_both_modes"))


def find_document(name: str) -> PrintedDocument:
    """The document that a study names. UsageError with the nearest name if there is none."""
    for find in hooks("find_document"):
        document: PrintedDocument = find(name)
        return document
    raise UsageError(
        'there are no published figures of "{study}"', remedy="leave [published] out of the study", study=name
    )
