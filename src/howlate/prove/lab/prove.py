"""Find and bound how late a single release can be, in a stretch of virtual time."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from howlate.cli._complete import studies as complete_studies
from howlate.cli._job import load_option
from howlate.cli._options import output_option
from howlate.cli._say import say
from howlate.lab.cli.lab._archive import ArchiveOptions, archive_options
from howlate.lab.cli.lab._built import BuiltOptions, built_options

if TYPE_CHECKING:
    from howlate.lab.targets.lab import LabTarget
    from howlate.prove.landscape import Goal, Search
    from howlate.prove.proof import Proof
    from howlate.prove.worst_releases import LateRelease

LONGEST_NS = 60_000_000_000
"""A search of it takes days, and 1,500 forks."""
LEAD_NS = 5_000_000
"""Of probe/src/job/single.hpp."""
MOST_WORST = 100
"""Each is played once more."""
CHECKS = 60
"""Check instants of a landscape."""
_EXIT_CODES = {"within": 0, "kept": 0, "missed": 1}
_UNDECIDED = 5


@click.command(
    epilog="Example: howlate lab prove --load memory-alloc:100 --kernels '6.1[preempt=none],6.1-rt' --window 200ms"
)
@click.argument("study", metavar="[STUDY]", required=False, shell_complete=complete_studies)
@load_option
@click.option(
    "--kernels",
    default="",
    metavar="A,B,...",
    help="The kernels, as in `howlate lab run` (default: those of the study).",
)
@built_options
@click.option("--window", default="200ms", show_default=True, metavar="TIME", help="How long the window is.")
@click.option(
    "--begin",
    "begin",
    default="100ms",
    show_default=True,
    metavar="TIME",
    help="When it begins, after the cell's start.",
)
@click.option(
    "--within",
    default="",
    metavar="SHARE|TIME",
    help="How close the bound is to what was found (default: 5%); a time is beside eps.",
)
@click.option("--deadline", default="", metavar="TIME", help="Only whether a release misses it.")
@click.option(
    "--checks",
    type=click.IntRange(0),
    default=CHECKS,
    show_default=True,
    metavar="N",
    help="Random instants.",
)
@click.option("--jobs", type=click.IntRange(0), default=0, metavar="N", help="Guests at once.")
@click.option("--no-cache", "fresh", is_flag=True, help="Probe again what is in the cache.")
@click.option(
    "--worst",
    type=click.IntRange(0, MOST_WORST),
    default=0,
    metavar="K",
    help="Show where the time of the latest K went (as lab why does), each kept by something else; the page and JSON "
    "always have the latest.",
)
@output_option("Write a page (HTML) too.")
@click.option(
    "--accept-sampled-premises",
    "accepted",
    is_flag=True,
    help="Claim the bound by your own word: what it rests on is sampled, not watched.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/lab/prove.md).")
@archive_options
def command(
    study: str | None,
    loads: tuple[str, ...],
    kernels: str,
    built: BuiltOptions,
    archive: ArchiveOptions,
    output: Path | None,
    *,
    as_json: bool,
    **others: Any,
) -> int:
    """Find how late one release can be whose instant lies in a window of a guest's time, with none before it. The
    search ends when no later release can be left, provided that premises hold which it samples and does not watch.
    The loads are those of STUDY (its id or a TOML file) or of --load.
    Exit code 5: no later release was found, or not all instants could be searched, 1: a release misses the deadline,
    0: searched as asked, and --accept-sampled-premises."""
    from howlate.lab.targets.lab import open_lab
    from howlate.store.files import check_place
    from howlate.targets import LabOptions

    check_place(output)
    landscapes = _landscapes(study, loads, kernels, has_own=bool(built.own))
    asked = ProofAsked.of(**others)
    lab = LabOptions(own=built.own, modules=built.modules, jobs=asked.jobs)
    target = open_lab(landscapes.kernels, lab, archive.opened(), say)
    found = [
        _search(target, machine, load, asked) for machine in target.machines for load in landscapes.loads
    ]
    proofs = [proof for proof, _ in found]
    _tell(proofs, [others for _, others in found] if asked.worst else None, output, as_json=as_json)
    return exit_code(proofs)


@dataclass(frozen=True)
class LandscapesAsked:
    """Whose landscapes are searched: each kernel's beside each load."""

    kernels: str
    loads: tuple[str, ...]


