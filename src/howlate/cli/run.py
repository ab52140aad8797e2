"""Run a study's matrix on this machine or another; continues where it stopped."""

from __future__ import annotations

from pathlib import Path

import click

from howlate.cli._complete import studies as complete_studies
from howlate.cli._job import Job, job_options
from howlate.cli._measure import RoundsOptions, measure, opened_target
from howlate.cli._options import (
    OutputPath,
    RunOptions,
    no_wait_option,
    rounds_options,
    run_options,
    target_option,
)
from howlate.errors import UsageError
from howlate.model.decode import NOT_WITH


@click.command(epilog="Example: howlate run timers --set load=none --scale 0.1 --out /tmp/timers")
@click.argument("study", metavar="STUDY", shell_complete=complete_studies)
@target_option
@click.option(
    "--emit-job",
    "folder",
    type=OutputPath(),
    metavar="DIR",
    help="Measure nothing: write a folder with which a machine's probe measures by itself.",
)
@click.option(
    "--target-arch",
    "arch",
    metavar="ARCH",
    help="With --emit-job, the machine's architecture: x86_64, aarch64, armv7, riscv64 (default: this "
    "machine's).",
)
@no_wait_option
@job_options
@rounds_options
@run_options
def command(
    study: str,
    target: str | None,
    folder: Path | None,
    arch: str | None,
    *,
    job: Job,
    no_wait: bool,
    options: RunOptions,
    until: RoundsOptions | None = None,
) -> int:
    """Run STUDY: the id of a built-in study (`howlate studies`) or a TOML file.

    The cells are measured into a run folder: one after the other on a machine, in parallel in the lab
    (`--target lab:6.1,6.1-rt`). A failed cell is kept apart, and the others continue.

    Called again with the same --out, the command skips whole cells and repeats failed ones.

    Where the study states a deadline, the verdict on it is the exit code (0: PASS, 1: FAIL, 5: INCONCLUSIVE). With
    --until-decided the points are measured round after round until that verdict is decided (docs/verdict.md).

    With --emit-job the cells are not measured but written into a folder for a machine without SSH; `howlate
    import` turns the folder into the run when it comes back. With --out as well, only the cells that are
    missing there are written.
    """
    asked = job.request(options, study, "run")
    if folder is not None:
        from howlate.cli._emit import emit

        others = (
            ("--target", target),
            ("--resume", options.resume),
            ("--dry-run", options.dry_run),
            ("--json", options.as_json),
        )
        for other, given in others:
            if given:
                raise UsageError(NOT_WITH(option=other, other="--emit-job"))
        return emit(asked, folder, arch, options.out)
    if arch is not None:
        raise UsageError(NOT_WITH(option="--target-arch", other="a run without --emit-job"))
    return measure(asked, opened_target(asked, target), options, wait=not no_wait, rounds=until)
