"""Find and bound how late a single release can be, in a window of virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from howlate.cli._complete import studies as complete_studies
from howlate.cli._job import load_option
from howlate.cli._options import duration_ns, limit_ns_of, output_option, within_ns
from howlate.cli._say import say
from howlate.cli._screen import print_document, print_json, print_lines
from howlate.errors import UsageError
from howlate.lab.cli.lab._archive import ArchiveOptions, archive_options
from howlate.lab.cli.lab._built import BuiltOptions, built_options
from howlate.model.decode import NOT_WITH

if TYPE_CHECKING:
    from howlate.prove.landscape import Goal
    from howlate.prove.proof import Proof
    from howlate.prove.searched import ProofRequest
    from howlate.prove.worst_releases import LateRelease

LONGEST_NS = 60_000_000_000
"""A search of it takes days, and 1,500 forks."""
MOST_WORST = 100
"""Each is replayed."""
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
@click.option("--window", default="200ms", show_default=True, metavar="TIME", help="Length of the window.")
@click.option(
    "--begin",
    "begin",
    default="100ms",
    show_default=True,
    metavar="TIME",
    help="Start of the window, after the cell's start.",
)
@click.option(
    "--within",
    default="",
    metavar="SHARE|TIME",
    help="Stop when the bound is within this share (default: 5%) of the latest release found, or this time plus eps.",
)
@click.option(
    "--deadline", default="", metavar="TIME", help="Only search for a release that misses this deadline."
)
@click.option(
    "--checks",
    type=click.IntRange(0),
    default=60,
    show_default=True,
    metavar="N",
    help="Number of random check instants.",
)
@click.option("--jobs", type=click.IntRange(0), default=0, metavar="N", help="Guests in parallel.")
@click.option("--no-cache", "fresh", is_flag=True, help="Ignore cached probes.")
@click.option(
    "--worst",
    type=click.IntRange(0, MOST_WORST),
    default=0,
    metavar="K",
    help="Explain the K latest releases that have different causes, as lab why does; page and JSON always have one.",
)
@output_option("Write a page (HTML) too.")
@click.option(
    "--accept-sampled-premises",
    "accepted",
    is_flag=True,
    help="Claim the bound although its premises are only sampled.",
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
    from howlate.prove.lab._search_line import showing
    from howlate.prove.searched import requested_landscapes, searched
    from howlate.store.files import check_place
    from howlate.targets import LabOptions

    check_place(output)
    landscapes = requested_landscapes(study, loads, kernels, has_own=bool(built.own))
    asked = _asked(**others)
    lab = LabOptions(own=built.own, modules=built.modules, jobs=asked.jobs)
    target = open_lab(landscapes.kernels, lab, archive.opened(), say)
    found = [
        searched(target, machine, load, asked, showing)
        for machine in target.machines
        for load in landscapes.loads
    ]
    proofs = [proof for proof, _ in found]
    _tell(proofs, [others for _, others in found] if asked.worst else None, output, as_json=as_json)
    return exit_code(proofs)


def _asked(window: str, begin: str, within: str, deadline: str, **others: Any) -> ProofRequest:
    """The request of the options; `others` are members by their names."""
    from howlate.prove.searched import LEAD_NS, ProofRequest

    goal = _goal(within, deadline)
    first_ns = duration_ns("--begin", begin)
    if first_ns <= LEAD_NS:
        raise UsageError(
            "--begin must be more than 5ms, at which the guest stops before the window",
            remedy="leave it out, or write --begin 100ms",
        )
    return ProofRequest(goal, first_ns, window_ns(window), **others)


def window_ns(text: str) -> int:
    return within_ns("--window", text, 1, LONGEST_NS)


def _goal(within: str, deadline: str) -> Goal:
    from howlate.prove.landscape import Goal

    if within and deadline:
        raise UsageError(NOT_WITH(option="--within", other="--deadline"))
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
    return text[:1].isdigit() and not text[-1:].isdigit()


def _share(text: str) -> float | None:
    """A number without a sign is not a share: it could be 5 % or 5."""
    try:
        return float(text.removesuffix("%")) / 100 if text.endswith("%") else None
    except ValueError:
        return None


def _tell(
    proofs: Sequence[Proof],
    others: Sequence[Sequence[LateRelease]] | None,
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    from howlate.document.doc_links import linked
    from howlate.document.document import Document
    from howlate.prove.document import page, to_json_value, whys
    from howlate.prove.screen import prove_screen
    from howlate.store.files import OUTPUT, write_output

    if as_json:
        print_json(to_json_value(proofs, others or ()))
    else:
        if others is not None:
            explained = Document(tuple(whys(proofs, others)))
            print_document(explained)
        print_lines(lambda width, letters: prove_screen(proofs, width, letters=letters))
    if out is not None:
        write_output(out, linked(page(proofs, others or ()), out), OUTPUT)
        click.echo(out, err=as_json)


def exit_code(proofs: Sequence[Proof]) -> int:
    """1 where any deadline is missed, else 5 where any bound is not claimed."""
    codes = {_EXIT_CODES.get(proof.ruling.value, _UNDECIDED) for proof in proofs}
    return 1 if 1 in codes else max(codes)
