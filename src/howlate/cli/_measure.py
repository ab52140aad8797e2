"""What `check` and `run` share: prepare, measure, tell."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from howlate.errors import ExitCode
from howlate.language import _, called, ngettext, retold

if TYPE_CHECKING:
    from rich.console import Console

    from howlate.execute import Failure, Tally
    from howlate.model.plan import Cell
    from howlate.model.run import Run
    from howlate.prepare import Asked, Prepared
    from howlate.quiet import Look
    from howlate.session import Session
    from howlate.targets import Target


def measure(
    asked: Asked,
    target: Target,
    out: Path | None,
    resume: bool,
    dry_run: bool,
    as_json: bool,
    hint: str = "",
    wait: bool = True,
) -> int:
    """From what is asked to an exit code. `hint`: a sentence before the report's path. `wait`: until this machine
    is quiet, where it is the one that measures."""
    from howlate.prepare import prepare
    from howlate.quiet import ThisMachine, limit_of
    from howlate.session import begin, newest_unfinished

    limit_s = limit_of(os.environ) if wait and target.name == "local" else 0.0
    begun = ThisMachine().look(tasks=False)
    with contextlib.closing(target):
        prepared = prepare(asked, target)
        if dry_run:
            show_plan(prepared, as_json)
            return ExitCode.DONE
        if resume and out is None:
            out = newest_unfinished(asked.study.id)
        if not _any_possible(prepared):
            return _say_impossible(prepared, as_json)
        session = begin(prepared, out)
        if not session.cells:
            _say_nothing_to_do(session)
        try:
            if session.cells and limit_s and not _expects_others(session.run):
                session = _when_quiet(session, begun, limit_s)
            tally = _execute(prepared, session)
        except KeyboardInterrupt as interrupt:
            for note in getattr(interrupt, "__notes__", ()):
                click.echo(f"howlate: {retold(note)}", err=True)
            return _interrupted(session, asked)
    tell(session, tally, as_json, hint)
    return tally.exit_code


def _expects_others(run: Run) -> bool:
    """Others' tasks are part of what is measured (`others = expected`): there is nothing to wait for."""
    return any(cell.parameters.get("others") == "expected" for cell in run.plan.cells)


def _when_quiet(session: Session, begun: Look, limit_s: float) -> Session:
    """Waits for it; where it does not come within the limit, the run says so from now on."""
    from howlate.cli._progress import WaitingLine
    from howlate.quiet import ThisMachine, wait_until_quiet

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


def _any_possible(prepared: Prepared) -> bool:
    """Whether anything can be measured; a machine that did not answer is a failure, which a run keeps."""
    return any(not cell.impossible for cell in prepared.run.plan.cells)


def _say_impossible(prepared: Prepared, as_json: bool) -> int:
    """Why nothing can be measured, and nothing else: no folder is made for it."""
    import json

    from howlate.errors import ExitCode
    from howlate.execute import Failure

    run = prepared.run
    failures = [Failure(cell, ExitCode.NOT_POSSIBLE, cell.impossible) for cell in run.plan.cells]
    if as_json:
        value = {"schema": 1, "cells": [], "run": None}
        value["failed"] = [{"id": f.cell.id, **f.to_json()} for f in failures]
        click.echo(json.dumps(value, indent=1, ensure_ascii=False))
    else:
        _print_failures(failures, axes_of(run), err=True)
        click.echo(_("howlate: nothing can be measured here, so nothing was written"), err=True)
    return ExitCode.NOT_POSSIBLE


def _say_nothing_to_do(session: Session) -> None:
    whole = len(session.folder.whole_cells())
    click.echo(
        _(
            "howlate: nothing was measured: all {whole} cells of {folder} stood there already. To measure "
            "anew, choose another --out"
        ).format(whole=whole, folder=session.folder.path),
        err=True,
    )


def _execute(prepared: Prepared, session: Session) -> Tally:
    from howlate.cli._progress import ProgressLine
    from howlate.errors import HowlateError
    from howlate.execute import execute

    line = ProgressLine(axes_of(prepared.run))
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
        _(
            "howlate: interrupted with {whole} of {cells} cells whole; whole cells are kept. To go on: {command}"
        ).format(whole=whole, cells=cells, command=_again(session, asked)),
        err=True,
    )
    click.echo(session.folder.path)
    return ExitCode.INCONCLUSIVE


def _again(session: Session, asked: Asked) -> str:
    """The command with the options that the run was made with, so that it can be pasted."""
    import shlex

    from howlate.plan import MOST_CELLS

    words = [*asked.command.split(), asked.given or session.run.study.id]
    words += ["--out", str(session.folder.path)]
    words += [f"--set={name}={value}" for name, value in session.run.changes.items()]
    if session.run.scale != 1:
        words.append(f"--scale={session.run.scale:g}")
    if session.run.target != "local" and asked.command == "run":
        words.append(f"--target={session.run.target}")
    if asked.most_cells != MOST_CELLS:
        words.append(f"--most-cells={asked.most_cells}")
    words += asked.options
    return f"{called()} {shlex.join(words)}"


