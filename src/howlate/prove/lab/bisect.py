"""Find which change between two kernels makes a latency cross a limit."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.cli._complete import studies as complete_studies
from howlate.cli._options import out_option, together
from howlate.cli._say import say
from howlate.lab.cli.lab._archive import ArchiveOptions, archive_options
from howlate.lab.cli.lab._built import modules_option
from howlate.words.language import as_called
from howlate.words.statement import rule

if TYPE_CHECKING:
    from howlate.lab.targets.lab import LabTarget
    from howlate.model.plan import Plan
    from howlate.prove.bisected import Ask, AskedOf, Bisected, StepAnswer
    from howlate.prove.bisection import Step
    from howlate.prove.landscape import Goal
    from howlate.prove.proof import Proof
    from howlate.store.run_folder import RunFolder

SKIPPED_BY_BUILD = rule("bisect.skipped-by-build", "its build says that it cannot be tested")
NOT_MEASURED = rule("bisect.not-measured", "it was not measured: {reason}")
BEGIN_NS = 100_000_000
"""Where the first window of a step begins, after the cell's start."""
APART_NS = 37_000_000
"""Between two windows, so that the load is elsewhere in its course; no multiple of a tick of 4 or 10 ms."""


@dataclass(frozen=True)
class BisectOptions:
    """What is searched, and by what, as the user says it."""

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
        from howlate.errors import UsageError
        from howlate.plan.changes import parse_change
        from howlate.prove.flow import LOAD
        from howlate.prove.lab.prove import window_ns

        if not self.window:
            return
        window_ns(self.window)
        for name, _ in map(parse_change, self.changes):
            if name != LOAD:
                raise UsageError(
                    "--window measures single releases, which have nothing of a study but its loads: --set "
                    "{name} would change nothing",
                    remedy="leave out --set {name}, or --window",
                    name=name,
                )


