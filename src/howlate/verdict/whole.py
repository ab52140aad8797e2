"""Verdicts and exit codes of a run that lacks cells: nothing passes without them."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.errors import ExitCode
from howlate.model.loaded import RunContent
from howlate.verdict.judge import stated
from howlate.verdict.ruling import Ruling, Verdict, together
from howlate.words.statement import message

NO_PASS = message(
    "missing.no-pass",
    "INCONCLUSIVE: the rows that are there keep their deadlines, but {count:count} cell of the run is missing.",
    "INCONCLUSIVE: the rows that are there keep their deadlines, but {count:count} cells of the run are missing.",
    by="count",
)
EXIT_CODES = {"PASS": ExitCode.DONE, "FAIL": ExitCode.FAILED, "INCONCLUSIVE": ExitCode.INCONCLUSIVE}


def lacking(content: RunContent) -> int:
    return len(content.gone) + len(content.unmeasured)


def outcome_of(verdicts: Sequence[Verdict]) -> Ruling:
    return together([verdict.outcome for verdict in verdicts])


def ruling_of(outcome: Ruling, content: RunContent) -> Ruling:
    """A miss that was seen stays one."""
    is_whole = not content.gone and not content.unmeasured
    return Ruling.INCONCLUSIVE if outcome is Ruling.PASS and not is_whole else outcome


def code_of(outcome: Ruling, code: ExitCode, contents: Sequence[RunContent]) -> ExitCode:
    """A measured cell that is gone is a damaged run, unless another cell fails."""
    damaged = outcome is not Ruling.FAIL and any(content.gone for content in contents)
    return ExitCode.BROKEN if damaged else code


def exit_code(measured: ExitCode, content: RunContent) -> ExitCode:
    """The verdict on the deadlines that were stated decides, unless something was not measured. `measured`: the exit
    code without it."""
    verdicts = [row.verdict for row in stated(content)]
    if not verdicts or measured not in (ExitCode.DONE, ExitCode.INCONCLUSIVE):
        return measured
    ruling = ruling_of(outcome_of(verdicts), content)
    return measured if ruling is Ruling.PASS else EXIT_CODES[ruling]