def tell(session: Session, tally: Tally, as_json: bool, hint: str = "") -> None:
    """The table, what makes this machine late, what else to know, the report's path, and the folder last."""
    import json

    from howlate.report.html import write_report
    from howlate.report.threshold import threshold_sentences

    report = session.folder.path / "report.html"
    summaries = session.folder.summaries()
    if summaries:
        write_report(session.folder.path, report)
    if as_json:
        from howlate.report.terminal import show_json

        value = json.loads(show_json(summaries, session.run))
        value["run"] = str(session.folder.path)
        value["failed"] = [{"id": f.cell.id, **f.to_json()} for f in tally.failures]
        click.echo(json.dumps(value, indent=1, ensure_ascii=False))
        for sentence in threshold_sentences(summaries, session.run):
            click.echo(sentence, err=True)
        return
    print_run(session, tally)
    if hint:
        click.echo(f"{hint}\n")
    if summaries:
        click.echo(_("report: {path}").format(path=report))
    click.echo(session.folder.path)


def print_run(session: Session, tally: Tally, every: bool = False) -> None:
    """Everything above the paths; `every` cell where they are repeated, instead of each point's spread."""
    import shlex

    from rich.console import Console

    from howlate.model.finding import Finding
    from howlate.report.content import measured_seconds
    from howlate.report.findings_terminal import print_findings
    from howlate.report.terminal import print_cells, print_warnings

    console = Console(highlight=False)
    first, rest = _by_weight(session.run.warnings)
    print_warnings(console, first)
    summaries = session.folder.summaries()
    path = session.folder.path
    print_cells(
        console, summaries, measured_seconds(session.folder), session.run, every, shlex.quote(str(path))
    )
    _print_failures(tally.failures, axes_of(session.run), path)
    print_warnings(console, rest)
    findings = [Finding.from_json(dict(f)) for f in session.run.findings]
    if summaries and any(f.level == "late" for f in findings):  # they are causes of what was measured
        if session.run.machines:
            late = _("What makes these kernels late:")
            where = _("Found by `howlate doctor` in the state of the guests, not in the samples.")
        else:
            late = _("What makes this machine late:")
            where = _("Found by `howlate doctor` in the state of the machine, not in the samples.")
        click.echo(f"\n{late}\n{where}")
        print_findings(console, findings, most=3)
    if session.run.study.reference:
        _print_published(console, session)
    click.echo()


def _by_weight(warnings: Iterable[str]) -> tuple[list[str], list[str]]:
    """What must be known before a number is read, and the rest."""
    from howlate.model.run import policy_without_right

    every = list(warnings)
    first = [warning for warning in every if policy_without_right(warning)]
    return first, [warning for warning in every if warning not in first]


def _print_failures(
    every: Iterable[Failure], axes: tuple[str, ...], folder: Path | None = None, err: bool = False
) -> None:
    """Each reason once, with the first cell that it took and how many more."""
    from howlate.cli._progress import described

    for failures in alike(every):
        click.echo(f"! {described(failures[0], axes)}", err=err)
        if failures[0].console and folder is not None:
            click.echo(_("  the whole console: {path}").format(path=folder / failures[0].console))
        if len(failures) > 1:
            more = len(failures) - 1
            if failures[0].cell.machine:
                said = ngettext(
                    "the same in {more} more cell of this kernel",
                    "the same in {more} more cells of this kernel",
                    more,
                )
            else:
                said = ngettext(
                    "the same in {more} more cell of this part",
                    "the same in {more} more cells of this part",
                    more,
                )
            click.echo(f"  ({said.format(more=more)})", err=err)


def _print_published(console: Console, session: Session) -> None:
    """The tables of the study's document, with its figures below these."""
    from howlate.report.compare import compare_if_several
    from howlate.report.compare_terminal import print_published
    from howlate.report.content import read_content

    found = compare_if_several([read_content(session.folder.path, bins=False)])
    if found is not None and any(block.published for block in found.blocks):
        said = _("As {study} printed it (`howlate compare {run}`):")
        click.echo("\n" + said.format(study=session.run.study.reference, run=session.folder.path))
        print_published(console, found)


def axes_of(run: Run) -> tuple[str, ...]:
    """By what its cells are told apart: the part, the kernel, and the axes of all parts."""
    from howlate.plan import KERNEL

    names = run.study.names_of_axes
    return (*names[:1], KERNEL, *names[1:]) if run.study.parts and run.machines else names


def alike(failures: Iterable[Failure]) -> list[list[Failure]]:
    """Cells of one machine, or of one part of the study, that failed for one reason, together."""
    found: dict[tuple[str, int, str], list[Failure]] = {}
    for failure in failures:
        cell = failure.cell
        key = (cell.machine or cell.labels.get("part") or cell.id, failure.exit_code, failure.message)
        found.setdefault(key, []).append(failure)
    return list(found.values())