bisect_options = together(
    "options",
    BisectOptions,
    [
        click.option("--good", default="", metavar="KERNEL", help="A kernel that keeps the limit."),
        click.option(
            "--bad", default="", metavar="KERNEL", help="One that does not; its version or parameters differ."
        ),
        click.option(
            "--revisions",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Instead: names of builds, one a line, the good one first and the bad one last.",
        ),
        click.option(
            "--build",
            default="",
            metavar="COMMAND",
            help="Builds $HOWLATE_REVISION and leaves its kernel at $HOWLATE_KERNEL; exit code 125: skip it.",
        ),
        click.option(
            "--window",
            default="",
            metavar="TIME",
            help="Decide by whether one release in a window of this length can miss the limit (lab prove), not by "
            "samples.",
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
@click.option("--limit", required=True, metavar="TIME", help="What the largest latency crosses.")
@bisect_options
@out_option("The run folders of the steps: a new folder, or one to continue.")
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
    from howlate.cli._times import limit_ns_of
    from howlate.errors import UsageError
    from howlate.prove.bisected import BisectionEnd, bisect
    from howlate.prove.steps import of_labels, of_revisions
    from howlate.studies import find_study
    from howlate.system.paths import RUNS

    limit_ns = limit_ns_of("--limit", limit)
    if not options.is_one_range:
        raise UsageError(
            "what is searched is not said, or said twice",
            remedy="write --good and --bad with two kernels, or --revisions and --build",
        )
    options.check()
    if options.revisions is not None:
        steps = of_revisions(options.revisions)
    else:
        steps = of_labels(options.good, options.bad, archive.opened)
    folder = out or RUNS / f"bisect-{find_study(study).id}"
    lab = _Steps(study, limit_ns, options, folder, archive)
    found = bisect(
        steps, limit_ns, _told(lab.proved if options.window else lab.sampled), proved=bool(options.window)
    )
    _tell(found, as_json=as_json)
    return 0 if found.end is BisectionEnd.NAMED else 5


@dataclass(frozen=True)
class _Steps:
    """Measures steps."""

    study: str
    limit_ns: int
    options: BisectOptions
    folder: Path
    archive: ArchiveOptions

    def built(self, step: Step) -> Path | None:
        """The kernel that a step's build left; None where it says that it is to be skipped."""
        from howlate.prove.steps import build

        return build(self.options.build, step.name, self.folder / "kernels")

    def opened(self, step: Step, kernel: Path | None) -> LabTarget:
        """The target of a step: one of the archive, or what was built."""
        from howlate.lab.targets.lab import open_lab
        from howlate.targets import LabOptions

        lab = LabOptions(modules=self.options.modules, own=(kernel,) if kernel else ())
        return open_lab(step.label, lab, self.archive.opened(), say)

    def sampled(self, step: Step, how: AskedOf) -> StepAnswer:
        """By 8 seeds, or by 8 others."""
        from howlate.prove.bisected import sampled

        def answered(target: LabTarget) -> StepAnswer:
            folder, plan = self._measured(step, target, again=how.again)
            points = {cell.point for cell in plan.cells if not cell.impossible}
            return sampled(folder.summaries(), points, self.limit_ns, again=how.again)

        return self._asked(step, answered)

    def proved(self, step: Step, how: AskedOf) -> StepAnswer:
        """By 8 windows, or by 8 others; a proof for each load."""
        from howlate.measure.prepare import Asked
        from howlate.prove.bisected import WINDOWS, proved
        from howlate.prove.flow import LOAD, loads_of
        from howlate.prove.lab.prove import CHECKS, ProofAsked, proof_of, window_ns
        from howlate.studies import find_study

        asked = Asked(find_study(self.study), self.options.changes)
        loads = [value for name, values in asked.parsed if name == LOAD for value in map(str, values)]
        length_ns = window_ns(self.options.window)

        def proofs(target: LabTarget, number: int, goal: Goal) -> list[Proof]:
            begin_ns = BEGIN_NS + number * (length_ns + APART_NS)
            checks = -(-CHECKS // WINDOWS)
            question = ProofAsked(goal, begin_ns, length_ns, checks, jobs=0, fresh=False, worst=1)
            (machine,) = target.machines
            return [proof_of(target, machine, load, question) for load in loads or loads_of(asked.study)]

        def answered(target: LabTarget) -> StepAnswer:
            return proved(lambda number, goal: proofs(target, number, goal), self.limit_ns, how)

        return self._asked(step, answered)

    def _asked(self, step: Step, answered: Callable[[LabTarget], StepAnswer]) -> StepAnswer:
        """What is wrong with a step's kernel skips the step; what is wrong with howlate, or with this machine, ends
        the search."""
        from howlate.errors import GuestError, UnfitKernelError
        from howlate.lab.archive.packages import AbsentError
        from howlate.prove.bisected import StepAnswer
        from howlate.prove.bisection import StepSide

        kernel = None if step.label else self.built(step)
        if not step.label and kernel is None:
            return StepAnswer(StepSide.SKIP, why=SKIPPED_BY_BUILD())
        try:
            with contextlib.closing(self.opened(step, kernel)) as target:
                return answered(target)
        except (GuestError, UnfitKernelError, AbsentError) as problem:
            return StepAnswer(StepSide.SKIP, why=NOT_MEASURED(reason=problem.statement))

    def _measured(self, step: Step, target: LabTarget, *, again: bool) -> tuple[RunFolder, Plan]:
        from howlate.cli._execute import execute_cells
        from howlate.measure.prepare import Asked, prepare, settings_in_force
        from howlate.measure.session import begin
        from howlate.prove.bisection import SEEDS
        from howlate.store.run_folder import file_name
        from howlate.studies import find_study

        asked = Asked(
            find_study(self.study),
            self.options.changes,
            given=self.study,
            seeds=SEEDS * (2 if again else 1),
            settings=settings_in_force(),
        )
        prepared = prepare(asked, target)
        session = begin(prepared, self.folder / f"{file_name(step.name)}{'-again' if again else ''}")
        if session.cells:
            execute_cells(prepared, session)
        return session.folder, session.run.plan


def _told(ask: Ask) -> Ask:
    """With a line for each answer."""

    def told(step: Step, how: AskedOf) -> StepAnswer:
        from howlate.prove.bisected import SIDES
        from howlate.words.quantities import time_text
        from howlate.words.say import text_of

        answer = ask(step, how)
        ends = (min(answer.largest_ns), max(answer.largest_ns)) if answer.largest_ns else ()
        figures = " - ".join(map(time_text, ends))
        why = f": {as_called(text_of(answer.why))}" if answer.why else ""
        click.echo(f"{step.name}: {figures} {text_of(SIDES[answer.side]())}{why}", err=True)
        return answer

    return told


def _tell(found: Bisected, *, as_json: bool) -> None:
    import json

    from rich.console import Console

    from howlate.document.document_terminal import print_document
    from howlate.prove.bisected_document import document

    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1, ensure_ascii=False))
        return
    print_document(Console(highlight=False, markup=False), document(found))
