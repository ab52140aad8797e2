"""Comparisons in the document of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from howlate.document.document import Section, Texts
from howlate.document.report_input import DocumentPart, ReportInput
from howlate.document.sheet import PAGE, TERMINAL
from howlate.model.loaded import RunContent
from howlate.words.say import Text
from howlate.words.statement import Caption, Listed

if TYPE_CHECKING:  # what compares is imported where there is something to compare
    from howlate.compare.compare import Comparison


def comparison(runs: Sequence[RunContent], by: str) -> Comparison | None:
    from howlate.compare.compare import compare, compare_if_several

    return compare(runs, by) if by else compare_if_several(runs)


def lead(material: ReportInput) -> Sequence[Text]:
    """How many rows differ between the sides, and which way to sleep was the least late."""
    from howlate.compare.least_late import least_late

    least = least_late(material.summaries, material.folder)
    if material.style is TERMINAL or material.comparison is None or len(_comparison(material).sides) < 2:
        return least
    from howlate.compare.screen import headline

    word, told = headline(_comparison(material))
    return [Listed((word, told), ": "), *least] if word or len(material.runs) > 1 else least


def side_by_side(material: ReportInput) -> Iterator[Section]:
    if material.comparison is not None:
        from howlate.compare.document import section

        yield section(_comparison(material), material.fit.in_tables)


def printed(material: ReportInput) -> Iterator[Section]:
    """In the terminal, for one run: the tables with the figures of its study's document."""
    study = material.runs[0].run.study.reference
    if study and material.comparison is not None and len(material.runs) == 1:
        from howlate.compare.document import published

        sheets = published(_comparison(material))
        title = Caption("As {study} printed it (`howlate compare {run}`):", study=study, run=material.folder)
        opening = Texts("opening", (title,))
        yield Section("published", (opening, *sheets) if sheets else ())


PARTS = (DocumentPart(90, side_by_side, (PAGE,)), DocumentPart(160, printed, (TERMINAL,)))


def _comparison(material: ReportInput) -> Comparison:
    return cast("Comparison", material.comparison)
