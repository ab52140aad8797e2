"""Measure this machine without load and under four loads: the answer, causes, report."""

from __future__ import annotations

import click
from msgspec.structs import replace

from howlate.cli._job import Job, job_options
from howlate.cli._measure import RoundsOptions, measure, opened_target
from howlate.cli._options import (
    RunOptions,
    limit_text,
    no_wait_option,
    rounds_options,
    run_options,
    target_option,
)

LONG_NS = 3600 * 10**9


@click.command(epilog="Example: howlate check --period 500us --policy fifo:90 --deadline 300us")
@job_options
@click.option("--long", "long_", is_flag=True, help="Measure for an hour.")
@click.option(
    "--threshold", metavar="TIME", help="End at the first latency above it, and say why that sample was late."
)
@target_option
@no_wait_option
@rounds_options
@run_options
def command(
    job: Job,
    *,
    long_: bool,
    threshold: str | None,
    target: str | None,
    no_wait: bool,
    options: RunOptions,
    until: RoundsOptions | None = None,
) -> int:
    """How late can this Linux be? Measure the wake-up latency of a periodic task, for about a minute without load
    and under four loads unless the options say otherwise, then show on one screen how late it was and why,
    what to try, and where the rest is.

    The task is that of the study `check`; --set changes what has no option of its own."""
    if threshold is not None:
        changes = (*options.changes, f"threshold={limit_text('--threshold', threshold)}")
        options = replace(options, changes=changes)
    asked = job.request(options, "check", "run", long_ns=LONG_NS if long_ else None)
    own_policy = any(name == "policy" for name, _ in asked.parsed)
    asked = replace(asked, without_rights=not own_policy, explain=True)
    opened = opened_target(asked, target)
    return measure(asked, opened, options, wait=not no_wait, rounds=until, ends_early=bool(threshold))