def _landscapes(
    study: str | None, loads: tuple[str, ...], kernels: str, *, has_own: bool = False
) -> LandscapesAsked:
    """The kernels that are named, else the study's; none if the user gave kernels of their own."""
    from howlate.errors import UsageError
    from howlate.measure.prepare import Asked, kernels_asked
    from howlate.prove.flow import loads_of
    from howlate.studies import find_study

    if study is not None:
        if loads:
            raise UsageError(
                "the loads are the study's, or those of --load", remedy="leave out STUDY or --load"
            )
        asked = Asked(find_study(study))
        loads = loads_of(asked.study)
        kernels = kernels or ("" if has_own else ",".join(kernels_asked(asked)))
    if not kernels and not has_own:
        raise UsageError("no kernels are named", remedy="write --kernels 6.1,6.1-rt")
    return LandscapesAsked(kernels, tuple(dict.fromkeys(loads)) or ("none",))


@dataclass(frozen=True)
class ProofAsked:
    """The question, the same for all landscapes."""

    goal: Goal
    first_ns: int
    length_ns: int
    checks: int
    jobs: int
    fresh: bool
    worst: int = 0
    """So many late releases are explained, and searched for whether or not a bound may be claimed."""
    accepted: bool = False
    """Whether the caller accepts the premises that are only sampled."""

    @classmethod
    def of(cls, window: str, begin: str, within: str, deadline: str, **others: Any) -> ProofAsked:
        """Of the options; `others` are members by their names."""
        from howlate.cli._times import duration_ns
        from howlate.errors import UsageError

        goal = _goal(within, deadline)
        first_ns = duration_ns("--begin", begin)
        if first_ns <= LEAD_NS:
            raise UsageError(
                "--from must be more than 5ms: the guest stops there before the window",
                remedy="leave it out, or write --begin 100ms",
            )
        return cls(goal, first_ns, window_ns(window), **others)


def window_ns(text: str) -> int:
    """The length of a window."""
    from howlate.cli._times import within_ns

    return within_ns("--window", text, 1, LONGEST_NS)


def _goal(within: str, deadline: str) -> Goal:
    from howlate.cli._times import duration_ns, limit_ns_of
    from howlate.errors import UsageError
    from howlate.prove.landscape import Goal

    if within and deadline:
        raise UsageError("--within and --deadline are two questions", remedy="ask one of them")
    if deadline:
        return Goal(deadline_ns=limit_ns_of("--deadline", deadline))
    share = _share(within or "5%")
    if share is None and _has_unit(within) and (within_ns := duration_ns("--within", within)):
        return Goal(within_ns=within_ns)
    if share is None or not 0 < share <= 1:
        raise UsageError(
            "--within must be a share between 0% and 100%, or a time, not {text}",
            remedy="write it like 5% or 2us",
            text=within,
        )
    return Goal(within=share)


def _has_unit(text: str) -> bool:
    """Whether it begins as a time does, and does not end as a number does."""
    return text[:1].isdigit() and not text[-1:].isdigit()


def _share(text: str) -> float | None:
    """A number without a sign is no share: it could be 5 % or 5."""
    try:
        return float(text.removesuffix("%")) / 100 if text.endswith("%") else None
    except ValueError:
        return None


def proof_of(target: LabTarget, machine: str, load: str, asked: ProofAsked) -> Proof:
    """Search one landscape."""
    return _search(target, machine, load, asked)[0]


