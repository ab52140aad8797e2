"""Flip the knobs of this machine one at a time, measure what each buys, and put them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from howlate.cli._job import load_option
from howlate.cli._say import say
from howlate.errors import UsageError
from howlate.model.decode import NOT_WITH, twice
from howlate.studies import find_study
from howlate.system.paths import probe_path
from howlate.why.cli._advise import AdviseOptions, advise, advise_options, with_length

if TYPE_CHECKING:
    from howlate.targets import Target
    from howlate.why.advise.flow import AdviceRequest

LOADS = ("none", "memory-alloc:100")


@click.command(epilog="Example: howlate advise --load none --knobs c_states,thp --pairs 8")
@load_option
@click.option(
    "--cell-duration",
    "seconds",
    default="3",
    show_default=True,
    metavar="TIME",
    help="The length of a cell: seconds, or a time with a unit.",
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="K=V[,V...]",
    help="Another setting of the measuring task, such as period=250us.",
)
@click.option(
    "--kernels",
    default="",
    metavar="A,B,...",
    help="Flip the knobs of a guest with this kernel, in virtual time, instead of this machine's.",
)
@click.option(
    "--guest-cpus", "cpus", type=int, metavar="N", help="With --kernels: CPUs of the guest (default: 1)."
)
@advise_options
def command(
    loads: tuple[str, ...],
    seconds: str,
    changes: tuple[str, ...],
    kernels: str,
    cpus: int | None,
    options: AdviseOptions,
) -> int:
    """Which settings of this machine would make it less late? Every knob that may be changed is flipped for the
    time of some cells, in a random order with cells without it, and put back by the probe. The table is ranked by
    what each knob was measured to buy; what helps is measured again, all together.

    Nothing is changed for good: the command prints what to write where. Called again with the same --out it
    continues.
    """
    asked = _asked(loads, seconds, changes, options)
    return advise(asked, _target(kernels, cpus), options)


def _asked(
    loads: tuple[str, ...], seconds: str, changes: tuple[str, ...], options: AdviseOptions
) -> AdviceRequest:
    from howlate.measure.prepare import settings_in_force
    from howlate.why.advise.advice import FIGURES
    from howlate.why.advise.flips import Measuring
    from howlate.why.advise.flow import AdviceRequest

    if repeated := [load for load in loads if loads.count(load) > 1]:
        raise UsageError(twice("value of --load", repeated[0], "name it once"))
    check = find_study("check")
    settings = {name: value for name, value in check.settings.items() if name != "deadline"}
    asked = AdviceRequest(
        Measuring(check.test, settings, loads or LOADS),
        options.knobs,
        options.pairs,
        options.seed,
        options.figures or FIGURES,
        changes,
        settings_in_force(),
    )
    return with_length(asked, seconds)


def _target(kernels: str, cpus: int | None) -> Target:
    """The guest, or this machine, on which what a killed probe left changed is put back before each cell."""
    from howlate.lab.kernels.label import split_labels
    from howlate.lab.targets.lab import open_lab
    from howlate.targets import LabOptions
    from howlate.targets.local import LocalTarget

    if not kernels:
        if cpus is not None:
            raise UsageError(NOT_WITH(option="--guest-cpus", other="a call without --kernels"))
        return LocalTarget(probe_path(), restores_first=True)
    count = len(split_labels(kernels))
    if count != 1:
        raise UsageError(
            "the knobs of one guest are flipped, and --kernels names {count}",
            remedy="name one kernel, as in --kernels 6.1-rt",
            count=count,
        )
    return open_lab(kernels, LabOptions(cpus=cpus), say=say)
