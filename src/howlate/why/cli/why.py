"""Say why the worst samples of a run were late, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from howlate.cli._options import OutputPath
from howlate.why.cli._trial import TrialOptions, trial_options, try_remedies
from howlate.words.statement import rule

if TYPE_CHECKING:
    from howlate.document.document import Document
    from howlate.why.flow import ExplainedRun

MOST_WORST = 100_000
TRY_ALONE = rule(
    "cli.why-try-alone",
    "--pairs, --seconds and --out are about --try",
    remedy="write --try too, or leave them out",
)
TRY_AND_OUTPUT = rule(
    "cli.why-try-and-output",
    "--try makes a run folder with a report of its own, so -o and --json do not apply",
    remedy="leave them out; `howlate show` prints that run, also with --json",
)
NO_SUCH_NUMBER = rule("cli.why-worst", "--worst must be from 0 to {most:count}, not {worst}")


@click.command(epilog="Example: howlate why runs/20260102T030405-check --worst 5")
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
@click.argument("cell", default="", metavar="[CELL]")
@click.option(
    "--worst",
    type=int,
    default=3,
    show_default=True,
    metavar="K",
    help="How many samples to show one by one.",
)
@click.option("-o", "--output", type=OutputPath(), metavar="FILE", help="Write a page with a chart too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/why.md).")
@trial_options
def command(run: Path, cell: str, worst: int, output: Path | None, as_json: bool, trial: TrialOptions) -> int:
    """Say why the late samples of the run folder RUN were late: of all cells, or of CELL (its id or a part of it).
    The kernel's events tell, which `check` records, and `run` with --set explain=true; else counters do."""
    import json

    from rich.console import Console

    from howlate.cli._named import damaged_where, tell_missing
    from howlate.document.document_terminal import print_document
    from howlate.errors import UsageError
    from howlate.store.loaded import load_run
    from howlate.why.flow import explained_run

    if not 0 <= worst <= MOST_WORST:
        raise UsageError(NO_SUCH_NUMBER(worst=worst, most=MOST_WORST))
    if not trial.wanted and trial.given:
        raise UsageError(TRY_ALONE())
    if trial.wanted and (as_json or output is not None):
        raise UsageError(TRY_AND_OUTPUT())
    if trial.wanted:
        trial.check()
    content = load_run(run)
    missing = tell_missing([(run, content)])
    with damaged_where(missing):
        found = explained_run(run, content, cell)
    if as_json:
        click.echo(json.dumps(_json(found), indent=1, ensure_ascii=False))
    else:
        print_document(Console(highlight=False, markup=False), _document(found, worst))
    if output is not None:
        _write(found, worst, output)
    return try_remedies(found, trial) if trial.wanted else missing


def _document(found: ExplainedRun, worst: int) -> Document:
    from howlate.document.document import Document
    from howlate.why.late_cases import case_sections, causes_section
    from howlate.why.late_counters import counters_section

    return Document(
        (
            *causes_section(found.cells, found.findings),
            *case_sections(found.cells, worst),
            *counters_section(found.untraced.cells),
        )
    )


def _json(found: ExplainedRun) -> dict[str, Any]:
    from howlate.why.explained_cells import cause_sums
    from howlate.why.late_cases import causes_json, cell_json
    from howlate.why.late_counters import counters_json

    return {
        "schema": 1,
        "causes": causes_json(cause_sums(found.cells), found.findings),
        "cells": [cell_json(cell) for cell in found.cells],
        "counters": counters_json(found.untraced.cells),
    }


def _write(found: ExplainedRun, worst: int, output: Path) -> None:
    from howlate.document.doc_links import linked
    from howlate.store.files import OUTPUT, write_output
    from howlate.why.late_page import page

    write_output(output, linked(page(found.content, found.cells, _document(found, worst)), output), OUTPUT)
