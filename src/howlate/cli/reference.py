"""List, show or audit the published figures of the studies."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from howlate.language import _, ngettext, retold

if TYPE_CHECKING:
    from rich.console import Console

    from howlate.model.reference import Reference, Table
    from howlate.reference.audit import Audit


@click.group(
    invoke_without_command=True, epilog="Example: howlate reference show tut-2017 listing-2-preemption"
)
@click.pass_context
def command(context: click.Context) -> int:
    """The figures that the five studies published, each with a mark that says how sure its transcription is, and
    which of them contradict themselves (docs/reference.md)."""
    return 0 if context.invoked_subcommand is not None else int(context.invoke(listed))


@command.command("list", epilog="Example: howlate reference list --json")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def listed(as_json: bool = False) -> int:
    """List the studies whose figures are there, and how many they are, by mark."""
    from howlate.reference.shown import counts_of

    found = [(reference, counts_of(reference)) for reference in _read(())]
    if as_json:
        rows = [{"study": r.study, "title": r.title, "document": r.document, **counts} for r, counts in found]
        _print_json({"schema": 1, "references": rows})
        return 0
    heads = list(found[0][1]) if found else []
    figures = [(head, [str(counts[head]) for _, counts in found]) for head in heads]
    _print_table(_console(), [("study", [r.study for r, _ in found])], figures)
    return 0


@command.command("show", epilog="Example: howlate reference show toshiba-2010 high-300us")
@click.argument("study", metavar="ID")
@click.argument("table", metavar="[TABLE]", required=False)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def show(study: str, table: str | None, as_json: bool) -> int:
    """Show the figures of the study ID as its document prints them: all tables, TABLE alone, or those whose names
    begin with it (listing-2 of tut-2017)."""
    from howlate.reference.load import find_reference
    from howlate.reference.shown import to_json

    reference = find_reference(study)
    tables = reference.tables if table is None else _chosen(reference, table)
    if as_json:
        _print_json(to_json(reference, tables))
        return 0
    console = _console()
    if table is None:
        _print_head(console, reference)
    for one in tables:
        _print_shown(console, one, len(tables) > 1)
    return 0


@command.command("audit", epilog="Example: howlate reference audit toshiba-2010")
@click.argument("studies", metavar="[ID]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def audited(studies: tuple[str, ...], as_json: bool) -> int:
    """Name every published figure that contradicts itself, of the studies ID or of all. That there are some is no
    failure of this command: its exit code is 0."""
    from howlate.reference.audit import audit

    found = [audit(reference) for reference in _read(studies)]
    if as_json:
        _print_json({"schema": 1, "audits": [one.to_json() for one in found]})
        return 0
    console = _console()
    for one in found:
        _print_audit(console, one)
    _print_rules(console, found)
    return 0


def _read(studies: Sequence[str]) -> list[Reference]:
    from howlate.reference.load import find_reference, references

    return [find_reference(name) for name in studies or references()]


def _chosen(reference: Reference, name: str) -> tuple[Table, ...]:
    from howlate.errors import UsageError
    from howlate.model.decode import suggestion

    one = reference.table(name)
    found = (one,) if one else tuple(t for t in reference.tables if t.id.startswith(f"{name}-"))
    if not found:
        names = [t.id for t in reference.tables]
        raise UsageError(f'{reference.study} has no table "{name}"', suggestion(name, names))
    return found


def _print_head(console: Console, reference: Reference) -> None:
    from rich.text import Text

    console.print(Text(reference.title, style="bold"), soft_wrap=True)
    for line in (reference.document, reference.machine, *reference.notes):
        _wrapped(console, line, "")


def _print_shown(console: Console, table: Table, named: bool) -> None:
    from rich.text import Text

    from howlate.reference.shown import shown

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
        _wrapped(console, retold(note), "- ")


def _print_audit(console: Console, one: Audit) -> None:
    from rich.text import Text

    looked_at = ", ".join(f"{rule} {count}" for rule, count in one.checked.items() if count)
    many = len(one.findings)
    said = ngettext("{many} contradiction", "{many} contradictions", many).format(many=many)
    said = said if many else _("no contradiction")
    console.print(Text(f"{one.study}: {said}", style="bold"), soft_wrap=True)
    _wrapped(
        console,
        _("looked at, by rule: {rules}").format(
            rules=looked_at or _("nothing, it has no figures that a rule takes")
        ),
        "  ",
    )
    for finding in one.findings:
        row = f", {finding.row}" if finding.row else ""
        _wrapped(
            console, f"{finding.table}, {finding.place}{row}: {finding.rule}. {retold(finding.says)}", "- "
        )
    console.print()


def _print_rules(console: Console, found: Sequence[Audit]) -> None:
    from howlate.reference.audit import SLIP
    from howlate.stats.contradictions import RULES

    used = {rule for one in found for rule, count in one.checked.items() if count}
    for name, check in RULES.items():
        if name in used:
            _wrapped(console, f"{name}: {retold(check.formula)}", "  ")
    if SLIP in used:
        _wrapped(console, f"{SLIP}: {_('two prints of one figure are one number, to the last digit')}", "  ")
    _wrapped(
        console,
        _("No figure is changed by it. What rounding could explain is not named (docs/reference.md)."),
        "  ",
    )


def _wrapped(console: Console, text: str, lead: str) -> None:
    from rich.text import Text

    from howlate.report.text import wrapped

    for i, line in enumerate(wrapped(text, max(30, console.width - len(lead)))):
        console.print(Text(f"{lead if i == 0 else ' ' * len(lead)}{line}"), soft_wrap=True)


def _print_table(
    console: Console, labels: Sequence[tuple[str, list[str]]], figures: Sequence[tuple[str, list[str]]]
) -> None:
    from howlate.report.table_terminal import print_table

    print_table(console, labels, figures, [True] * len(labels[0][1]))


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, markup=False)


def _print_json(value: dict[str, Any]) -> None:
    click.echo(json.dumps(value, indent=1, ensure_ascii=False))
