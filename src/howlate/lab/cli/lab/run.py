"""Run a study on kernels side by side; continues where it stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from howlate.cli._complete import studies as complete_studies
from howlate.cli._job import Job, guest_job_options
from howlate.cli._measure import measure
from howlate.cli._options import RunOptions, duration_ns, run_options, together
from howlate.cli._say import say
from howlate.lab.cli.lab._archive import ArchiveOptions, archive_options
from howlate.lab.cli.lab._built import kernel_option, modules_option
from howlate.lab.problems import no_kernels
from howlate.model.guest_cpus import MOST_MIPS
from howlate.model.units import format_duration
from howlate.targets import LabOptions

if TYPE_CHECKING:
    from howlate.measure.prepare import RunRequest


def _turn_ns(text: str | None) -> int:
    """0 stands for the usual turn, which nobody can ask for as a turn of 0."""
    if text is None:
        return 0
    from howlate.lab.guests.machine import is_turn, no_turn

    turn_ns = duration_ns("--turn", text)
    if not is_turn(turn_ns):
        raise no_turn(turn_ns)
    return turn_ns


lab_options = together(
    "lab",
    LabOptions,
    [
        kernel_option,
        click.option(
            "--probe",
            type=click.Path(path_type=Path),
            metavar="PATH",
            help="A probe of your own for all guests of the run, with the shared libraries that it needs: one "
            "built for a real-time core (`./dev probe --with-cobalt`).",
        ),
        modules_option,
        click.option(
            "--no-cache",
            "cached",
            is_flag=True,
            flag_value=False,
            default=True,
            help="Measure every cell, even if its result is in the cache.",
        ),
        click.option(
            "--clock",
            type=click.Choice(["virtual", "real"]),
            default="virtual",
            show_default=True,
            help="The guests' time; real needs KVM.",
        ),
        click.option(
            "--jobs",
            type=click.IntRange(0),
            default=0,
            metavar="N",
            help="How many guests run at once (default: the host's CPUs).",
        ),
        click.option(
            "--guest-cpus",
            "cpus",
            type=int,
            metavar="N",
            help="CPUs of a guest, all busy while a cell is measured (virtual time: 2 to 4, amd64 alone; default: "
            "the study's number, else 1).",
        ),
        click.option(
            "--mips",
            type=click.Choice(["1000", "500", "250", "125"]),
            callback=lambda _context, _option, text: int(text),
            default="1000",
            show_default=True,
            help="Millions of instructions in a second of virtual time, of all CPUs together.",
        ),
        click.option(
            "--turn",
            "turn_ns",
            callback=lambda _context, _option, text: _turn_ns(text),
            metavar="TIME",
            help="Longest turn of one of several CPUs, 1us to 1ms (default: 5us).",
        ),
    ],
)


@click.command(
    epilog="Example: howlate lab run check --kernels '6.1[preempt=none],6.1[preempt=full],6.1-rt' --set load=none"
)
@click.argument("study", metavar="STUDY", shell_complete=complete_studies)
@click.option(
    "--kernels",
    default="",
    metavar="A,B,...",
    help='The kernels; "all", "all@arm64": one of every series (default: those of the study).',
)
@lab_options
@guest_job_options
@run_options
@archive_options
def command(
    study: str, kernels: str, lab: LabOptions, options: RunOptions, archive: ArchiveOptions, job: Job
) -> int:
    """Run STUDY (its id or a TOML file) on each of the kernels, in guests that contain only the kernel and
    the probe. Each point is measured with several seeds: the result is their spread, never a single value.

    Called again with the same --out, the command continues; unchanged cells come from the cache.
    """
    from howlate.lab.targets.lab import open_lab

    request = job.request(options, study, "lab run", _own_options(kernels, lab))
    labels = _kernels(request, kernels, lab.own)
    cpus = lab.cpus if lab.cpus is not None else request.study.cpus or None
    lab = replace(lab, jobs=lab.jobs or request.settings.count("jobs"), cpus=cpus)
    return measure(request, open_lab(labels, lab, archive.opened(), say), options)


def _kernels(request: RunRequest, kernels: str, own: tuple[Path, ...]) -> str:
    from howlate.measure.prepare import requested_kernels

    labels = kernels or ("" if own else ",".join(requested_kernels(request)))
    if not labels and not own:
        raise no_kernels()
    return labels


def _own_options(kernels: str, lab: LabOptions) -> tuple[str, ...]:
    """This command's own options, for the sentence that says how to continue."""
    return (
        *([f"--kernels={kernels}"] if kernels else []),
        *(f"--own-kernel={path}" for path in lab.own),
        *([f"--probe={lab.probe}"] if lab.probe is not None else []),
        *([f"--clock={lab.clock}"] if lab.clock != "virtual" else []),
        *(f"--module={path}" for path in lab.modules),
        *([f"--guest-cpus={lab.cpus}"] if lab.cpus is not None else []),
        *([f"--mips={lab.mips}"] if lab.mips != MOST_MIPS else []),
        *([f"--turn={format_duration(lab.turn_ns)}"] if lab.turn_ns else []),
    )
