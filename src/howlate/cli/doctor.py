"""Say what on this machine will make it late, and how to change it."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from howlate.cli._named import run_or_newest
from howlate.cli._say import say
from howlate.cli._screen import print_items, print_json, print_lines
from howlate.errors import UsageError
from howlate.model.decode import NOT_WITH
from howlate.system.paths import probe_path
from howlate.words.language import called, english
from howlate.words.printable import shell_line

if TYPE_CHECKING:
    from howlate.model.facts import Finding


def _alone(given: list[str]) -> None:
    if "--restore" in given and len(given) > 1:
        raise UsageError(NOT_WITH(option=next(o for o in given if o != "--restore"), other="--restore"))
    if {"--run", "--target"} <= set(given):
        raise UsageError(NOT_WITH(option="--target", other="--run"))


@click.command(epilog="Example: howlate doctor --run runs/20260102T030405-check --json")
@click.option(
    "--run",
    is_flag=False,
    flag_value="",
    callback=run_or_newest,
    metavar="[RUN]",
    help="Examine the machine of this run (else of the newest), as it was then.",
)
@click.option(
    "--target", default="local", show_default=True, metavar="TARGET", help="The machine to examine."
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Show every check in full with its reason, not one screen.",
)
@click.option(
    "--restore", is_flag=True, help="Undo the knobs that a killed probe left changed (in this boot)."
)
@click.option("--json", "as_json", is_flag=True, help="Print all findings as JSON.")
@click.pass_context
def command(
    context: click.Context, run: Path | None, target: str, *, everything: bool, restore: bool, as_json: bool
) -> int:
    """Examine this machine: what howlate found, why it matters for lateness, how to change it."""
    given = [
        param.opts[0]
        for param in context.command.params
        if context.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
    ]
    _alone(given)
    if restore:
        return _restore()
    findings = _findings(run, target)
    if as_json:
        value = {"schema": 1, "findings": [f.to_json() for f in findings]}
        print_json(value)
        return 0
    _print(findings, run, target, everything=everything)
    return 0


def _restore() -> int:
    from howlate.targets.local import restore_knobs

    click.echo(restore_knobs(probe_path()))
    return 0


def _findings(run: Path | None, target: str) -> Sequence[Finding]:
    """The findings about the machine of that run, as it was then, or about the target, now."""
    from howlate import doctor
    from howlate.model.facts import Facts
    from howlate.model.run import policy_without_right
    from howlate.plan.aim import aim_of
    from howlate.store.run_folder import RunFolder
    from howlate.targets import open_target

    if run is not None:
        measured = RunFolder.open(run).read_run()
        wanted = next(filter(None, map(policy_without_right, measured.warnings)), "")
        aim = aim_of(measured.plan, {}, wanted)
        if measured.machines:
            guests = {label: Facts.from_json(dict(its)) for label, its in measured.machines.items()}
            return doctor.examine_guests(guests, aim)
        return doctor.examine(Facts.from_json(dict(measured.facts)), aim, here=measured.target == "local")
    with contextlib.closing(open_target(target, say=say)) as opened:
        return doctor.examine(Facts.from_json(opened.facts()), here=opened.name == "local")


def _print(findings: Sequence[Finding], run: Path | None, target: str, *, everything: bool) -> None:
    from howlate.document.findings import sheet
    from howlate.document.first_screen.findings import findings_screen

    asked = ["--run", str(run)] if run is not None else ["--target", target] if target != "local" else []
    every = f"{called()} {shell_line(['doctor', '--all', *asked])}"
    with english(called()):  # as the findings are, whatever language is spoken
        if everything:
            print_items([sheet(findings, levels=True)])
        else:
            print_lines(lambda width, letters: findings_screen(findings, every, width, letters=letters))
