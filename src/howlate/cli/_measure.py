"""What `check` and `run` share: prepare, measure, print."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import click
from msgspec.structs import replace

from howlate.cli._options import RunOptions
from howlate.cli._say import say
from howlate.cli._screen import print_document, print_json, print_lines
from howlate.errors import REMEDIED, ExitCode, StorageError, UsageError
from howlate.model.decode import NOT_WITH
from howlate.model.study import PART
from howlate.rooms import hooks
from howlate.words.language import as_called, called
from howlate.words.printable import printable, shell_line, shell_path
from howlate.words.say import english, text_of
from howlate.words.statement import Statement

if TYPE_CHECKING:
    from howlate.measure.session import Session


def tell_interrupted(session: Session, interrupt: KeyboardInterrupt, again: str, restored: str = "") -> int:
    """Say what is kept, print the folder, and return the exit code; what was measured decides nothing. `again`: how
    to go on. `restored`: what is as it was before, said where nothing is known to be left changed."""
    left = [str(note) for note in getattr(interrupt, "__notes__", ())]
    for note in left:
        click.echo(f"howlate: {as_called(note)}", err=True)
    whole, cells = len(session.folder.whole_cells()), len(session.run.plan.cells)
    kept = f"interrupted with {whole} of {cells} cells complete" + (", which are kept" if whole else "")
    also = f"; {restored}" if restored and not left else ""
    click.echo(f"howlate: {kept}{also}. To go on: {again}", err=True)
    click.echo(printable(str(session.folder.path)))
    return ExitCode.INCONCLUSIVE


def same_command(session: Session) -> str:
    return f"the same command with --out {shell_path(session.folder.path)}"


def shown_by(session: Session) -> str:
    return f"`{called()} show {shell_path(session.folder.path)}`"


if TYPE_CHECKING:
    from howlate.cli._progress import ProgressLine
    from howlate.document.report_input import ReportInput
    from howlate.measure.execute import Failure, Tally
    from howlate.measure.prepare import PlannedRun, RunRequest
    from howlate.measure.quiet import Look
    from howlate.measure.session import Session
    from howlate.model.loaded import RunContent
    from howlate.model.run import Run
    from howlate.targets import Target


class RunRounds(Protocol):
    """Until when is measured, round after round over all points: what a room's options ask for
    (`measuring_options` in its hooks.py)."""

    sets: tuple[str, ...]
    """The study's settings that it decides."""

    def whole(self, out: Path | None) -> int:
        """How many rounds of the run at `out` have been measured."""

    def out_of_reach(self, prepared: PlannedRun, whole: int) -> Statement | None:
        """Why nothing is measured, where it cannot be reached in time."""

    def rounds(self, asked: RunRequest, prepared: PlannedRun, whole: int) -> RunRequest:
        """The request with as many rounds as it may take."""

    def planned(self, prepared: PlannedRun) -> PlannedRun:
        """Its plan, with the time between rounds."""

    def execute(
        self,
        prepared: PlannedRun,
        session: Session,
        execute: Callable[[PlannedRun, Session], Tally],
        tell: Callable[[Statement], None],
    ) -> tuple[Session, Tally]:
        """Measure them."""


class RoundsOptions(Protocol):
    """The options, as the command line had them."""

    def checked(self) -> RunRounds | None:
        """None where it is measured once, as planned. UsageError says what is wrong."""


