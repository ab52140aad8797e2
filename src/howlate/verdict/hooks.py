"""What this room adds to howlate, by the names of the hook functions (howlate/rooms.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from howlate.rooms import later, modules_in

if TYPE_CHECKING:
    from howlate.document.first_screen.on_screen import Ruled
    from howlate.document.report_input import ReportInput
    from howlate.model.loaded import RunContent


modules_of_results = modules_in("howlate.verdict", without="measured_rounds")
"""For words/rooms.py: the modules here whose texts are translated."""
parts = later("howlate.verdict.in_report", "PARTS")
"""For document/of_runs.py: the section of the verdicts."""


def judges(material: ReportInput) -> bool:
    """For document/of_runs.py: whether a deadline was stated."""
    from howlate.verdict.in_report import rows

    return bool(material.once(rows))


def ruled(material: ReportInput) -> Ruled | None:
    """For document/first_screen/screen.py: the verdict on the run; None where no deadline was stated."""
    if not judges(material):
        return None
    from howlate.verdict.on_screen import ruled

    return ruled(material)


def rulings(content: RunContent) -> dict[str, str]:
    """For document/results.py: PASS, FAIL or INCONCLUSIVE by the id of a point or cell."""
    from howlate.verdict.in_report import rows_of

    if not (rows := rows_of(content)):
        return {}
    from howlate.verdict.on_screen import by_id

    return by_id(rows)


json_members = later("howlate.verdict.in_report", "json_members")
"""For document/of_runs.py: `verdicts`, if a deadline was stated."""
exit_code = later("howlate.verdict.whole", "exit_code")
"""For cli/_measure.py: that of the verdicts, unless something was not measured."""


def measuring_options() -> Callable[[Any], Any]:
    """For cli/_options.py: until when a run is measured."""
    from howlate.verdict.cli._until import until_options

    return until_options
