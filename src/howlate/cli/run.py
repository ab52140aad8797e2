"""Run a study's matrix on this machine or another; goes on where it stopped."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(epilog="Example: howlate run timers --set load=none --scale 0.1 --out /tmp/timers")
@click.argument("study", metavar="STUDY")
@click.option("--target", metavar="T", help="The machine that measures (default: local; docs/settings.md).")
@click.option(
    "--set", "changes", multiple=True, metavar="K=V[,V...]", help="Replace a setting or an axis of the study."
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Seeds of each point in virtual time (default: 8).",
)
@click.option("--scale", type=float, default=1.0, metavar="F", help="Multiply activations and durations.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="The run folder: new, or one to go on with."
)
@click.option(
    "--resume", is_flag=True, help="Go on with the newest unfinished run of this study below runs/."
)
@click.option("--dry-run", is_flag=True, help="Show the plan and its time; measure nothing.")
@click.option(
    "--emit-job",
    "job",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Measure nothing: write a folder that a machine's probe measures by itself.",
)
@click.option(
    "--target-arch",
    "arch",
    metavar="ARCH",
    help="With --emit-job, the machine's architecture: x86_64, aarch64, armv7, riscv64 (default: this one's).",
)
@click.option("--no-wait", is_flag=True, help="Do not wait until this machine is quiet.")
@click.option("--most-cells", type=int, default=10_000, show_default=True, help="Refuse a larger matrix.")
@click.option("--json", "as_json", is_flag=True, help="The tables as JSON.")
def command(
    study: str,
    target: str | None,
    changes: tuple[str, ...],
    seeds: int | None,
    scale: float,
    out: Path | None,
    resume: bool,
    dry_run: bool,
    job: Path | None,
    arch: str | None,
    no_wait: bool,
    most_cells: int,
    as_json: bool,
) -> int:
    """Run STUDY: the id of a built-in one (`howlate studies`) or a TOML file.

    Its cells are measured into a run folder, on a machine one after the other, in the lab (`--target
    lab:6.1,6.1-rt`) side by side. One that fails is kept apart, the others go on.

    Called again with the same --out, whole cells are skipped and failed ones repeated.

    With --emit-job the cells are not measured but written into a folder for a machine without SSH; `howlate import`
    makes the run of it when it comes back. With --out as well, only the cells that are missing there are written.
    """
    from howlate.cli._measure import measure
    from howlate.cli.lab._archive import say
    from howlate.errors import UsageError
    from howlate.prepare import Asked, kernels_asked, settings_in_force
    from howlate.studies import find_study
    from howlate.targets import open_target

    options = (f"--seeds={seeds}",) if seeds else ()
    settings = settings_in_force()
    asked = Asked(
        find_study(study), changes, scale, most_cells, study, False, seeds or 0, "run", options, settings
    )
    if job is not None:
        from howlate.cli._emit import emit

        if target or resume or as_json or dry_run:
            raise UsageError(
                "--emit-job measures nothing, so --target, --resume, --dry-run and --json are not for it",
                "leave them out",
            )
        return emit(asked, job, arch, out)
    if arch is not None:
        raise UsageError("--target-arch is for --emit-job alone", "leave it out")
    opened = open_target(target or settings.target(), kernels_asked(asked), say)
    return measure(asked, opened, out, resume, dry_run, as_json, wait=not no_wait)