def measure(
    asked: RunRequest,
    target: Target,
    options: RunOptions,
    *,
    wait: bool = True,
    rounds: RoundsOptions | None = None,
    ends_early: bool = False,
    line: ProgressLine | None = None,
) -> int:
    """Measure as asked and return an exit code. `wait`: wait until this machine is quiet, if it is the one that
    measures. `rounds`: the options that let it be measured in rounds. `ends_early`: the run ends with the first cell
    that its threshold ends. `line`: tells how far it is. The verdict on the requested
    deadlines decides the exit code."""
    from howlate.cli._progress import execute_cells
    from howlate.measure.prepare import prepare
    from howlate.measure.quiet import ThisMachine, limit_of
    from howlate.measure.session import begin, ended_early, newest_unfinished

    until = rounds.checked() if rounds is not None else None
    if until is not None and ends_early:
        raise UsageError(NOT_WITH(option="--threshold", other="--until-decided, --rounds or --every"))
    limit_s = limit_of(os.environ) if wait and target.name == "local" else 0.0
    begun = ThisMachine().look(tasks=False)
    with contextlib.closing(target):
        prepared = prepare(asked, target)
        out = options.out
        if options.resume and out is None and not options.dry_run:
            out = newest_unfinished(asked.study.id)
        if until is not None:
            whole = until.whole(out)
            if (why := until.out_of_reach(prepared, whole)) is not None:
                click.echo(english(why))
                return ExitCode.INCONCLUSIVE
            asked = until.rounds(asked, prepared, whole)
            prepared = until.planned(prepare(asked, target))
        if options.dry_run:
            show_plan(prepared, as_json=options.as_json)
            return ExitCode.DONE
        if not any(not cell.impossible for cell in prepared.run.plan.cells):
            return _say_impossible(prepared, as_json=options.as_json)
        session = begin(prepared, out, more_rounds=until is not None)
        if line is not None:
            line.folder = session.folder.path
        if not session.cells:
            _say_nothing_to_do(session)
        try:
            if session.cells and limit_s and not _expects_others(session.run):
                session = when_quiet(session, begun, limit_s)
            if until is not None:
                session, tally = until.execute(
                    prepared, session, execute_cells, lambda waits: click.echo(english(waits), err=True)
                )
            else:
                tally = execute_cells(prepared, session, ends_early=ends_early, line=line)
                if ends_early:
                    session = ended_early(session, exceeded=tally.exceeded > 0)
        except KeyboardInterrupt as interrupt:
            again = _again(session, asked, until.sets if until is not None else ())
            return tell_interrupted(session, interrupt, again)
    content = write_results(session, tally, options)
    return exit_code_of(tally.exit_code, content)


def opened_target(asked: RunRequest, target: str | None) -> Target:
    """The target that --target names, else the settings."""
    from howlate.measure.prepare import requested_kernels
    from howlate.targets import LabOptions, open_target

    lab = LabOptions(cpus=asked.study.cpus or None)
    return open_target(target or asked.settings.target(), requested_kernels(asked), say, lab)


def exit_code_of(measured: ExitCode, content: RunContent) -> ExitCode:
    """What rooms make of the exit code of a run that was measured."""
    decides = hooks("exit_code")
    for decide in decides:
        measured = decide(measured, content)
    if not decides and measured is ExitCode.DONE and any(cell.deadline for cell in content.summaries):
        return ExitCode.INCONCLUSIVE  # a deadline was stated, and nobody judges it
    return measured


def _expects_others(run: Run) -> bool:
    """Other tasks are part of what is measured (`others = expected`), so there is nothing to wait for."""
    return any(cell.parameters.get("others") == "expected" for cell in run.plan.cells)


def when_quiet(session: Session, begun: Look, limit_s: float) -> Session:
    """Wait until the machine is quiet; if the limit passes first, the run says so from then on."""
    from howlate.cli._progress import WaitingLine
    from howlate.measure.quiet import ThisMachine, wait_until_quiet

    machine, line = ThisMachine(), WaitingLine()
    try:
        warning = wait_until_quiet(machine, begun, line.waits, limit_s, machine.tick_s)
    finally:
        line.close()
    if not warning:
        return session
    run = replace(session.run, warnings=(*session.run.warnings, warning))
    session.folder.write_run(run)
    return replace(session, run=run)


def _say_impossible(prepared: PlannedRun, *, as_json: bool) -> int:
    """Print why nothing can be measured, and nothing else: no folder is made for it."""
    from howlate.measure.execute import Failure

    run = prepared.run
    failures = [
        Failure(cell, ExitCode.NOT_POSSIBLE, Statement.verbatim(cell.impossible)) for cell in run.plan.cells
    ]
    if as_json:
        value = {"schema": 1, "cells": [], "run": None}
        value["failed"] = [{"id": f.cell.id, **f.to_json()} for f in failures]
        print_json(value)
    else:
        for line in failure_lines(failures, run.axes):
            click.echo(line, err=True)
        click.echo("howlate: nothing can be measured here, so nothing was written", err=True)
    return ExitCode.NOT_POSSIBLE


def _say_nothing_to_do(session: Session) -> None:
    whole = len(session.folder.whole_cells())
    click.echo(
        f"howlate: nothing was measured: all {whole} cells of {printable(str(session.folder.path))} are complete. "
        "To measure anew, choose another --out",
        err=True,
    )


def _again(session: Session, asked: RunRequest, set_by_howlate: Sequence[str]) -> str:
    """The command with the options with which the run was made, ready to paste."""
    from howlate.plan.matrix import MOST_CELLS
    from howlate.store.continued import command_of

    study = asked.given or session.run.study.id
    words = command_of(session.run, session.folder.path, asked.command, study, set_by_howlate)
    if asked.most_cells != MOST_CELLS:
        words.append(f"--most-cells={asked.most_cells}")
    words += asked.options
    return f"{called()} {shell_line(words)}"