def _search(target: LabTarget, machine: str, load: str, asked: ProofAsked) -> tuple[Proof, list[LateRelease]]:
    """The same, and where the time of late releases beside the latest went."""
    from howlate.measure.machines import NOT_CHECKED
    from howlate.model.facts import Facts
    from howlate.prove.flow import Prober, prove
    from howlate.prove.landscape import ReleaseWindow
    from howlate.prove.proof import Landscape
    from howlate.prove.worst_releases import LateRelease, latest_of
    from howlate.replay.premises import Throttling, in_force

    facts = Facts.from_json(target.facts(machine))  # refuses parameters that the kernel does not know
    bench, job = target.single(machine, tuple(load.split("+")))
    not_checked = (facts.text(NOT_CHECKED) or "").split()
    parameters = in_force(bench.label.parameters, bench.kernel.arch, not_checked)
    of = Landscape(machine, load, asked.first_ns, parameters)
    window = ReleaseWindow(0, asked.length_ns)

    def lines(at_ns: int) -> list[list[str]]:
        return job(asked.first_ns + at_ns)

    try:
        throttling = Throttling.of(load, facts)
        with Prober(
            bench, lines, window, target.parallel, fresh=asked.fresh, throttling=throttling
        ) as prober:
            name = f"{machine}, {load}"
            told = _progress(name), _begins(name)
            proof = prove(of, asked.goal, asked.checks, prober, *told, late=asked.worst > 0)
            others = [LateRelease(probe, prober.why(probe)) for probe in latest_of(proof, asked.worst)[1:]]
    finally:
        _show("")
    return replace(proof, accepted=asked.accepted), others


def _show(line: str) -> None:
    """In place of the line before on a terminal, where "" leaves nothing of it; elsewhere on a line of its own."""
    is_terminal = sys.stderr.isatty()
    if line or is_terminal:
        click.echo(f"\r\x1b[K{line}" if is_terminal else line, err=True, nl=not is_terminal)


def _begins(name: str) -> Callable[[Search], None]:
    """Once, before the search: how many probes it takes at least, and how long."""
    from howlate.words.quantities import seconds_text

    began = time.monotonic()

    def told(search: Search) -> None:
        _show("")
        least, each_s = _least_of(search), (time.monotonic() - began) / len(search.probes)
        left_s = each_s * max(0, least - len(search.probes))
        click.echo(
            f"{name}: {len(search.probes)} probes were asked before the search, which takes {least} in all at least: "
            f"{seconds_text(left_s, ' ', math.floor)} more at least",
            err=True,
        )

    return told


def _least_of(search: Search) -> int:
    from howlate.prove.landscape import least_probes

    smallest_ns = min(probe.latency_ns for probe in search.probes)
    return least_probes(search.window, search.aim_ns, smallest_ns)


def _progress(name: str) -> Callable[[Search], None]:
    """Found and bound as they approach each other, at most once a second; the least number of probes, and how long
    those take that are left of it."""
    from howlate.words.quantities import exact_text, seconds_text

    began = last = time.monotonic()

    def told(search: Search) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < 1:
            return
        last = now
        least = _least_of(search)
        each_s = (now - began) / len(search.probes)
        left_s = each_s * (least - len(search.probes))
        left = f", {seconds_text(left_s, ' ', math.floor)} left at least" if left_s > 0 else ""
        _show(
            f"{name}: found {exact_text(search.found_ns)}, bound {exact_text(search.bound_ns)}, "
            f"{len(search.probes)} probes of at least {least} ({each_s:.2f} s each{left})"
        )

    return told


def _tell(
    proofs: Sequence[Proof],
    others: Sequence[Sequence[LateRelease]] | None,
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    import json

    from rich.console import Console

    from howlate.cli._screen import print_lines
    from howlate.document.doc_links import linked
    from howlate.document.document import Document
    from howlate.document.document_terminal import print_document
    from howlate.prove.document import page, to_json_value, whys
    from howlate.prove.screen import prove_screen
    from howlate.store.files import OUTPUT, write_output

    if as_json:
        click.echo(json.dumps(to_json_value(proofs, others or ()), indent=1, ensure_ascii=False))
    else:
        if others is not None:
            explained = Document(tuple(whys(proofs, others)))
            print_document(Console(highlight=False, markup=False), explained)
        print_lines(lambda width, letters: prove_screen(proofs, width, letters=letters))
    if out is not None:
        write_output(out, linked(page(proofs, others or ()), out), OUTPUT)
        click.echo(out, err=as_json)


def exit_code(proofs: Sequence[Proof]) -> int:
    """1 where any deadline is missed, else 5 where any bound is not claimed."""
    codes = {_EXIT_CODES.get(proof.ruling.value, _UNDECIDED) for proof in proofs}
    return 1 if 1 in codes else max(codes)
