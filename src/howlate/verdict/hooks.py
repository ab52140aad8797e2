"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from howlate.document.first_screen.on_screen import Ruled
    from howlate.document.report_input import DocumentPart, ReportInput
    from howlate.errors import ExitCode
    from howlate.model.loaded import RunContent


def modules_of_results() -> tuple[str, ...]:
    """For words/rooms.py: the modules here whose texts are translated."""
    return (
        "howlate.verdict.charts.matrix",
        "howlate.verdict.document",
        "howlate.verdict.evidence",
        "howlate.verdict.extrapolate",
        "howlate.verdict.forbids",
        "howlate.verdict.in_report",
        "howlate.verdict.judge",
        "howlate.verdict.on_screen",
        "howlate.verdict.row_statements",
        "howlate.verdict.promise_bounds",
        "howlate.verdict.promise_facts",
        "howlate.verdict.promise_sentence",
        "howlate.verdict.rate",
        "howlate.verdict.row_statements",
        "howlate.verdict.screen",
        "howlate.verdict.stretch",
        "howlate.verdict.verdict",
        "howlate.verdict.whole",
    )


def parts() -> tuple[DocumentPart, ...]:
    """For document/of_runs.py: the section of the verdicts."""
    from howlate.verdict.in_report import PARTS

    return PARTS


def judges(material: ReportInput) -> bool:
    """For document/of_runs.py: whether a deadline was stated."""
    from howlate.verdict.in_report import rows

    return bool(material.once(rows))


def ruled(material: ReportInput) -> Ruled | None:
    """For document/first_screen/screen.py: the verdict on the run; None where no deadline was stated."""
    from howlate.verdict.on_screen import ruled

    return ruled(material)


def rulings(content: RunContent) -> dict[str, str]:
    """For document/results.py: PASS, FAIL or INCONCLUSIVE by the id of a point or cell."""
    from howlate.verdict.judge import stated
    from howlate.verdict.on_screen import by_id

    return by_id(stated(content))


def json_members(material: ReportInput) -> dict[str, Any]:
    """For document/of_runs.py: `verdicts`, if a deadline was stated."""
    from howlate.verdict.in_report import json_members

    return json_members(material)


def exit_code(measured: ExitCode, content: RunContent) -> ExitCode:
    """For cli/_measure.py: that of the verdicts, unless something was not measured."""
    from howlate.verdict.whole import exit_code

    return exit_code(measured, content)


def measuring_options() -> Callable[[Any], Any]:
    """For cli/_options.py: until when a run is measured."""
    from howlate.verdict.cli._until import until_options

    return until_options