def write_results(session: Session, tally: Tally, options: RunOptions) -> RunContent:
    """Write the page, print the first screen last, and return the run."""
    from howlate.statistics.threshold import threshold_statements
    from howlate.store.loaded import load_run

    path = session.folder.path
    with say.living("reading the run"):
        content = load_run(path)
    material = material_of([content], tally, path, histograms=options.histogram)
    if options.as_json:
        from howlate.document.of_runs import show_json

        failed = [{"id": f.cell.id, **f.to_json()} for f in tally.failures]
        click.echo(show_json(material, run=str(path), failed=failed), nl=False)
        for ended in threshold_statements(content.summaries, content.run):
            click.echo(text_of(ended), err=True)
        with naming_what_is_kept(path):
            _write_report(content, path)
        return content
    page = None
    try:
        with naming_what_is_kept(path):
            page = _write_report(content, path)
    finally:
        if options.histogram and not options.brief:
            print_runs(material)
        print_screen(material, "" if page is None else shell_path(page), brief=options.brief)
    return content


def _write_report(content: RunContent, path: Path) -> Path | None:
    from howlate.document.html import write_report

    with say.living("writing the page"):
        return (
            write_report([content], path / "report.html", folder=shell_path(path)) if content.cells else None
        )


@contextlib.contextmanager
def naming_what_is_kept(path: Path) -> Iterator[None]:
    """A page that cannot be written, on a full disk say, is all that is missing of the run in this folder."""
    try:
        yield
    except StorageError as problem:
        folder = shell_path(path)
        kept = (
            f"what was measured is kept: `howlate show {folder}` prints it, and `howlate report {folder} -o FILE` "
            "writes the page elsewhere"
        )
        remedy = "; ".join(filter(None, (problem.remedy, kept)))
        problem.statement = REMEDIED(problem=problem.statement, remedy=remedy)
        raise


def material_of(
    runs: Sequence[RunContent],
    tally: Tally | None,
    path: Path,
    *,
    every: bool = False,
    histograms: bool = False,
) -> ReportInput:
    """What the terminal shows of runs, all but the paths; `every` cell where they are repeated, instead of each
    point's spread. `path`: as commands are given it."""
    from howlate.document.report_input import ReportInput, compared
    from howlate.document.sheet import TERMINAL

    several = len(runs) > 1 or any(content.run.study.reference for content in runs)
    return ReportInput(
        runs,
        TERMINAL,
        compared(runs) if several else None,
        every=every,
        histograms=histograms,
        failures=tuple(failure_lines(tally.failures, runs[0].run.axes, path)) if tally is not None else (),
        folder=shell_path(path),
    )


def print_screen(material: ReportInput, page: str = "", *, brief: bool = False) -> None:
    """The first screen, and for programs the line that `brief` prints alone. `page`: where the report is."""
    from howlate.document.first_screen.screen import screen

    if not brief:
        print_lines(lambda width, letters: screen(material, width, page, letters=letters))
    print_brief(material, asked=brief)


def print_brief(material: ReportInput, *, asked: bool = False) -> None:
    from howlate.document.first_screen.brief import brief_of

    if asked or not sys.stdout.isatty():
        click.echo(brief_of(material))


def print_runs(material: ReportInput) -> None:
    from howlate.document.of_runs import document

    print_document(document(material))
    click.echo()


def failure_lines(
    every: Iterable[Failure], axes: tuple[str, ...], folder: Path | None = None
) -> Iterator[str]:
    """Each reason once, with the first cell that it affected and how many more."""
    from howlate.cli._progress import described

    for failures in alike(every):
        yield f"! {described(failures[0], axes)}"
        if failures[0].console and folder is not None:
            yield f"  the whole console: {folder / failures[0].console}"
        if len(failures) > 1:
            more = len(failures) - 1
            cells = "cell" if more == 1 else "cells"
            cell = failures[0].cell
            whose = " of this kernel" if cell.machine else " of this part" if PART in cell.labels else ""
            yield f"  (the same in {more} more {cells}{whose})"


def alike(failures: Iterable[Failure]) -> list[list[Failure]]:
    """Cells of one machine, or of one part of the study, that failed for the same reason."""
    groups: dict[tuple[str, int, str], list[Failure]] = {}
    for failure in failures:
        cell = failure.cell
        key = (cell.machine or cell.labels.get(PART, ""), failure.exit_code, failure.message)
        groups.setdefault(key, []).append(failure)
    return list(groups.values())


def show_plan(prepared: PlannedRun, *, as_json: bool) -> None:
    if as_json:
        from howlate.measure.plan_screen import plan_json

        print_json(plan_json(prepared))
        return
    from howlate.measure.plan_screen import plan_screen

    print_lines(lambda width, letters: plan_screen(prepared, width, letters=letters))
