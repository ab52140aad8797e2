"""Inject delays of known kind and size, and check that they are found and named rightly"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.cli._measure import same_command, tell_interrupted
from howlate.cli._options import out_option, within_ns
from howlate.cli._say import say
from howlate.cli._screen import print_document, print_json
from howlate.errors import UsageError
from howlate.model.decode import NOT_WITH
from howlate.words.printable import printable

if TYPE_CHECKING:
    from howlate.targets import Target
    from howlate.why.calibrate.flow import Calibration


@click.command(epilog="Example: howlate calibrate --kernels '6.1[preempt=none],6.1-rt' --count 100")
@click.option(
    "--kernels",
    default="",
    metavar="A,B,...",
    help="In guests of the lab with these kernels, in virtual time (default: on this machine).",
)
@click.option(
    "--guest-cpus", "cpus", type=int, metavar="N", help="With --kernels: CPUs of each guest (default: 1)."
)
@click.option("--kinds", default="", metavar="A,B,...", help="The kinds of delays (default: all).")
@click.option(
    "--count",
    type=click.IntRange(10, 2_000),  # the late samples of so few are all kept
    default=1000,
    show_default=True,
    metavar="N",
    help="Number of delays of each kind.",
)
@click.option(
    "--above",
    default="",
    metavar="TIME",
    help="Threshold of a late sample (default: 20us for each CPU of a guest, 100us on this machine).",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    metavar="N",
    help="Random sizes and instants of the delays.",
)
@click.option(
    "--events",
    type=click.Choice(["few", "all"]),
    default="all",
    show_default=True,
    help="The kernel's events to record, as in --explain-events.",
)
@out_option()
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/calibrate.md).")
def command(
    kernels: str,
    cpus: int | None,
    kinds: str,
    count: int,
    above: str,
    seed: int,
    events: str,
    out: Path | None,
    *,
    as_json: bool,
) -> int:
    """Are the causes of late samples named rightly? Delays whose kind, beginning and end are known are made while a
    task is measured, and compared with what the explanations say: found, size, cause.

    In the lab the project's module makes those of the kernel's side. On this machine only kinds whose module is
    loaded are made; it delays everything that runs here, so it is for laboratories.
    """
    from howlate.cli._progress import execute_cells
    from howlate.measure.prepare import prepare, settings_in_force
    from howlate.measure.session import begin
    from howlate.why.calibrate.flow import CalibrationRequest, calibration_of, check_possible

    wanted = tuple(kind.strip() for kind in kinds.split(",") if kind.strip())
    if above:
        within_ns("--above", above, 1_000, 1_000_000)
    request = CalibrationRequest(wanted, count, above, seed, events, settings_in_force())
    request.check()  # before a guest is booted
    with contextlib.closing(_target(kernels, cpus)) as target:
        prepared = prepare(request.to_measure(*_guest(kernels, cpus)), target)
        check_possible(prepared)
        session = begin(prepared, out)
        try:
            tally = execute_cells(prepared, session)
        except KeyboardInterrupt as interrupt:
            again = f"{same_command(session)}. Nothing is judged before that"
            return tell_interrupted(session, interrupt, again)
    found = calibration_of(session.folder.path, tally)
    _print(found, as_json=as_json)
    return found.exit_code


def _guest(kernels: str, cpus: int | None) -> tuple[int, int]:
    """Its CPUs, and how long a round of their turns takes; zeros on this machine."""
    from howlate.lab.guests.machine import TURN_NS
    from howlate.model.guest_cpus import GuestCpus

    if not kernels:
        return 0, 0
    count = cpus or 1
    return count, GuestCpus(count, turn_ns=TURN_NS if count > 1 else 0).round_ns


def _target(kernels: str, cpus: int | None) -> Target:
    from howlate.lab.targets.lab import open_lab
    from howlate.targets import LabOptions, open_target

    if not kernels:
        if cpus is not None:
            raise UsageError(NOT_WITH(option="--guest-cpus", other="a call without --kernels"))
        return open_target("local")
    return open_lab(kernels, LabOptions(cpus=cpus), say=say)


def _print(found: Calibration, *, as_json: bool) -> None:
    from howlate.why.calibrate.document import calibration_document, calibration_json

    if as_json:
        print_json(calibration_json(found))
        return
    print_document(calibration_document(found))
    click.echo(printable(str(found.path)))
