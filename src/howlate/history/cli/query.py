"""Ask all runs in SQL."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from howlate.cli._named import damaged_where
from howlate.cli._screen import terminal
from howlate.errors import UsageError
from howlate.history.cli._runs import code_of, name_left_out, no_index_option, read_runs, runs_argument
from howlate.model.decode import NOT_WITH
from howlate.words.printable import no_formula, printable
from howlate.words.say import more_rows_text

if TYPE_CHECKING:
    from howlate.history.query import SqlAnswer

MOST_ROWS = 200
"""Rows that the terminal shows at most."""


@click.command(epilog='Example: howlate query "SELECT run, max_ns FROM statistics" --csv')
@click.argument("sql", metavar="SQL")
@runs_argument
@no_index_option
@click.option("--json", "as_json", is_flag=True, help="The columns and rows as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="As CSV, with a line of headings.")
def command(sql: str, runs: Sequence[Path], *, index: bool, as_json: bool, as_csv: bool) -> int:
    """Answer one SELECT over all runs below runs/, or over RUN... (run folders, or folders that hold some).

    The tables are runs, cells, statistics, facts and samples; docs/query.md has their columns. A run that is damaged
    is named and left out: the exit code is 4 then, or 5 where a planned cell was never measured. Nothing is changed.
    """
    from howlate.history.query import NO_SAMPLES, ask, with_whole_samples

    if as_json and as_csv:
        raise UsageError(NOT_WITH(option="--csv", other="--json"))
    catalogue = read_runs(runs, index=index)
    runs_seen, without = with_whole_samples(sql, catalogue.runs)
    name_left_out(without)
    code = code_of(catalogue, without)
    with damaged_where(code, NO_SAMPLES):
        answer = ask(sql, runs_seen)
    (_print_json if as_json else _print_csv if as_csv else _print_table)(answer)
    return code


def _print_json(answer: SqlAnswer) -> None:
    value = {"columns": answer.columns, "rows": answer.rows}
    click.echo(json.dumps(value, indent=1, ensure_ascii=False, default=_plain))


def _print_csv(answer: SqlAnswer) -> None:
    import csv

    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(map(no_formula, answer.columns))
    writer.writerows([[_csv(value) for value in row] for row in answer.rows])


def _csv(value: Any) -> Any:
    return "" if value is None else no_formula(value) if isinstance(value, str) else _plain(value)


def _print_table(answer: SqlAnswer) -> None:
    from howlate.document.table_terminal import print_table

    shown = answer.rows[:MOST_ROWS]
    columns = [_texts(name, [row[i] for row in shown]) for i, name in enumerate(answer.columns)]
    print_table(terminal(), columns[:1], columns[1:], [True] * len(shown))
    if len(answer.rows) > len(shown):
        left = more_rows_text(len(answer.rows) - len(shown))
        click.echo(f"{left}; --csv and --json print all", err=True)


def _texts(name: str, values: Sequence[Any]) -> tuple[str, list[str]]:
    texts = [_text(value) for value in values]
    if not any(isinstance(value, str) for value in values):
        return name, texts
    width = max(map(len, (name, *texts)))
    return name.ljust(width), [text.ljust(width) for text in texts]


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.10g}" if isinstance(value, float) else printable(str(_plain(value)))


def _plain(value: Any) -> Any:
    """What JSON and CSV have no type for, by its text."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, (str, int, float)) else str(value)
