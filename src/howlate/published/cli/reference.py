"""List, show or audit the published figures of the studies."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from howlate.cli._screen import print_json, terminal
from howlate.errors import UsageError
from howlate.model.decode import unknown
from howlate.words.language import as_called

if TYPE_CHECKING:
    from rich.console import Console

    from howlate.published.audit import Audit
    from howlate.published.reference import PublishedTable, Reference


@click.group(
    invoke_without_command=True, epilog="Example: howlate reference show tut-2017 listing-2-preemption"
)
@click.pass_context
def command(context: click.Context) -> int:
    """The figures that the five studies published, each with a mark that says how certain its transcription
    is, and which of them contradict themselves (docs/reference.md)."""
    return 0 if context.invoked_subcommand is not None else int(context.invoke(listed))


@command.command(
    "list",
    short_help="List the studies whose figures are available.",
    epilog="Example: howlate reference list --json",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def listed(*, as_json: bool = False) -> int:
    """List the studies whose figures are available, and how many figures there are for each mark."""
    from howlate.published.shown import counts_of

    counted = [(reference, counts_of(reference)) for reference in _read(())]
    if as_json:
        rows = [
            {"study": r.study, "title": r.title, "document": r.document, **counts} for r, counts in counted
        ]
        print_json({"schema": 1, "references": rows})
        return 0
    heads = list(counted[0][1]) if counted else []
    figures = [(head, [str(counts[head]) for _, counts in counted]) for head in heads]
    _print_table(terminal(), [("study", [r.study for r, _ in counted])], figures)
    return 0


@command.command(
    "show",
    short_help="Show the figures of a study as its document prints them.",
    epilog="Example: howlate reference show toshiba-2010 high-300us",
)
@click.argument("study", metavar="ID")
@click.argument("table", metavar="[TABLE]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(study: str, table: str | None, *, as_json: bool) -> int:
    """Show the figures of the study ID as its document prints them: all tables, only TABLE, or those whose
    names begin with it (listing-2 of tut-2017)."""
    from howlate.published.load import find_reference
    from howlate.published.shown import to_json

    reference = find_reference(study)
    tables = reference.tables if table is None else _chosen(reference, table)
    if as_json:
        print_json(to_json(reference, tables))
        return 0
    console = terminal()
    if table is None:
        _print_head(console, reference)
    for shown_table in tables:
        _print_shown(console, shown_table, named=len(tables) > 1)
    return 0


@command.command(
    "audit",
    short_help="Name every published figure that contradicts itself.",
    epilog="Example: howlate reference audit toshiba-2010",
)
@click.argument("studies", metavar="[ID]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def audited(studies: tuple[str, ...], *, as_json: bool) -> int:
    """Name every published figure that contradicts itself, of the studies ID or of all. Contradictions do
    not fail this command: its exit code is 0."""
    from howlate.published.audit import audit

    audits = [audit(reference) for reference in _read(studies)]
    if as_json:
        print_json({"schema": 1, "audits": [audited_study.to_json() for audited_study in audits]})
        return 0
    console = terminal()
    for audited_study in audits:
        _print_audit(console, audited_study)
    _print_rules(console, audits)
    return 0


def _read(studies: Sequence[str]) -> list[Reference]:
    from howlate.published.load import find_reference, references

    return [find_reference(name) for name in studies or references()]


def _chosen(reference: Reference, name: str) -> tuple[PublishedTable, ...]:
    one = reference.table(name)
    found = (one,) if one else tuple(t for t in reference.tables if t.id.startswith(f"{name}-"))
    if not found:
        raise UsageError(unknown(f"table of {reference.study}", name, [t.id for t in reference.tables]))
    return found


def _print_head(console: Console, reference: Reference) -> None:
    from rich.text import Text

    console.print(Text(reference.title, style="bold"), soft_wrap=True)
    for line in (reference.document, reference.machine, *reference.notes):
        _wrapped(console, line, "")


def _print_shown(console: Console, table: PublishedTable, *, named: bool) -> None:
    from rich.text import Text

    from howlate.published.shown import shown

    its = shown(table)
    console.print()
    for line in textwrap.wrap(f"{table.id}: {its.title}" if named else its.title, console.width):
        console.print(Text(line, style="bold"), soft_wrap=True)
    if its.labels:
        console.print()
        _print_table(console, its.labels, its.figures)
    if its.notes:
        console.print()
    for note in its.notes:
        _wrapped(console, as_called(note), "- ")


def _print_audit(console: Console, one: Audit) -> None:
    from rich.text import Text

    looked_at = ", ".join(f"{rule} {count}" for rule, count in one.checked.items() if count)
    many = len(one.findings)
    how_many = f"{many or 'no'} contradiction{'s' if many > 1 else ''}"
    console.print(Text(f"{one.study}: {how_many}", style="bold"), soft_wrap=True)
    _wrapped(
        console,
        f"looked at, by rule: {looked_at or 'nothing, it has no figures that a rule takes'}",
        "  ",
    )
    for finding in one.findings:
        row = f", {finding.row}" if finding.row else ""
        _wrapped(
            console, f"{finding.table}, {finding.place}{row}: {finding.rule}. {as_called(finding.says)}", "- "
        )
    console.print()


def _print_rules(console: Console, audits: Sequence[Audit]) -> None:
    from howlate.published.audit import SLIP
    from howlate.statistics.contradictions import RULES

    used = {rule for one in audits for rule, count in one.checked.items() if count}
    for name, check in RULES.items():
        if name in used:
            _wrapped(console, f"{name}: {as_called(check.formula)}", "  ")
    if SLIP in used:
        _wrapped(console, f"{SLIP}: two prints of one figure are the same number", "  ")
    _wrapped(
        console,
        "No figure is changed by it. What rounding could explain is not named (docs/reference.md).",
        "  ",
    )


def _wrapped(console: Console, text: str, lead: str) -> None:
    from rich.text import Text

    from howlate.document.text import wrapped

    for i, line in enumerate(wrapped(text, max(30, console.width - len(lead)))):
        console.print(Text(f"{lead if i == 0 else ' ' * len(lead)}{line}"), soft_wrap=True)


def _print_table(
    console: Console, labels: Sequence[tuple[str, list[str]]], figures: Sequence[tuple[str, list[str]]]
) -> None:
    from howlate.document.table_terminal import print_table

    print_table(console, labels, figures, [True] * len(labels[0][1]))
