"""What `check` and `run` share: prepare, measure, tell."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.errors import ExitCode

if TYPE_CHECKING:
    from howlate.execute import Tally
    from howlate.session import Asked, Prepared, Session
    from howlate.targets import Target


def measure(
    asked: Asked, target: Target, out: Path | None, resume: bool, dry_run: bool, as_json: bool
) -> int:
    """From what is asked to an exit code."""
    from howlate.session import begin, newest_unfinished, prepare

    prepared = prepare(asked, target)
    if dry_run:
        show_plan(prepared, as_json)
        return ExitCode.DONE
    if resume and out is None:
        out = newest_unfinished(asked.study.id)
    session = begin(prepared, out)
    try:
        tally = _execute(prepared, session)
    except KeyboardInterrupt:
        return _interrupted(session, asked)
    tell(session, tally, as_json)
    return tally.exit_code


def _execute(prepared: Prepared, session: Session) -> Tally:
    from howlate.cli._progress import ProgressLine
    from howlate.errors import HowlateError
    from howlate.execute import execute

    line = ProgressLine(tuple(prepared.run.study.axes))
    try:
        return execute(
            session.folder,
            session.run.plan,
            session.cells,
            prepared.target,
            prepared.can,
            line,
            prepared.broken,
        )
    except HowlateError as problem:
        go_on = f"what is whole is kept in {session.folder.path}; the same command with --out goes on"
        problem.remedy = f"{problem.remedy}; {go_on}" if problem.remedy else go_on
        raise
    finally:
        line.close()


def _interrupted(session: Session, asked: Asked) -> int:
    whole, cells = len(session.folder.whole_cells()), len(session.run.plan.cells)
    click.echo(
        f"howlate: interrupted with {whole} of {cells} cells whole; they are kept. "
        f"To go on: howlate {asked.command} {asked.given or session.run.study.id} "
        f"--out {session.folder.path}{_again(session, asked)}",
        err=True,
    )
    click.echo(session.folder.path)
    return ExitCode.INCONCLUSIVE


def _again(session: Session, asked: Asked) -> str:
    """The options that the run was made with, so that the sentence can be pasted."""
    import shlex

    words = [f"--set={name}={value}" for name, value in session.run.changes.items()]
    if session.run.scale != 1:
        words.append(f"--scale={session.run.scale:g}")
    if session.run.target != "local" and asked.command == "run":
        words.append(f"--target={session.run.target}")
    words += asked.options
    return "".join(f" {shlex.quote(word)}" for word in words)


def tell(session: Session, tally: Tally, as_json: bool) -> None:
    """The table, what makes this machine late, what else to know, the report's path, and the folder last."""
    import json

    from howlate.report.html import write_report

    report = session.folder.path / "report.html"
    summaries = session.folder.summaries()
    if summaries:
        write_report(session.folder.path, report)
    if as_json:
        from howlate.report.terminal import show_json

        value = json.loads(show_json(summaries))
        value["run"] = str(session.folder.path)
        value["failed"] = [
            {"id": f.cell.id, "exit_code": int(f.exit_code), "message": f.message} for f in tally.failures
        ]
        click.echo(json.dumps(value, indent=1, ensure_ascii=False))
        return
    print_run(session, tally)
    if summaries:
        click.echo(f"report: {report}")
    click.echo(session.folder.path)


def print_run(session: Session, tally: Tally) -> None:
    """Everything above the paths."""
    from rich.console import Console

    from howlate.cli._progress import described
    from howlate.model.finding import Finding
    from howlate.report.content import measured_seconds
    from howlate.report.terminal import print_cells, print_findings

    console, axes = Console(highlight=False), tuple(session.run.study.axes)
    print_cells(console, session.folder.summaries(), measured_seconds(session.folder))
    for failure in tally.failures:
        click.echo(f"! {described(failure, axes)}")
    for warning in session.run.warnings:
        click.echo(f"! {warning}")
    findings = [Finding.from_json(dict(f)) for f in session.run.findings]
    if any(f.level == "late" for f in findings):
        click.echo("\nWhat makes this machine late:")
        print_findings(console, findings, most=3)
    click.echo()


def show_plan(prepared: Prepared, as_json: bool) -> None:
    """`--dry-run`: the cells in order and the time they take."""
    import json

    from howlate.cli._progress import clock

    plan = prepared.run.plan
    if as_json:
        value = {"schema": 1, "expected_s": plan.expected_s, **plan.to_json()}
        click.echo(json.dumps(value, indent=1, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    axes = list(prepared.run.study.axes)
    for column in ("", *axes, "time", "cell"):
        table.add_column(column, overflow="fold")
    for number, cell in enumerate(plan.cells, 1):
        time = f"not possible here: {cell.impossible}" if cell.impossible else clock(cell.expected_s)
        table.add_row(str(number), *(cell.labels.get(axis, "") for axis in axes), time, cell.id)
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 200).print(table)
    possible = sum(1 for cell in plan.cells if not cell.impossible)
    click.echo(
        f"\n{possible} of {len(plan.cells)} cells, about {clock(plan.expected_s)} in all; nothing measured."
    )
