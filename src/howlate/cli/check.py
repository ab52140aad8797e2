"""Measure this machine without load and under four loads: table, causes, report."""

from __future__ import annotations

from pathlib import Path

import click

from howlate.language import _, called

LONG_NS = 3600 * 10**9
WEEK_NS = 7 * 24 * LONG_NS


def _total_ns(seconds: str) -> int:
    """What --seconds asks for; UsageError says what is wrong with it."""
    from howlate.errors import UsageError
    from howlate.model.units import parse_seconds_ns, unit_of_time

    try:
        total_ns = parse_seconds_ns(seconds)
    except ValueError:
        unit = unit_of_time(seconds)
        what = f'"{unit}" is not a unit of time' if unit else f'"{seconds}" is not a time'
        raise UsageError(f"--seconds: {what}", "write it like 30, 30s, 5min or 12h") from None
    if not 10**9 <= total_ns <= WEEK_NS:
        raise UsageError(f"--seconds must be between 1s and 168h, a week; {seconds} is not")
    return total_ns


@click.command(epilog="Example: howlate check --seconds 30")
@click.option(
    "--seconds",
    metavar="TIME",
    help="How long to measure in all: seconds, or a time with a unit such as 5min (default: a minute).",
)
@click.option("--long", "long_", is_flag=True, help="Measure for an hour.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The run folder (default: a new one in runs/).",
)
@click.option("--no-wait", is_flag=True, help="Do not wait until the machine is quiet.")
@click.option("--json", "as_json", is_flag=True, help="The table as JSON.")
def command(seconds: str | None, long_: bool, out: Path | None, no_wait: bool, as_json: bool) -> int:
    """How late can this Linux be? Measures the wake-up latency of a periodic task without load and under four
    loads, then shows the table, what makes this machine late, and where the report is."""
    from howlate.cli._measure import measure
    from howlate.errors import UsageError
    from howlate.model.units import format_duration
    from howlate.prepare import Asked, settings_in_force
    from howlate.studies import find_study
    from howlate.targets import open_target

    if seconds is not None and long_:
        raise UsageError("--seconds and --long exclude each other", "give one of them")
    study = find_study("check")
    changes: tuple[str, ...] = ()
    total_ns = LONG_NS if long_ else None
    if seconds is not None:
        total_ns = _total_ns(seconds)
    if total_ns is not None:
        cells = len(study.axes.get("load", ("",)))
        changes = (f"duration={format_duration(total_ns // cells // 1_000_000 * 1_000_000)}",)
    asked = Asked(study, changes, without_rights=True, settings=settings_in_force())
    longer = (
        ""
        if total_ns is not None
        else _("The longer it measures, the rarer the events that it sees: {command}")
    )
    hint = longer.format(command=f"{called()} check --long")
    return measure(asked, open_target("local"), out, False, False, as_json, hint, not no_wait)
