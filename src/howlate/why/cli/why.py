"""Say why the worst samples of a run were late, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from howlate.cli._named import damaged_where, run_argument, tell_missing
from howlate.cli._options import output_option, together
from howlate.cli._say import say
from howlate.cli._screen import print_document, print_json, print_lines
from howlate.errors import UsageError
from howlate.lab.cli.lab._archive import ArchiveOptions, archive_options
from howlate.lab.cli.lab._built import BuiltOptions, built_options
from howlate.model.decode import NOT_WITH
from howlate.why.cli._replay import (
    ReplayedSamples,
    ReplayOptions,
    must_be_replayed,
    opened_lab,
    played_again,
    replay_options,
)
from howlate.why.cli._trial import TrialOptions, trial_options, try_remedies
from howlate.words.language import called
from howlate.words.printable import shell_line, shell_path

if TYPE_CHECKING:
    from howlate.document.document import Document
    from howlate.model.loaded import RunContent
    from howlate.why.flow import ExplainedRun
    from howlate.why.screen import WhyScreen

MOST_WORST, DEFAULT_WORST = 100_000, 3


class WhyAmount(Struct, frozen=True):
    worst: int | None = None
    all_: bool = False


amount_options = together(
    "amount",
    WhyAmount,
    [
        click.option(
            "--worst",
            type=click.IntRange(0, MOST_WORST),
            metavar="K",
            help="With --all, -o: how many samples one by one (default: 3; 1 of a replay).",
        ),
        click.option(
            "--all", "all_", is_flag=True, help="Show all causes, remedies and counters, not one screen."
        ),
    ],
)


@click.command(epilog="Example: howlate why runs/20260102T030405-check --worst 5")
@run_argument()
@click.argument("cell", default="", metavar="[CELL]")
@amount_options
@output_option("Write a page with charts too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/why.md).")
@trial_options
@replay_options
@built_options
@archive_options
def command(
    run: Path,
    cell: str,
    output: Path | None,
    *,
    amount: WhyAmount,
    as_json: bool,
    trial: TrialOptions,
    replay: ReplayOptions,
    built: BuiltOptions,
    archive: ArchiveOptions,
) -> int:
    """Say why the late samples of the run folder RUN were late: of all cells, or of CELL (its id or a part of it).
    The kernel's events tell, which `check` records, and `run` with --set explain=true; else counters do. Of a run of
    the lab, the worst samples are played again with every instruction logged: they are the same to the nanosecond,
    or the command fails."""
    from howlate.store.files import OUTPUT, check_place
    from howlate.store.loaded import load_run
    from howlate.why.flow import explained_run
    from howlate.why.late_json import recorded_json
    from howlate.why.screen import WhyScreen

    _check_trial(trial, is_written=as_json or output is not None)
    check_place(output, OUTPUT)
    replay.check()
    content = load_run(run)
    missing = tell_missing([(run, content)])
    if not trial.is_requested and replay.is_wanted(content.run, cell):
        with damaged_where(missing):
            samples = played_again(
                run,
                content,
                cell,
                amount.worst,
                replay,
                lambda labels, guest: opened_lab(labels, guest, built, archive),
            )
        shown = _replayed_document(samples, content)
        screen = WhyScreen(
            content, samples.cells, _every(run, cell, replay), "", samples.pair, shell_path(run)
        )
        _print(
            screen, shown if amount.all_ else None, lambda: _replayed_json(samples, content), as_json=as_json
        )
        _write_replayed(samples, content, output, shell_path(run))
        samples.write(replay)
        return missing
    must_be_replayed(replay, built, archive)
    with damaged_where(missing), say.living("reading the events"):
        found = explained_run(run, content, cell)
    shown = _document(found, amount.worst)
    every, trial_line = _every(run, cell, replay), _trial(found, run, cell)
    screen = WhyScreen(found.content, found.cells, every, trial_line, folder=shell_path(run))
    _print(screen, shown if amount.all_ else None, lambda: recorded_json(found), as_json=as_json)
    if output is not None:
        _write(found, shown, output, shell_path(run))
    return try_remedies(found, trial) if trial.is_requested else missing


def _check_trial(trial: TrialOptions, *, is_written: bool) -> None:
    if not trial.is_requested and trial.given:
        raise UsageError(NOT_WITH(option="--pairs, --cell-duration or --out", other="a call without --try"))
    if trial.is_requested and is_written:
        raise UsageError(NOT_WITH(option="-o or --json", other="--try"))
    if trial.is_requested:
        trial.check()


def _every(run: Path, cell: str, replay: ReplayOptions) -> str:
    source = [f"--from={replay.source}"] if replay.source else []
    against = [f"--against={replay.against}"] if replay.against else []
    return f"{called()} {shell_line(filter(None, ['why', '--all', *source, *against, str(run), cell]))}"


def _trial(found: ExplainedRun, run: Path, cell: str) -> str:
    """The command that measures what the remedies buy; "" where none is of a knob, or another machine measured."""
    from howlate.why.explained_cells import cause_sums
    from howlate.why.remedies import remedies_of
    from howlate.why.remedy_trial import is_elsewhere

    has_knobs = any(remedy.knobs for _cause, remedy in remedies_of(cause_sums(found.cells)))
    if not has_knobs or is_elsewhere(found.content.run):
        return ""
    return f"{called()} {shell_line(filter(None, ['why', '--try', str(run), cell]))}"


def _print(
    screen: WhyScreen, shown: Document | None, made_json: Callable[[], dict[str, Any]], *, as_json: bool
) -> None:
    if as_json:
        print_json(made_json())
    elif shown is None:
        print_lines(lambda width, letters: screen.lines(width, letters=letters))
    else:
        print_document(shown)


def _document(found: ExplainedRun, worst: int | None) -> Document:
    """`worst`: the number of samples one by one; None: the worst of those that the causes are of."""
    from howlate.document.document import Document
    from howlate.why.late_cases import case_sections, causes_section
    from howlate.why.late_counters import counters_section, unrecorded
    from howlate.why.on_screen import invalid_rows, looked_at

    cells = looked_at(found.cells, [found.content])
    ids = {cell.id for cell in cells}
    listed = cells if worst is None else [cell for cell in found.cells if cell.id in ids]
    return Document(
        (
            *causes_section(cells, found.findings, invalid_rows(found.content)),
            *case_sections(listed, DEFAULT_WORST if worst is None else worst),
            *counters_section(found.without_trace.cells, unrecorded(found.content)),
        )
    )


def _replayed_document(samples: ReplayedSamples, content: RunContent) -> Document:
    from howlate.document.document import Document
    from howlate.why.late_cases import case_sections, causes_section
    from howlate.why.on_screen import invalid_rows, looked_at
    from howlate.why.replayed.pair_document import pair_section

    first = () if samples.pair is None else (pair_section(samples.pair),)
    cells = looked_at(samples.cells, [content])
    causes = causes_section(cells, content.findings, invalid_rows(content))
    return Document((*first, *causes, *case_sections(samples.cells, len(samples.cases))))


def _replayed_json(samples: ReplayedSamples, content: RunContent) -> dict[str, Any]:
    from howlate.why.late_json import cells_json
    from howlate.why.replayed.pair_document import pair_json

    compared = {} if samples.pair is None else {"comparison": pair_json(samples.pair)}
    return {**cells_json(samples.cells, content), **compared}


def _write(found: ExplainedRun, shown: Document, output: Path, folder: str) -> None:
    from howlate.document.doc_links import linked
    from howlate.store.files import OUTPUT, write_output
    from howlate.why.late_page import page

    write_output(output, linked(page(found.content, found.cells, shown, folder), output), OUTPUT)


def _write_replayed(samples: ReplayedSamples, content: RunContent, output: Path | None, folder: str) -> None:
    from howlate.document.doc_links import linked
    from howlate.store.files import OUTPUT, write_output
    from howlate.why.late_page import headed, replayed_page

    if output is not None:
        shown = headed(_replayed_document(samples, content), content, samples.cells, folder)
        text = replayed_page(shown, samples.cases)
        write_output(output, linked(text, output), OUTPUT)
