"""`why RUN` of a run of the lab: which samples are played again, and what is written of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from howlate.cli._options import OutputPath, together
from howlate.cli._say import say
from howlate.errors import UsageError
from howlate.model.decode import NOT_WITH
from howlate.words.statement import message

if TYPE_CHECKING:
    from howlate.lab.cli.lab._archive import ArchiveOptions
    from howlate.lab.cli.lab._built import BuiltOptions
    from howlate.lab.targets.lab import LabTarget
    from howlate.model.guest_cpus import GuestCpus
    from howlate.model.loaded import RunContent
    from howlate.model.run import Run
    from howlate.why.explained_cells import CellCase, ExplainedCell
    from howlate.why.replayed.pair_document import LatenessPair

MOST_WORST = 1_000
"""Each has its logged span and that of a neighbour, and the plugin has room for 4,096 (probe/emulator/trace.cpp)."""
OWN_NOT_NAMED = message(
    "cli.own-not-named",
    "{kernel} is a kernel of your own, and its file is not named",
    remedy="name it as when it was measured, --own-kernel {kernel}=PATH; or --from events",
)
EVENTS, REPLAY = "events", "replay"
STACKS, SPEEDSCOPE = "--stacks", "--speedscope"


class ReplayOptions(Struct, frozen=True):
    """Where the causes are from, and what replays alone have."""

    source: str
    against: str
    stacks: Path | None
    speedscope: Path | None
    debuginfo: tuple[Path, ...]

    def check(self) -> None:
        """Refuse places where nothing can be written."""
        from howlate.store.files import check_place

        check_place(self.stacks, STACKS)
        check_place(self.speedscope, SPEEDSCOPE)

    def is_wanted(self, run: Run, cell: str) -> bool:
        """Whether samples of this run are played again: where possible, unless --from events is given."""
        from howlate.why.replayed.flow import can_be_replayed

        return self.source == REPLAY or (self.source != EVENTS and can_be_replayed(run, cell))


replay_options = together(
    "replay",
    ReplayOptions,
    [
        click.option(
            "--from",
            "source",
            type=click.Choice([EVENTS, REPLAY]),
            default=None,
            help="Explain from the kernel's recorded events, or play the samples again with every instruction logged "
            "(default: replay for runs of the lab in virtual time, else events).",
        ),
        click.option(
            "--against",
            default="",
            metavar="KERNEL",
            help="Replay: compare the worst sample with the worst one of this kernel.",
        ),
        click.option(
            "--stacks",
            type=OutputPath(),
            metavar="FILE",
            help="Replay: write collapsed stacks too (for flamegraph.pl, inferno).",
        ),
        click.option(
            "--speedscope", type=OutputPath(), metavar="FILE", help="Replay: write a file for speedscope too."
        ),
        click.option(
            "--debuginfo",
            type=click.Path(path_type=Path, exists=True),
            multiple=True,
            metavar="PATH",
            help="Replay: show lines of source too, from the debug package of the kernel, its vmlinux, or a folder; "
            "may be repeated.",
        ),
    ],
)
"""--from, --against, --stacks, --speedscope, --debuginfo, passed as `replay`."""


def must_be_replayed(replay: ReplayOptions, built: BuiltOptions, archive: ArchiveOptions) -> None:
    """UsageError if options are given that replays alone have: nothing is played again."""
    options = {
        "--from replay": replay.source == REPLAY,
        "--against": replay.against,
        STACKS: replay.stacks,
        SPEEDSCOPE: replay.speedscope,
        "--debuginfo": replay.debuginfo,
        "--own-kernel": built.own,
        "--module": built.modules,
        "--mirror": archive.mirrors,
        "--keyring": archive.keyring,
        "--refresh": archive.refresh,
    }
    if given := tuple(name for name, value in options.items() if value):
        raise UsageError(NOT_WITH(option=" or ".join(given), other="a run that is not replayed"))


class ReplayedSamples(Struct, frozen=True):
    """The samples that were played again; two side by side where that was asked."""

    cells: Sequence[ExplainedCell]
    pair: LatenessPair | None

    @property
    def cases(self) -> Sequence[CellCase]:
        """The worst first."""
        from howlate.why.explained_cells import worst_cases

        return worst_cases(self.cells)

    def write(self, options: ReplayOptions) -> None:
        from howlate.store.files import write_output
        from howlate.why.replayed.stacks import collapsed
        from howlate.why.replayed.stacks import speedscope as to_speedscope

        if options.stacks is not None:
            write_output(options.stacks, collapsed(self.cases), STACKS)
        if options.speedscope is not None:
            write_output(options.speedscope, json.dumps(to_speedscope(self.cases)), SPEEDSCOPE)


def played_again(
    path: Path,
    content: RunContent,
    cell: str,
    worst: int | None,
    options: ReplayOptions,
    opened: Callable[[Sequence[str], GuestCpus], LabTarget],
) -> ReplayedSamples:
    """The worst samples of the cells that are named by their id or a part of it."""
    from howlate.lab import debug_info
    from howlate.store.run_folder import RunFolder
    from howlate.why.explained_cells import worst_cases
    from howlate.why.replayed.flow import choose, choose_against, explain_all
    from howlate.why.replayed.pair_document import LatenessPair

    if worst is not None and not 1 <= worst <= MOST_WORST:
        raise UsageError("--worst must be from 1 to {most:count}, not {worst}", worst=worst, most=MOST_WORST)
    if options.against and worst is not None and worst > 1:
        raise UsageError(NOT_WITH(option="--worst", other="--against"))
    folder = RunFolder.at(path)
    chosen = choose(folder, content.run, cell, worst or 1, without=options.against)
    if options.against:
        chosen.append(choose_against(folder, content.run, chosen[0].cell, options.against))
    with debug_info.opened(options.debuginfo) as debug:
        cells = explain_all(folder, content.run, chosen, opened, say, debug)
    if not options.against:
        return ReplayedSamples(cells, None)
    one, other = sorted(worst_cases(cells), key=lambda each: each.cell.id != chosen[0].cell.id)
    return ReplayedSamples(cells, LatenessPair(one, other))


def opened_lab(
    labels: Sequence[str], guest: GuestCpus, built: BuiltOptions, archive: ArchiveOptions
) -> LabTarget:
    """The lab with the kernels of a run, those that the user built among them."""
    from howlate.lab.kernels.label import is_of_the_archive
    from howlate.lab.targets.lab import open_lab
    from howlate.targets import LabOptions

    of_the_archive = [label for label in labels if is_of_the_archive(label)]
    own = [label for label in labels if label not in of_the_archive]
    if own and not built.own:
        raise UsageError(OWN_NOT_NAMED(kernel=own[0]))
    options = LabOptions(
        own=built.own if own else (),
        modules=built.modules,
        mips=guest.mips,
        cpus=guest.cpus,
        turn_ns=guest.turn_ns,
    )
    target = open_lab(",".join(of_the_archive), options, archive.opened(), say)
    for label in own:
        if label not in target.machines:
            raise UsageError(OWN_NOT_NAMED(kernel=label))
    return target
