"""Find which change between two kernels makes a latency cross a limit."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from howlate.cli._complete import studies as complete_studies
from howlate.cli.lab._archive import ArchiveOptions, archive_options, say
from howlate.words.language import as_called
from howlate.words.statement import rule

if TYPE_CHECKING:
    from howlate.bisect import Ask, Asked, Bisected
    from howlate.lab.steps import Step
    from howlate.model.summary import CellSummary
    from howlate.targets import Target
    from howlate.targets.lab import LabTarget

ONE_RANGE = rule(
    "cli.bisect-one-range",
    "what is searched is not said, or said twice",
    remedy="write --good and --bad with two kernels, or --revisions and --build",
)
SKIPPED_BY_BUILD = rule("bisect.skipped-by-build", "its build says that it cannot be tested")
NOT_MEASURED = rule("bisect.not-measured", "it was not measured: {reason}")


@dataclass(frozen=True)
class _Range:
    """What is searched, as the user says it."""

    good: str
    bad: str
    revisions: Path | None
    build: str


@click.command(
    epilog="Example: howlate lab bisect check --set load=memory-alloc:100 --good 6.1 --bad 6.12 --limit 300us"
)
@click.argument("study", metavar="STUDY", shell_complete=complete_studies)
@click.option("--good", default="", metavar="KERNEL", help="A kernel that keeps the limit.")
@click.option(
    "--bad", default="", metavar="KERNEL", help="One that does not; its version or parameters differ."
)
@click.option(
    "--revisions",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Instead: names of builds, one a line, the good one first and the bad one last.",
)
@click.option(
    "--build",
    default="",
    metavar="COMMAND",
    help="Builds $HOWLATE_REVISION and leaves its kernel at $HOWLATE_KERNEL; exit code 125: skip it.",
)
@click.option("--limit", required=True, metavar="TIME", help="What the largest latency crosses.")
@click.option(
    "--window",
    default="",
    metavar="TIME",
    help="Decide by whether one release in a window of this length can miss the limit (lab prove), not by samples.",
)
@click.option("--set", "changes", multiple=True, metavar="K=V[,V...]", help="Replace a setting of the study.")
@click.option(
    "--module",
    "modules",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Modules of your own, built for each kernel and loaded before each cell; may be repeated.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=None,
    metavar="DIR",
    help="Where the runs of the steps are kept.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/lab/bisect.md).")
@archive_options
def command(
    study: str,
    good: str,
    bad: str,
    revisions: Path | None,
    build: str,
    limit: str,
    window: str,
    changes: tuple[str, ...],
    modules: tuple[Path, ...],
    out: Path | None,
    as_json: bool,
    archive: ArchiveOptions,
) -> int:
    """Find which change makes the largest latency of STUDY (its id or a TOML file) cross a limit: between two
    versions of the archive's kernel, two sets of boot parameters, or two builds of your own. A step is decided by 8
    seeds, or by a proof; one whose seeds do not agree is skipped. What is named is confirmed with 8 other seeds.
    Exit code 0: named and confirmed, 5: it could not be."""
    from howlate.bisect import Found, bisect
    from howlate.cli.verdict import duration_ns
    from howlate.errors import UsageError
    from howlate.lab.steps import of_labels, of_revisions
    from howlate.places import RUNS

    asked = _Range(good, bad, revisions, build)
    limit_ns = duration_ns("--limit", limit)
    if (
        bool(good and bad) == bool(revisions and build)
        or bool(good) != bool(bad)
        or bool(revisions) != bool(build)
    ):
        raise UsageError(ONE_RANGE())
    steps = of_revisions(revisions) if revisions else of_labels(good, bad, archive.opened)
    folder = out or RUNS / f"bisect-{study}"
    opened = _opener(asked, modules, archive, folder)
    ask = (
        _prover(study, changes, limit_ns, window, opened)
        if window
        else _sampler(study, changes, limit_ns, folder, opened)
    )
    found = bisect(steps, limit_ns, _told(ask), bool(window))
    _tell(found, as_json)
    return 0 if found.found is Found.NAMED else 5


Opened = Callable[["Step"], "LabTarget | None"]


def _opener(asked: _Range, modules: tuple[Path, ...], archive: ArchiveOptions, folder: Path) -> Opened:
    """The target of a step; None where its build says that it is to be skipped."""

    def opened(step: Step) -> LabTarget | None:
        from howlate.lab.steps import build
        from howlate.targets import LabOptions
        from howlate.targets.lab import open_lab

        options = LabOptions(modules=modules)
        if step.label:
            return open_lab(step.label, options, archive.opened(), say)
        kernel = build(asked.build, step.name, folder / "kernels")
        return open_lab("", replace(options, own=(kernel,)), archive.opened(), say) if kernel else None

    return opened


def _sampler(study: str, changes: tuple[str, ...], limit_ns: int, folder: Path, opened: Opened) -> Ask:
    def ask(step: Step, again: bool) -> Asked:
        from howlate.analysis.bisection import SEEDS, Side
        from howlate.bisect import Asked, sampled
        from howlate.errors import TargetError
        from howlate.store.run_folder import file_name

        place = folder / f"{file_name(step.name)}{'-again' if again else ''}"
        try:
            target = opened(step)
            if target is None:
                return Asked(Side.SKIP, why=SKIPPED_BY_BUILD())
            with contextlib.closing(target):
                summaries = _measured(study, changes, SEEDS * (2 if again else 1), place, target)
        except TargetError as problem:  # it does not boot, or its guest dies
            return Asked(Side.SKIP, why=NOT_MEASURED(reason=problem.statement))
        return sampled(summaries, limit_ns, again)

    return ask


def _measured(
    study: str, changes: tuple[str, ...], seeds: int, place: Path, target: Target
) -> tuple[CellSummary, ...]:
    from howlate.cli._execute import execute_cells
    from howlate.prepare import Asked, prepare, settings_in_force
    from howlate.session import begin
    from howlate.studies import find_study

    asked = Asked(find_study(study), changes, given=study, seeds=seeds, settings=settings_in_force())
    prepared = prepare(asked, target)
    session = begin(prepared, place)
    if session.cells:
        execute_cells(prepared, session)
    return tuple(session.folder.summaries())


def _prover(study: str, changes: tuple[str, ...], limit_ns: int, window: str, opened: Opened) -> Ask:
    def ask(step: Step, again: bool) -> Asked:
        from howlate.analysis.bisection import Side
        from howlate.bisect import Asked, proved
        from howlate.cli.lab.prove import ProofAsked, proof_of
        from howlate.cli.verdict import duration_ns
        from howlate.errors import TargetError
        from howlate.prepare import Asked as RunAsked
        from howlate.prove import LOAD, loads_of
        from howlate.studies import find_study

        given = RunAsked(find_study(study), changes)
        loads = [value for name, values in given.parsed if name == LOAD for value in map(str, values)]
        begin_ns = 100_000_000 + (duration_ns("--window", window) if again else 0)
        question = ProofAsked.of(window, f"{begin_ns}ns", "", f"{limit_ns}ns", 0, 0, False)
        try:
            target = opened(step)
            if target is None:
                return Asked(Side.SKIP, why=SKIPPED_BY_BUILD())
            (machine,) = target.machines
            return proved(
                [proof_of(target, machine, load, question) for load in loads or loads_of(given.study)]
            )
        except TargetError as problem:
            return Asked(Side.SKIP, why=NOT_MEASURED(reason=problem.statement))

    return ask


def _told(ask: Ask) -> Ask:
    """With a line for each answer."""

    def told(step: Step, again: bool) -> Asked:
        from howlate.bisect import SIDES
        from howlate.words.quantities import time_text
        from howlate.words.say import text_of

        answer = ask(step, again)
        ends = (min(answer.largest_ns), max(answer.largest_ns)) if answer.largest_ns else ()
        figures = " - ".join(map(time_text, ends))
        why = f": {as_called(text_of(answer.why))}" if answer.why else ""
        click.echo(f"{step.name}: {figures} {text_of(SIDES[answer.side]())}{why}", err=True)
        return answer

    return told


def _tell(found: Bisected, as_json: bool) -> None:
    import json

    from rich.console import Console

    from howlate.report.bisected import document
    from howlate.report.document_terminal import print_document

    if as_json:
        click.echo(json.dumps(found.to_json(), indent=1, ensure_ascii=False))
        return
    print_document(Console(highlight=False, markup=False), document(found))
