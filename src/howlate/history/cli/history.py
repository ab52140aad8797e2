"""See how runs changed over time, and since when."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from howlate.cli._options import brief_option, output_option, together
from howlate.cli._screen import print_json, print_lines
from howlate.errors import ExitCode, UsageError
from howlate.history.cli._runs import code_of, no_index_option, read_runs, runs_argument
from howlate.model.decode import suggestion
from howlate.words.printable import printable

if TYPE_CHECKING:
    from howlate.history.history import History


class _AsShown(Struct, frozen=True):
    brief: bool
    every: bool
    output: Path | None
    as_json: bool


_shown = together(
    "shown",
    _AsShown,
    (
        brief_option,
        click.option("--all", "every", is_flag=True, help="Show every value that was followed."),
        output_option("Write a page (HTML)."),
        click.option(
            "--json", "as_json", is_flag=True, help="Every value, change and bound as JSON (docs/history.md)."
        ),
    ),
)


@click.command(epilog="Example: howlate history --label load=none -o history.html")
@runs_argument
@click.option("--machine", default="", metavar="TEXT", help="Only machines whose name has TEXT in it.")
@click.option("--label", "labels", multiple=True, metavar="NAME=TEXT", help="Only cells with this label.")
@click.option(
    "--statistic",
    "statistics",
    multiple=True,
    metavar="NAME",
    help="One value a run: max, p99.9, median, mean, ... (default: max and p99.9).",
)
@click.option(
    "--margin",
    type=float,
    default=0.1,
    show_default=True,
    metavar="SHARE",
    help="The smallest change that counts.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["worse"]),
    help="End with exit code 1 where some value is worse than it was: after its newest change, or rising.",
)
@_shown
@no_index_option
def command(
    runs: Sequence[Path],
    machine: str,
    labels: Sequence[str],
    statistics: Sequence[str],
    margin: float,
    fail_on: str | None,
    *,
    shown: _AsShown,
    index: bool,
) -> int:
    """Put all runs below runs/, or RUN... (run folders, or folders that hold some), in the order of their time: one
    value a run of each configuration, where its level changed and which recorded facts changed with it, its trend,
    and how often the bound on the horizon held."""
    if not 0 <= margin < 10:
        raise UsageError(
            "--margin must be from 0 to below 10, not {margin}",
            remedy="write it like 0.1 for 10 %",
            margin=margin,
        )
    wanted, names = _labels(labels), [_statistic(name) for name in statistics]
    catalogue = read_runs(runs, index=index)
    from howlate.history.history import DEFAULT_STATISTICS, history

    made = history(catalogue.runs, tuple(dict.fromkeys(names)) or DEFAULT_STATISTICS, machine, wanted, margin)
    if not made.series and (machine or wanted):
        raise UsageError(
            "no valid cell of these runs is of that machine and has these labels",
            remedy='`howlate query "SELECT DISTINCT target, labels FROM runs JOIN cells USING (run)"` lists '
            "what there is",
        )
    if shown.as_json:
        _print_json(made)
    elif shown.output is None:
        _print(made, shown, judges=fail_on is not None)
    if shown.output is not None:
        _write_page(made, shown.output)
        click.echo(printable(str(shown.output)), err=shown.as_json)
    code = code_of(catalogue)
    return ExitCode.FAILED if fail_on and made.is_worse and code != ExitCode.BROKEN else code


def _labels(texts: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for text, (name, equals, value) in zip(texts, pairs, strict=True):
        if not (name and equals and value):
            raise UsageError(
                '"{text}" is not a label',
                remedy="write --label NAME=TEXT, such as --label load=none",
                text=text,
            )
    return {name: value for name, _, value in pairs}


def _statistic(name: str) -> str:
    """By its name in summary.json, or its heading."""
    from howlate.history.history import heading_of
    from howlate.statistics.statistics import STATISTICS

    known = {text: entry.name for entry in STATISTICS for text in (heading_of(entry.name), entry.name)}
    if name not in known:
        raise UsageError(
            '"{name}" is not a statistic', remedy="{hint}", name=name, hint=suggestion(name, known)
        )
    return known[name]


def _print(made: History, shown: _AsShown, *, judges: bool) -> None:
    from howlate.history.screen import brief_of, screen

    if not shown.brief:
        print_lines(lambda width, letters: screen(made, width, every=shown.every, letters=letters))
    if shown.brief or (judges and not sys.stdout.isatty()):
        click.echo(brief_of(made))


def _print_json(made: History) -> None:
    from howlate.history.document import to_json_value

    print_json(to_json_value(made))


def _write_page(made: History, out: Path) -> None:
    from howlate.document.doc_links import linked
    from howlate.document.html import page
    from howlate.history.document import document
    from howlate.store.files import OUTPUT, write_output

    write_output(out, linked(page(document(made)), out), OUTPUT)
