"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from howlate.compare.compare import Comparison
    from howlate.document.report_input import DocumentPart, ReportInput
    from howlate.model.loaded import RunContent
    from howlate.words.say import Text


def modules_of_results() -> tuple[str, ...]:
    """For words/rooms.py: the modules here whose texts are translated."""
    return (
        "howlate.compare.boundaries",
        "howlate.compare.compare",
        "howlate.compare.conclusions",
        "howlate.compare.document",
        "howlate.compare.equal",
        "howlate.compare.in_report",
        "howlate.compare.least_late",
        "howlate.compare.relations",
        "howlate.compare.screen",
        "howlate.compare.trends",
    )


def comparison(runs: Sequence[RunContent], by: str) -> Comparison | None:
    """For document/of_runs.py: along the label `by`, else of kernels if there are several."""
    from howlate.compare.in_report import comparison

    return comparison(runs, by)


def parts() -> tuple[DocumentPart, ...]:
    """For document/of_runs.py: the comparison on the page, a study's tables in the terminal."""
    from howlate.compare.in_report import PARTS

    return PARTS


def lead(material: ReportInput) -> Sequence[Text]:
    """For document/of_runs.py: what its conclusions begin with."""
    from howlate.compare.in_report import lead

    return lead(material)
