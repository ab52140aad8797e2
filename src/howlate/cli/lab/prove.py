"""Find and bound how late a single release can be, in a stretch of virtual time."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from howlate.cli.lab._archive import ArchiveOptions, archive_options, say
from howlate.words.statement import rule

if TYPE_CHECKING:
    from howlate.analysis.landscape import Goal, Search
    from howlate.analysis.proof import Proof
    from howlate.targets.lab import LabTarget

TWO_GOALS = rule("cli.two-goals", "--within and --deadline are two questions", remedy="ask one of them")
NO_SHARE = rule(
    "cli.no-share",
    "--within must be a share between 0% and 100%, not {text}",
    remedy="write it like 5%",
)
FROM_TOO_EARLY = rule(
    "cli.from-too-early",
    "--from must be more than 5ms: the guest stops there before the window",
    remedy="leave it out, or write --from 100ms",
)
NEEDS_KERNELS = rule("cli.prove-needs-kernels", "no kernels are named", remedy="write --kernels 6.1,6.1-rt")
LEAD_NS = 5_000_000
"""Of probe/src/job/single.hpp."""
_EXIT_CODES = {"within": 0, "kept": 0, "missed": 1}
_UNDECIDED = 5


@click.command(
    epilog="Example: howlate lab prove --load memory-alloc:100 --kernels '6.1[preempt=none],6.1-rt' --window 200ms"
)
@click.option("--load", "loads", multiple=True, metavar="LOAD", help="Beside this load; may be repeated.")
@click.option("--kernels", default="", metavar="A,B,...", help="The kernels, as in `howlate lab run`.")
@click.option("--window", default="200ms", show_default=True, metavar="TIME", help="How long the window is.")
@click.option(
    "--from",
    "begin",
    default="100ms",
    show_default=True,
    metavar="TIME",
    help="When it begins, after the cell's start.",
)
@click.option(
    "--within", default="", metavar="SHARE", help="How close the bound is to what was found (default: 5%)."
)
@click.option("--deadline", default="", metavar="TIME", help="Only whether a release misses it.")
@click.option(
    "--checks", type=click.IntRange(0), default=60, show_default=True, metavar="N", help="Random instants."
)
@click.option("--jobs", type=click.IntRange(0), default=0, metavar="N", help="Guests at once.")
@click.option("--no-cache", "fresh", is_flag=True, help="Probe again what is in the cache.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/lab/prove.md).")
@archive_options
def command(
    loads: tuple[str, ...],
    kernels: str,
    window: str,
    begin: str,
    within: str,
    deadline: str,
    **others: object,
) -> int:
    """Find how late one release can be whose instant lies in a window of a guest's time, with none before it, and
    bound it: no release of the window is later. Exit code 0: bounded as asked, 1: the deadline is missed, 5: neither
    could be shown."""
    from howlate.analysis.landscape import ReleaseWindow
    from howlate.cli.verdict import duration_ns
    from howlate.errors import UsageError
    from howlate.targets import LabOptions
    from howlate.targets.lab import open_lab

    if not kernels:
        raise UsageError(NEEDS_KERNELS())
    goal = _goal(within, deadline)
    first_ns, length_ns = duration_ns("--from", begin), duration_ns("--window", window)
    if first_ns <= LEAD_NS:
        raise UsageError(FROM_TOO_EARLY())
    archive, jobs = others["archive"], others["jobs"]
    assert isinstance(archive, ArchiveOptions) and isinstance(jobs, int)
    target = open_lab(kernels, LabOptions(jobs=jobs), archive.opened(), say)
    asked = _Asked(goal, ReleaseWindow(0, length_ns), first_ns, others["checks"], bool(others["fresh"]))
    proofs = [
        _proof(target, machine, load, asked) for machine in target.machines for load in loads or ("none",)
    ]
    _tell(proofs, bool(others["as_json"]))
    return _exit_code(proofs)


class _Asked:
    def __init__(self, goal: Goal, window: object, first_ns: int, checks: object, fresh: bool) -> None:
        from howlate.analysis.landscape import ReleaseWindow

        assert isinstance(window, ReleaseWindow) and isinstance(checks, int)
        self.goal, self.window, self.first_ns, self.checks, self.fresh = goal, window, first_ns, checks, fresh


def _goal(within: str, deadline: str) -> Goal:
    from howlate.analysis.landscape import Goal
    from howlate.cli.verdict import duration_ns
    from howlate.errors import UsageError

    if within and deadline:
        raise UsageError(TWO_GOALS())
    if deadline:
        return Goal(deadline_ns=duration_ns("--deadline", deadline))
    try:
        share = float((within or "5%").removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise UsageError(NO_SHARE(text=within))
    return Goal(within=share)


def _proof(target: LabTarget, machine: str, load: str, asked: _Asked) -> Proof:
    from howlate.analysis.proof import Landscape
    from howlate.prove import Prober, prove

    target.facts(machine)  # refuses parameters that the kernel does not know
    bench, lines = target.single(machine, tuple(load.split("+")), asked.first_ns)
    of = Landscape(machine, load, asked.first_ns, _goes_idle(load, bench.label.parameters))
    with Prober(bench, lines, target.parallel, asked.fresh) as prober:
        told = _progress(f"{machine}, {load}")
        return prove(of, asked.goal, asked.window, asked.checks, prober, target.parallel, told)


def _goes_idle(load: str, parameters: Sequence[str]) -> bool:
    """A load with a target of 100 % leaves no time idle."""
    if {"nohz=off", "idle=poll"} & set(parameters):
        return False
    return not any(one.partition(",")[0].endswith(":100") for one in load.split("+"))


def _progress(name: str) -> Callable[[Search], None]:
    """Found and bound as they approach each other, at most once a second; with the first line the least number of
    probes."""
    from howlate.analysis.landscape import least_probes
    from howlate.words.quantities import exact_text

    began = last = time.monotonic()

    def told(search: Search) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < 1:
            return
        last = now
        smallest_ns = min(probe.latency_ns for probe in search.probes)
        least = least_probes(search.window, search.aim_ns, smallest_ns)
        each_s = (now - began) / len(search.probes)
        line = (
            f"{name}: found {exact_text(search.found_ns)}, bound {exact_text(search.bound_ns)}, "
            f"{len(search.probes)} probes of at least {least} ({each_s:.2f} s each)"
        )
        click.echo(f"\r\x1b[K{line}" if sys.stderr.isatty() else line, err=True, nl=not sys.stderr.isatty())

    return told


def _tell(proofs: Sequence[Proof], as_json: bool) -> None:
    from howlate.analysis.proof import SCOPE
    from howlate.words.say import english, say, to_json

    if as_json:
        rows = [proof.to_json() for proof in proofs]
        scope = {"sentence": english(SCOPE()), "statements": [to_json(SCOPE())]}
        click.echo(json.dumps({"schema": 1, **scope, "landscapes": rows}, indent=1, ensure_ascii=False))
        return
    for proof in proofs:
        click.echo(say(proof.sentence()))
    click.echo(say(SCOPE()))


def _exit_code(proofs: Sequence[Proof]) -> int:
    codes = {_EXIT_CODES.get(proof.ruling.value, _UNDECIDED) for proof in proofs}
    return 1 if 1 in codes else max(codes)
