"""Decide whether a run keeps a deadline: PASS, FAIL or INCONCLUSIVE."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import asdict

from howlate.cli._measure import print_brief
from howlate.cli._named import run_argument
from howlate.cli._options import OutputPath, brief_option, duration_ns, limit_ns_of, together
from howlate.cli._say import say
from howlate.cli._screen import print_items, print_json, print_lines
from howlate.errors import UsageError
from howlate.words.printable import shell_line, shell_path
from howlate.words.statement import Statement

if TYPE_CHECKING:
    from howlate.model.loaded import RunContent
    from howlate.verdict.judge import Judged
    from howlate.verdict.ruling import Question


class _Outputs(Struct, frozen=True):
    """The files that the verdict is written to as well."""

    junit: Path | None
    summary: Path | None


_outputs = together(
    "outputs",
    _Outputs,
    (
        click.option("--junit", type=OutputPath(), metavar="FILE", help="Write a JUnit file too."),
        click.option(
            "--summary",
            type=OutputPath(),
            metavar="FILE",
            help="Write a summary in Markdown too.",
        ),
    ),
)


class _Asked(Struct, frozen=True):
    """What the verdict is about."""

    deadline: str | None
    miss_rate: float
    horizon: str | None
    cluster: float
    confidence: float

    @property
    def again(self) -> str:
        """The command that prints all, but for the run."""
        usual = asdict(_Asked(None, 0.0, None, 1.0, 0.95))
        given = {name: value for name, value in asdict(self).items() if value != usual[name]}
        options = [
            word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", str(value))
        ]
        return shell_line(["verdict", "--all", *options])


_asked = together(
    "about",
    _Asked,
    (
        click.option("--deadline", metavar="TIME", help="Default: the one that the run was measured with."),
        click.option(
            "--miss-rate",
            type=float,
            default=0.0,
            metavar="RATE",
            help="Share of the releases that may miss it, such as 1e-6 (default: none).",
        ),
        click.option(
            "--horizon",
            metavar="TIME",
            help="Time for which the largest value is a bound (default: what the run can bound, at 0.95 a nineteenth "
            "of its length). With --miss-rate it is judged only where this is given.",
        ),
        click.option(
            "--cluster",
            type=float,
            default=1.0,
            metavar="SIZE",
            help="How many misses come together at most, where too few were seen to say it (default: 1).",
        ),
        click.option(
            "--confidence",
            type=float,
            default=0.95,
            show_default=True,
            metavar="SHARE",
            help="Confidence of each bound.",
        ),
    ),
)


@click.command(epilog="Example: howlate verdict runs/20260102T030405-check --deadline 200us")
@run_argument()
@_asked
@click.option(
    "--extrapolate",
    is_flag=True,
    help="Say as well what a model of the tail expects beyond the data, unless a guard refuses it; decides nothing.",
)
@_outputs
@brief_option
@click.option(
    "--all", "every", is_flag=True, help="Show it in sentences, with each CPU and each column that is judged."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/verdict.md).")
def command(
    run: Path,
    about: _Asked,
    *,
    extrapolate: bool,
    outputs: _Outputs,
    brief: bool,
    every: bool,
    as_json: bool,
) -> int:
    """Decide whether the machine that RUN was measured on keeps a deadline. Exit code 0: PASS, 1: FAIL,
    5: INCONCLUSIVE."""
    from howlate.document.missing import missing_of
    from howlate.document.report_input import ReportInput
    from howlate.document.sheet import TERMINAL
    from howlate.store.files import write_output
    from howlate.store.loaded import load_run
    from howlate.verdict.document import junit as as_junit
    from howlate.verdict.document import markdown
    from howlate.verdict.in_report import rows as judged_rows
    from howlate.verdict.of_run import case_names, doubts_of, json_of, on_deadline, verdicts_of
    from howlate.verdict.screen import screen
    from howlate.verdict.whole import EXIT_CODES, code_of, outcome_of, ruling_of

    question = question_from(about.deadline, about.miss_rate, about.horizon, about.confidence, about.cluster)
    with say.living("reading the run"):
        content = load_run(run, bins=False, kernels=False)
        if question.deadline_ns:
            content = on_deadline(run, content, question.deadline_ns)
        rows = verdicts_of(run, content, question, extrapolate=extrapolate)
    verdicts = [row.verdict for row in rows]
    slower = doubts_of(run, content, rows)
    material = ReportInput([content], TERMINAL, folder=shell_path(run)).made_before(judged_rows, rows)
    if as_json:
        print_json(json_of(run, content, rows, slower))
    elif every and not brief:
        _print(rows, content, slower)
    elif not brief:
        print_lines(lambda width, letters: screen(material, slower, about.again, width, letters=letters))
    if outputs.junit is not None:
        names = case_names(content.run, rows)
        write_output(
            outputs.junit,
            as_junit(content.run.study.id, names, verdicts, slower, missing_of(content)),
            "--junit",
        )
    if outputs.summary is not None:
        write_output(outputs.summary, markdown(content.run.id, verdicts, slower, content), "--summary")
    ruling = ruling_of(outcome_of(verdicts), content)
    if brief or not as_json:
        print_brief(material, asked=brief)
    return code_of(ruling, EXIT_CODES[ruling], [content])


def question_from(
    deadline: str | None, miss_rate: float, horizon: str | None, confidence: float, cluster: float = 1.0
) -> Question:
    """The question, decoded; its deadline is 0 where none was given. UsageError says what is wrong with it."""
    from howlate.verdict.ruling import Question

    for option, value, least, below, example in (
        ("--miss-rate", miss_rate, 0, 1, "1e-6"),
        ("--confidence", confidence, 0.5, 1, "0.95"),
        ("--cluster", cluster, 1, math.inf, "4"),
    ):
        if not least <= value < below:
            raise UsageError(
                "{option} must be {range}, not {value}",
                remedy="write it like {example}",
                option=option,
                range=f"from {least} to below {below}" if below < math.inf else f"at least {least}",
                value=value,
                example=example,
            )
    horizon_ns = None if horizon is None else duration_ns("--horizon", horizon)
    if horizon_ns == 0 and not miss_rate:
        raise UsageError(
            "--horizon 0 judges only the rate, which needs --miss-rate",
            remedy="give --miss-rate, or leave out --horizon",
        )
    deadline_ns = 0 if deadline is None else limit_ns_of("--deadline", deadline)
    horizon_s = None if horizon_ns is None else horizon_ns / 1e9
    return Question(deadline_ns, miss_rate, horizon_s, confidence, cluster)


def _print(rows: Sequence[Judged], content: RunContent, slower: Sequence[Statement]) -> None:
    from howlate.document.document import texts
    from howlate.verdict.document import each, items

    verdicts = [row.verdict for row in rows]
    told = (*items(verdicts, content), *texts("more", slower), *each([(r.verdict, *r.others) for r in rows]))
    print_items(told)
