"""Measure this machine without load and under four loads: the answer, causes, report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.cli._options import OutputPath, RunOptions, Shown, rounds_options, shown_options

if TYPE_CHECKING:
    from howlate.cli._measure import RoundsOptions


LONG_NS = 3600 * 10**9
WEEK_NS = 7 * 24 * LONG_NS


@click.command(epilog="Example: howlate check --seconds 30")
@click.option(
    "-D",
    "--duration",
    "--seconds",
    "seconds",
    metavar="TIME",
    help="How long to measure in total: seconds, or a time with a unit such as 5m (default: a minute).",
)
@click.option("--long", "long_", is_flag=True, help="Measure for an hour.")
@click.option(
    "--deadline",
    metavar="TIME",
    help="Judge this deadline, such as 200us (default: none, and no verdict).",
)
@click.option(
    "--cpus",
    metavar="LIST",
    default="",
    help="The CPUs to measure on, all at once: 2, 0-3, or all (default: the highest).",
)
@click.option(
    "--out",
    type=OutputPath(),
    metavar="DIR",
    help="The run folder (default: a new one in runs/).",
)
@click.option("--no-wait", is_flag=True, help="Do not wait until the machine is quiet.")
@rounds_options
@shown_options
def command(
    seconds: str | None,
    *,
    long_: bool,
    deadline: str | None,
    cpus: str,
    out: Path | None,
    no_wait: bool,
    shown: Shown,
    until: RoundsOptions | None = None,
) -> int:
    """How late can this Linux be? Measure the wake-up latency of a periodic task without load and under four
    loads, then show on one screen what was seen, why it was late, what to try, and where the rest is."""
    from howlate.cli._measure import measure
    from howlate.cli._times import deadline_text, within_ns
    from howlate.errors import UsageError
    from howlate.measure.prepare import Asked, settings_in_force
    from howlate.model.units import format_duration
    from howlate.studies import find_study
    from howlate.targets import open_target

    if seconds is not None and long_:
        raise UsageError("--seconds and --long exclude each other", remedy="give one of them")
    study = find_study("check")
    changes: tuple[str, ...] = (f"cpus=[{json.dumps(cpus)}]",) if cpus else ()
    if deadline is not None:
        changes += (f"deadline={deadline_text(deadline)}",)
    total_ns = LONG_NS if long_ else None
    if seconds is not None:
        total_ns = within_ns("--seconds", seconds, 10**9, WEEK_NS)
    if total_ns is not None:
        cells = len(study.axes.get("load", ("",)))
        changes += (f"duration={format_duration(total_ns // cells // 1_000_000 * 1_000_000)}",)
    asked = Asked(study, changes, without_rights=True, explain=True, settings=settings_in_force())
    options = RunOptions(out=out, tables=False, **vars(shown))
    return measure(asked, open_target("local"), options, wait=not no_wait, rounds=until)
