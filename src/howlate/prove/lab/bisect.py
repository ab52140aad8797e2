"""Find which change between two kernels makes a latency cross a limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from howlate.cli._complete import studies as complete_studies
from howlate.cli._options import limit_ns_of, out_option, together
from howlate.cli._say import say
from howlate.cli._screen import print_document, print_json
from howlate.errors import UsageError
from howlate.lab.cli.lab._archive import ArchiveOptions, archive_options
from howlate.lab.cli.lab._built import modules_option
from howlate.model.decode import NOT_WITH
from howlate.studies import find_study
from howlate.system.paths import RUNS
from howlate.words.language import as_called
from howlate.words.quantities import time_text
from howlate.words.say import text_of

if TYPE_CHECKING:
    from howlate.prove.bisected import Ask, Bisected, Step, StepAnswer, StepRequest


class BisectOptions(Struct, frozen=True):
    good: str
    bad: str
    revisions: Path | None
    build: str
    window: str
    changes: tuple[str, ...]
    modules: tuple[Path, ...]

    @property
    def is_one_range(self) -> bool:
        """Two kernels, or revisions and how they are built."""
        given = [bool(word) for word in (self.good, self.bad, self.revisions, self.build)]
        return given in ([True, True, False, False], [False, False, True, True])

    def check(self) -> None:
        """Refuse a window that a proof would refuse, and settings that it would not have, before anything is
        built."""
        from howlate.plan.changes import parse_change
        from howlate.prove.flow import LOAD
        from howlate.prove.lab.prove import window_ns

        if not self.window:
            return
        window_ns(self.window)
        for name, _ in map(parse_change, self.changes):
            if name != LOAD:
                raise UsageError(NOT_WITH(option=f"--set {name}", other="--window"))


bisect_options = together(
    "options",
    BisectOptions,
    [
        click.option("--good", default="", metavar="KERNEL", help="A kernel that keeps the limit."),
        click.option(
            "--bad",
            default="",
            metavar="KERNEL",
            help="A kernel that does not; its version or parameters differ.",
        ),
        click.option(
            "--revisions",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Names of builds instead, one a line: the first is good, the last is bad.",
        ),
        click.option(
            "--build",
            default="",
            metavar="COMMAND",
            help="Command that builds $HOWLATE_REVISION into $HOWLATE_KERNEL; exit code 125 skips it.",
        ),
        click.option(
            "--window",
            default="",
            metavar="TIME",
            help="Search windows of this length for a release that misses the limit (lab prove); do not sample.",
        ),
        click.option(
            "--set", "changes", multiple=True, metavar="K=V[,V...]", help="Replace a setting of the study."
        ),
        modules_option,
    ],
)


@click.command(
    epilog="Example: howlate lab bisect check --set load=memory-alloc:100 --good 6.1 --bad 6.12 --limit 300us"
)
@click.argument("study", metavar="STUDY", shell_complete=complete_studies)
@click.option("--limit", required=True, metavar="TIME", help="Limit that the maximum crosses.")
@bisect_options
@out_option("Folder for the run folders of the steps, new or to continue.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/lab/bisect.md).")
@archive_options
def command(
    study: str,
    limit: str,
    options: BisectOptions,
    out: Path | None,
    *,
    as_json: bool,
    archive: ArchiveOptions,
) -> int:
    """Find which change makes the largest latency of STUDY (its id or a TOML file) cross a limit: between two
    versions of the archive's kernel, two sets of boot parameters, or two builds of your own. A step is decided by 8
    seeds, or by searches of 8 windows; one whose seeds or windows do not agree is skipped. What is named is confirmed
    with 8 others.
    Exit code 0: named and confirmed, 5: it could not be."""
    from howlate.cli._progress import execute_cells
    from howlate.lab.targets.lab import open_lab
    from howlate.measure.prepare import RunRequest, settings_in_force
    from howlate.prove.bisected import BisectionEnd, bisect
    from howlate.prove.lab._search_line import showing
    from howlate.prove.lab.prove import window_ns
    from howlate.prove.measured_steps import MeasuredSteps
    from howlate.prove.steps import of_labels, of_revisions
    from howlate.targets import LabOptions

    limit_ns = limit_ns_of("--limit", limit)
    if not options.is_one_range:
        raise UsageError(
            "give either --good and --bad, or --revisions and --build",
            remedy="see `howlate lab bisect --help`",
        )
    options.check()
    if options.revisions is not None:
        steps = of_revisions(options.revisions)
    else:
        steps = of_labels(options.good, options.bad, archive.opened)
    folder = out or RUNS / f"bisect-{find_study(study).id}"
    lab = MeasuredSteps(
        request=RunRequest(find_study(study), options.changes, given=study, settings=settings_in_force()),
        limit_ns=limit_ns,
        window_ns=window_ns(options.window) if options.window else 0,
        build=options.build,
        folder=folder,
        opened=lambda label, own: open_lab(
            label, LabOptions(modules=options.modules, own=own), archive.opened(), say
        ),
        execute=execute_cells,
        showing=showing,
    )
    found = bisect(
        steps, limit_ns, _told(lab.proved if options.window else lab.sampled), proved=bool(options.window)
    )
    _tell(found, as_json=as_json)
    return 0 if found.end is BisectionEnd.NAMED else 5


def _told(ask: Ask) -> Ask:
    def reported(step: Step, how: StepRequest) -> StepAnswer:
        from howlate.prove.bisected import SIDES

        answer = ask(step, how)
        ends = (min(answer.largest_ns), max(answer.largest_ns)) if answer.largest_ns else ()
        figures = " - ".join(map(time_text, ends))
        why = f": {as_called(text_of(answer.why))}" if answer.why else ""
        click.echo(f"{step.name}: {figures} {text_of(SIDES[answer.side])}{why}", err=True)
        return answer

    return reported


def _tell(found: Bisected, *, as_json: bool) -> None:
    from howlate.prove.bisected_document import document

    if as_json:
        print_json(found.to_json())
        return
    print_document(document(found))
