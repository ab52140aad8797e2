"""The document of a published study, as the comparison needs it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from howlate.published.counterparts import printed_lines
from howlate.published.reference import Reference
from howlate.sides.printed_figures import PrintedLine


class StudyDocument(Struct, frozen=True):
    """A reference, with the figures that it prints for our cells."""

    reference: Reference

    def lines(
        self, labels: Mapping[str, str], column: str, parameters: Mapping[str, str]
    ) -> tuple[PrintedLine, ...]:
        return printed_lines(self.reference, labels, column, parameters)
