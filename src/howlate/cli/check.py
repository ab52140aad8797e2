"""Measure this machine under five loads: table, causes, report."""

from __future__ import annotations

from pathlib import Path

import click

LONG_S = 3600.0


@click.command(epilog="Example: howlate check --seconds 30")
@click.option("--seconds", type=float, metavar="N", help="How long to measure in all (default: a minute).")
@click.option("--long", "long_", is_flag=True, help="Measure for an hour.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The run folder (default: a new one in runs/).",
)
@click.option("--json", "as_json", is_flag=True, help="The table as JSON.")
def command(seconds: float | None, long_: bool, out: Path | None, as_json: bool) -> int:
    """How late can this Linux be? Measures the wake-up latency of a periodic task without load and under four
    loads, then shows the table, what makes this machine late, and where the report is."""
    from howlate.cli._measure import measure
    from howlate.errors import UsageError
    from howlate.model.units import format_duration
    from howlate.session import Asked, find_study, settings_in_force
    from howlate.targets import open_target

    if seconds is not None and long_:
        raise UsageError("--seconds and --long cannot be together", "give one of them")
    study = find_study("check")
    changes: tuple[str, ...] = ()
    total = LONG_S if long_ else seconds
    if total is not None:
        if not 1 <= total <= 7 * 24 * 3600:
            raise UsageError(f"--seconds {total:g} cannot be", "use 1 or more, at most a week")
        cells = len(study.axes.get("load", ("",)))
        changes = (f"duration={format_duration(int(total * 1000 / cells) * 1_000_000)}",)
    asked = Asked(study, changes, without_rights=True, settings=settings_in_force())
    return measure(asked, open_target("local"), out, False, False, as_json)
