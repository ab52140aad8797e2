"""Run a study on kernels side by side; goes on where it stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.cli.lab._archive import archive_options, open_archive, say

if TYPE_CHECKING:
    from howlate.prepare import Asked


@click.command(
    epilog="Example: howlate lab run check --kernels '6.1[preempt=none],6.1[preempt=full],6.1-rt' --set load=none"
)
@click.argument("study", metavar="STUDY")
@click.option(
    "--kernels",
    default="",
    metavar="A,B,...",
    help='The kernels; "all", "all@arm64": one of every series (default: the study\'s own).',
)
@click.option(
    "--kernel",
    "own",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="[NAME=]PATH",
    help="A kernel of your own (bzImage or Image) beside them, under its file's name or NAME; may be repeated.",
)
@click.option(
    "--module",
    "modules",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Modules of your own, built for each kernel and loaded before each cell; may be repeated.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="Seeds of each point in virtual time (default: 8).",
)
@click.option(
    "--set", "changes", multiple=True, metavar="K=V[,V...]", help="Replace a setting or an axis of the study."
)
@click.option("--scale", type=float, default=1.0, metavar="F", help="Multiply activations and durations.")
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="The run folder: new, or one to go on with."
)
@click.option(
    "--resume", is_flag=True, help="Go on with the newest unfinished run of this study below runs/."
)
@click.option(
    "--no-cache", is_flag=True, help="Measure every cell, also those whose results are in the cache."
)
@click.option(
    "--clock",
    type=click.Choice(["virtual", "real"]),
    default="virtual",
    show_default=True,
    help="The guests' time; real needs KVM.",
)
@click.option(
    "--jobs", type=int, default=0, metavar="N", help="So many guests at once (default: the host's CPUs)."
)
@click.option(
    "--cpus",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="CPUs of a guest; several in real time only.",
)
@click.option("--dry-run", is_flag=True, help="Show the plan and its time; measure nothing.")
@click.option("--most-cells", type=int, default=10_000, show_default=True, help="Refuse a larger matrix.")
@click.option("--json", "as_json", is_flag=True, help="The tables as JSON.")
@archive_options
def command(
    study: str,
    kernels: str,
    own: tuple[Path, ...],
    modules: tuple[Path, ...],
    seeds: int | None,
    changes: tuple[str, ...],
    scale: float,
    out: Path | None,
    resume: bool,
    no_cache: bool,
    clock: str,
    jobs: int,
    cpus: int,
    dry_run: bool,
    most_cells: int,
    as_json: bool,
    mirrors: tuple[str, ...],
    keyring: Path | None,
    refresh: bool,
) -> int:
    """Run STUDY (its id or a TOML file) on each of the kernels, as guests that hold nothing but the kernel and
    the probe. A point is measured with several seeds: its result is their spread, never one of them.

    Called again with the same --out it goes on; unchanged cells come from the cache.
    """
    from howlate.cli._measure import measure
    from howlate.prepare import Asked, settings_in_force
    from howlate.studies import find_study
    from howlate.targets import open_lab

    settings = settings_in_force()
    asked = Asked(
        find_study(study),
        changes,
        scale,
        most_cells,
        study,
        False,
        seeds or 0,
        "lab run",
        _options(kernels, seeds, own, clock, modules, cpus),
        settings,
    )
    wanted = _kernels(asked, kernels, own)
    archive = open_archive(mirrors, keyring)
    if refresh:
        archive.packages(refresh=True)
    target = open_lab(
        wanted,
        own=own,
        modules=modules,
        clock=clock,
        jobs=jobs or settings.count("jobs"),
        cached=not no_cache,
        cpus=cpus,
        archive=archive,
        say=say,
    )
    return measure(asked, target, out, resume, dry_run, as_json)


def _kernels(asked: Asked, kernels: str, own: tuple[Path, ...]) -> str:
    """Those named, else the study's; none where there are kernels of one's own."""
    from howlate.errors import UsageError
    from howlate.prepare import kernels_asked

    wanted = kernels or ("" if own else ",".join(kernels_asked(asked)))
    if not wanted and not own:
        raise UsageError(
            f"{asked.study.id} names no kernels",
            "write --kernels 6.1,6.1-rt; `howlate lab kernels` lists them",
        )
    return wanted


def _options(
    kernels: str,
    seeds: int | None,
    own: tuple[Path, ...],
    clock: str,
    modules: tuple[Path, ...],
    cpus: int,
) -> tuple[str, ...]:
    """Those that are this command's own, for the sentence that says how to go on."""
    return (
        *([f"--kernels={kernels}"] if kernels else []),
        *([f"--seeds={seeds}"] if seeds else []),
        *(f"--kernel={path}" for path in own),
        *([f"--clock={clock}"] if clock != "virtual" else []),
        *(f"--module={path}" for path in modules),
        *([f"--cpus={cpus}"] if cpus != 1 else []),
    )
