"""Play the worst samples of a lab run again, and say where every instruction went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.cli._options import OutputPath, together
from howlate.cli._say import say
from howlate.lab.cli.lab._archive import ArchiveOptions, archive_options
from howlate.lab.cli.lab._built import BuiltOptions, built_options
from howlate.words.statement import rule

if TYPE_CHECKING:
    from howlate.lab.targets.lab import LabTarget
    from howlate.model.guest_cpus import GuestCpus
    from howlate.why.replayed.explained import Explained
    from howlate.why.replayed.pair import LatenessPair

WORST_AGAINST = rule("cli.worst-against", "--against puts one sample beside one", remedy="leave out --worst")
MOST_WORST = 1_000
"""Each has its stretch and that of a neighbour, and the plugin has room for 4,096 (probe/emulator/trace.cpp)."""
OWN_NOT_NAMED = rule(
    "cli.own-not-named",
    "{kernel} is a kernel of your own, and its file is not named",
    remedy="name it as when it was measured: --kernel {kernel}=PATH",
)
TOO_FEW_WORST = rule("cli.too-few-worst", "--worst must be from 1 to {most:count}, not {worst}")


STACKS, SPEEDSCOPE = "--stacks", "--speedscope"


@dataclass(frozen=True)
class FileOptions:
    """What is written beside what is printed."""

    output: Path | None
    stacks: Path | None
    speedscope: Path | None

    def check(self) -> None:
        """Refuse places where nothing can be written."""
        from howlate.store.files import OUTPUT, check_place

        places = {OUTPUT: self.output, STACKS: self.stacks, SPEEDSCOPE: self.speedscope}
        for option, place in places.items():
            check_place(place, option)


_FILE = OutputPath()
file_options = together(
    "files",
    FileOptions,
    [
        click.option(
            "-o", "--output", type=_FILE, metavar="FILE", help="Write a page with a flame graph too."
        ),
        click.option(
            "--stacks",
            type=_FILE,
            metavar="FILE",
            help="Write collapsed stacks too (for flamegraph.pl, inferno).",
        ),
        click.option("--speedscope", type=_FILE, metavar="FILE", help="Write a file for speedscope too."),
    ],
)
"""-o, --stacks, --speedscope, passed as `files`."""


@click.command(epilog="Example: howlate lab why runs/20260102T030405-preemption-models --worst 3")
@click.argument("run", type=click.Path(path_type=Path), metavar="RUN")
@click.argument("cell", default="", metavar="[CELL]")
@click.option("--worst", type=int, default=1, show_default=True, metavar="K", help="How many samples.")
@click.option(
    "--against",
    default="",
    metavar="KERNEL",
    help="Put the worst sample beside the worst one of this kernel, and say what is in one and not in the other.",
)
@built_options
@file_options
@click.option(
    "--debuginfo",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    metavar="PATH",
    help="Show lines of source too, from the debug package of the kernel, its vmlinux, or a folder; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/lab/why.md).")
@archive_options
def command(
    run: Path,
    cell: str,
    worst: int,
    against: str,
    built: BuiltOptions,
    files: FileOptions,
    debuginfo: tuple[Path, ...],
    as_json: bool,
    archive: ArchiveOptions,
) -> int:
    """Play the worst samples of the run folder RUN again, of all cells or of CELL (its id or a part of it), with
    every instruction logged from the release to the time stamp, and say where they went. The samples are the same
    to the nanosecond, or the command fails."""
    import json

    from rich.console import Console

    from howlate.document.document_terminal import print_document
    from howlate.errors import UsageError
    from howlate.why.replayed.document import document, why_json

    if not 1 <= worst <= MOST_WORST:
        raise UsageError(TOO_FEW_WORST(worst=worst, most=MOST_WORST))
    if against and worst > 1:
        raise UsageError(WORST_AGAINST())
    files.check()
    samples = SamplesAsked(run, cell, worst, against, debuginfo)
    found, pair = _explained(samples, lambda labels, guest: _opened(labels, guest, built, archive))
    if as_json:
        click.echo(json.dumps(why_json(found, pair), indent=1, ensure_ascii=False))
    else:
        print_document(Console(highlight=False, markup=False), document(found, pair))
    _write(found, pair, files)
    return 0


@dataclass(frozen=True)
class SamplesAsked:
    """Which samples are explained, and where lines of source are."""

    run: Path
    cell: str
    worst: int
    against: str
    debuginfo: tuple[Path, ...]


def _explained(
    asked: SamplesAsked, opened: Callable[[Sequence[str], GuestCpus], LabTarget]
) -> tuple[list[Explained], LatenessPair | None]:
    """The samples; and two side by side where that is asked."""
    from howlate.cli._named import damaged_where, tell_cells_missing
    from howlate.lab import debug_info
    from howlate.store.run_folder import RunFolder
    from howlate.why.replayed.flow import choose, choose_against, explain_all

    folder = RunFolder.at(asked.run)
    measured = folder.read_run()
    with damaged_where(tell_cells_missing(folder, measured)):
        chosen = choose(folder, measured, asked.cell, asked.worst, without=asked.against)
        if asked.against:
            chosen.append(choose_against(folder, measured, chosen[0].cell, asked.against))
    with debug_info.opened(asked.debuginfo) as debug:
        found = explain_all(folder, measured, chosen, opened, say, debug)
    return found, _pair(found, chosen[0].cell.id) if asked.against else None


def _opened(
    labels: Sequence[str], guest: GuestCpus, built: BuiltOptions, archive: ArchiveOptions
) -> LabTarget:
    """The lab with the kernels of a run, those that the user built among them."""
    from howlate.errors import UsageError
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


def _pair(found: Sequence[Explained], cell: str) -> LatenessPair:
    """The sample of a cell, and the other."""
    from howlate.why.replayed.pair import LatenessPair

    one, other = sorted(found, key=lambda each: each.cell != cell)
    return LatenessPair(one, other)


def _write(found: Sequence[Explained], pair: LatenessPair | None, files: FileOptions) -> None:
    import json

    from howlate.store.files import OUTPUT, write_output
    from howlate.why.replayed.stacks import collapsed
    from howlate.why.replayed.stacks import speedscope as to_speedscope

    if files.stacks is not None:
        write_output(files.stacks, collapsed(found), STACKS)
    if files.speedscope is not None:
        write_output(files.speedscope, json.dumps(to_speedscope(found)), SPEEDSCOPE)
    if files.output is not None:
        from howlate.document.doc_links import linked
        from howlate.why.replayed.page import page

        write_output(files.output, linked(page(found, pair), files.output), OUTPUT)