def show_plan(prepared: Prepared, as_json: bool) -> None:
    """`--dry-run`: the cells in order, and the time that each part and all take."""
    run, plan = prepared.run, prepared.run.plan
    broken = {machine: problem.message for machine, problem in prepared.broken.items()}
    if as_json:
        _print_plan_json(prepared, broken)
        return
    from rich.console import Console

    from howlate.cli._progress import clock
    from howlate.model.run import VIRTUAL_TIME
    from howlate.plan.cost import makespan

    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 200)
    costs = _costs(prepared)
    _print_plan(console, run, broken, costs)
    for title, its in _times(prepared) if run.study.parts else ():
        said, time = _("{part}: {possible} of {cells} cells, about {time}"), clock(its["expected_s"])
        click.echo(said.format(part=title, possible=its["possible"], cells=its["cells"], time=time))
    possible = sum(1 for cell in plan.cells if not cell.impossible and cell.machine not in broken)
    parallel = prepared.target.parallel
    at_once = _(" with {parallel} at once").format(parallel=parallel) if parallel > 1 else ""
    click.echo(
        _("\n{possible} of {cells} cells, about {clock} in all{at_once}{cached}; nothing measured.").format(
            possible=possible,
            cells=len(plan.cells),
            clock=clock(makespan(costs.values(), parallel)),
            at_once=at_once,
            cached=_(" (less where the cache has them)") if run.virtual else "",
        )
    )
    for warning in (*run.warnings, *prepared.notes):
        click.echo(f"! {retold(warning)}")
    if run.virtual:
        click.echo(_("{sentence}.").format(sentence=retold(VIRTUAL_TIME)))


def _costs(prepared: Prepared) -> dict[str, float]:
    """How long each cell that is possible takes now, by its id."""
    possible = (c for c in prepared.run.plan.cells if not c.impossible and c.machine not in prepared.broken)
    return {cell.id: prepared.target.cost_s(cell) for cell in possible}


def _print_plan_json(prepared: Prepared, broken: dict[str, str]) -> None:
    import json

    from howlate.plan.cost import makespan

    run, plan = prepared.run, prepared.run.plan
    value = {"schema": 1, "clock": run.clock, "expected_s": plan.expected_s}
    value["left_s"] = makespan(_costs(prepared).values(), prepared.target.parallel)
    if run.study.parts:
        value["parts"] = [its for _part, its in _times(prepared)]
    if run.warnings or prepared.notes:
        value["warnings"] = [*run.warnings, *prepared.notes]
    value |= plan.to_json()
    if broken:
        value["broken"] = broken
    click.echo(json.dumps(value, indent=1, ensure_ascii=False))


def _print_plan(console: Console, run: Run, broken: dict[str, str], costs: dict[str, float]) -> None:
    """A table for each part as it comes; one of all where the parts are mixed."""
    from howlate.model.study import PART
    from howlate.plan import KERNEL
    from howlate.report.labels import title_of

    numbered = list(enumerate(run.plan.cells, 1))
    if not run.study.parts or run.study.order.kind == "random":
        _print_cells_of_plan(console, numbered, axes_of(run), run, broken, costs)
        return
    pieces = {piece.part: tuple(piece.axes) for piece in run.study.pieces()}
    for part, cells in itertools.groupby(numbered, key=lambda row: row[1].labels[PART]):
        click.echo(f"{part}: {retold(title_of(part, run.study))}")
        axes = ((KERNEL,) if run.machines else ()) + pieces[part]
        _print_cells_of_plan(console, list(cells), axes, run, broken, costs)
        click.echo()


def _print_cells_of_plan(
    console: Console,
    cells: list[tuple[int, Cell]],
    axes: tuple[str, ...],
    run: Run,
    broken: dict[str, str],
    costs: dict[str, float],
) -> None:
    from rich.table import Table

    from howlate.cli._progress import clock

    table = Table(box=None, pad_edge=False, header_style="bold")
    repeated = (
        [_("seed") if run.virtual else _("turn")] if any(c.repetition > 1 for c in run.plan.cells) else []
    )
    for column in ("", *axes, *repeated, _("time"), _("cell")):
        table.add_column(column, overflow="fold")
    for number, cell in cells:
        time = (
            _("not possible here: {why}").format(why=retold(cell.impossible))
            if cell.impossible
            else _("in the cache")
            if costs.get(cell.id) == 0
            else clock(costs[cell.id])
        )
        if cell.machine in broken:
            time = _("fails: {why}").format(why=retold(broken[cell.machine].splitlines()[0]))
        turn = [str(cell.repetition)] if repeated else []
        table.add_row(str(number), *(cell.labels.get(axis, "") for axis in axes), *turn, time, cell.id)
    console.print(table)


def _times(prepared: Prepared) -> list[tuple[str, dict[str, Any]]]:
    """For each part its name for people, and how many cells and how long."""
    from howlate.model.study import PART
    from howlate.plan.cost import makespan

    found = []
    costs = _costs(prepared)
    for part in prepared.run.study.parts:
        cells = [c for c in prepared.run.plan.cells if c.labels[PART] == part.id]
        possible = [c for c in cells if not c.impossible and c.machine not in prepared.broken]
        seconds = makespan((costs[c.id] for c in possible), prepared.target.parallel)
        its = {"id": part.id, "title": part.title, "test": part.test, "cells": len(cells)}
        found.append((part.id, {**its, "possible": len(possible), "expected_s": seconds}))
    return found
