"""What `advise` and `why --try` share: their options, and how the result is told."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import replace

from howlate.cli._measure import (
    failure_lines,
    naming_what_is_kept,
    same_command,
    show_plan,
    shown_by,
    tell_interrupted,
    when_quiet,
)
from howlate.cli._options import out_option, output_option, together, within_ns
from howlate.cli._screen import print_document, print_json
from howlate.errors import ExitCode
from howlate.model.units import format_duration
from howlate.words.language import as_called
from howlate.words.printable import printable
from howlate.words.say import say, to_json

if TYPE_CHECKING:
    from howlate.measure.execute import Tally
    from howlate.measure.prepare import PlannedRun
    from howlate.measure.session import Session
    from howlate.targets import Target
    from howlate.why.advise.flow import AdviceRequest, Advised, FirstStage


SHORTEST_NS, LONGEST_NS = 10**8, 3600 * 10**9
FEWEST_PAIRS, MOST_PAIRS = 6, 1000
"""Fewer pairs have no interval of 95 %."""


class AdviseOptions(Struct, frozen=True):
    """How knobs are tried and told."""

    knobs: str = ""
    pairs: int = 12
    figures: tuple[str, ...] = ()
    seed: int = 1
    out: Path | None = None
    output: Path | None = None
    no_wait: bool = False
    dry_run: bool = False
    as_json: bool = False


def _named(_context: click.Context, _option: click.Parameter, value: str | None) -> str:
    """What --knobs names; nothing at all is not all of them."""
    from howlate.why.advise.flips import parse_knobs

    if value is not None:
        parse_knobs(value)
    return value or ""


advise_options = together(
    "options",
    AdviseOptions,
    [
        click.option(
            "--knobs",
            callback=_named,
            metavar="A,B,...",
            help="Only these knobs, each with the value to try if you choose it: thp,rt_throttling=off.",
        ),
        click.option(
            "--pairs",
            type=click.IntRange(FEWEST_PAIRS, MOST_PAIRS),
            default=12,
            show_default=True,
            metavar="N",
            help="Number of measurements of each side.",
        ),
        click.option(
            "--quantile",
            "figures",
            type=click.Choice(["0.5", "0.99", "0.999", "0.9999", "max"]),
            multiple=True,
            metavar="Q",
            help="What is compared: 0.5, 0.99, 0.999, 0.9999 or max; may be repeated (default: 0.99 and max).",
        ),
        click.option(
            "--seed",
            type=click.IntRange(0),
            default=1,
            show_default=True,
            metavar="N",
            help="Random order of the cells.",
        ),
        out_option(),
        output_option("Write the page here as well."),
        click.option("--no-wait", is_flag=True, help="Do not wait until this machine is quiet."),
        click.option("--dry-run", is_flag=True, help="Show the plan and its time; measure nothing."),
        click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/advise.md)."),
    ],
)


def advise(asked: AdviceRequest, target: Target, options: AdviseOptions) -> int:
    """Measure as asked, tell what each knob buys, and return an exit code."""
    from howlate.measure.session import begin
    from howlate.why.advise.flow import first_stage, measured

    session = None
    with contextlib.closing(target):
        stage = first_stage(asked, target)
        if options.dry_run:
            show_plan(stage.planned_run, as_json=options.as_json)
            return ExitCode.DONE
        session = begin(stage.planned_run, options.out, more_points=True)
        try:
            session = _when_quiet(session, options, target)
            advised = measured(stage, target, session, _execute)
        except KeyboardInterrupt as interrupt:
            again = (
                f"{same_command(session)}. {shown_by(session)} shows the cells; the result needs all of them"
            )
            return tell_interrupted(session, interrupt, again, "every knob is as it was")
    _tell(advised, stage, options)
    return advised.exit_code


def with_length(asked: AdviceRequest, seconds: str) -> AdviceRequest:
    """The request with cells of this length; UsageError if that is not possible."""
    duration_ns = length_ns(seconds)
    counts = ("duration", "activations", "points")
    kept = {name: value for name, value in asked.measuring.settings.items() if name not in counts}
    settings = {**kept, "duration": format_duration(duration_ns)}
    return replace(asked, measuring=replace(asked.measuring, settings=settings))


def length_ns(seconds: str) -> int:
    """Of a cell, as --cell-duration spells it; UsageError if that is not possible."""
    return within_ns("--cell-duration", seconds, SHORTEST_NS, LONGEST_NS)


def _when_quiet(session: Session, options: AdviseOptions, target: Target) -> Session:
    from howlate.measure.quiet import ThisMachine, limit_of

    limit_s = limit_of(os.environ)
    if options.no_wait or target.name != "local" or not session.cells or not limit_s:
        return session
    return when_quiet(session, ThisMachine().look(tasks=False), limit_s)


def _execute(prepared: PlannedRun, session: Session) -> Tally:
    from howlate.cli._progress import execute_cells

    return execute_cells(prepared, session)


def _tell(advised: Advised, stage: FirstStage, options: AdviseOptions) -> None:
    """The table, what it says, and where the report is; the folder last."""
    from howlate.document.document import Document
    from howlate.document.sheet import TERMINAL
    from howlate.why.advise.document import remedies, sections

    path = advised.session.folder.path
    not_tried = [each.statement for each in stage.flips.not_tried]
    if options.as_json:
        value = {
            "schema": 1,
            "run": str(path),
            "clock": advised.content.run.clock,
            **advised.advice.to_json(),
        }
        value["not_tried"] = [{"knob": n.knob, **to_json(n.statement)} for n in stage.flips.not_tried]
        value["for_good"] = list(remedies(advised.advice.helping, advised.content))
        print_json(value)
        with naming_what_is_kept(path):
            _write(advised, path, options.output)
        return
    shown = Document(tuple(sections(advised.content, TERMINAL, advised.advice)))
    print_document(shown)
    click.echo()
    broken = [failure for failure in advised.tally.failures if failure.exit_code != ExitCode.NOT_POSSIBLE]
    for line in (*failure_lines(broken, advised.content.run.axes, path), *map(say, not_tried)):
        click.echo(as_called(f"! {line.removeprefix('! ')}"))
    try:
        with naming_what_is_kept(path):
            click.echo(f"report: {_write(advised, path, options.output)}")
    finally:
        click.echo(printable(str(path)))


def _write(advised: Advised, path: Path, output: Path | None) -> Path:
    from howlate.document.html import write_report

    report = write_report([advised.content], path / "report.html")
    return report if output is None else write_report([advised.content], output, "-o")
