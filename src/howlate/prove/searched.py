"""Searches landscapes of a lab's guests: the request, and the search of each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

from msgspec import Struct
from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.lab.problems import no_kernels
from howlate.lab.targets.lab import LabTarget
from howlate.measure.machines import NOT_CHECKED
from howlate.measure.prepare import RunRequest, requested_kernels
from howlate.model.decode import NOT_WITH
from howlate.model.facts import Facts
from howlate.prove.flow import Prober, Report, loads_of, prove
from howlate.prove.landscape import Goal, ReleaseWindow
from howlate.prove.proof import Landscape, Proof
from howlate.prove.worst_releases import LateRelease, latest_of
from howlate.replay.premises import Throttling, in_force
from howlate.studies import find_study

LEAD_NS = 5_000_000
"""As in probe/src/job/single.hpp."""

Showing = Callable[[str], AbstractContextManager[tuple[Report, Report]]]
"""Shows how far the search of a landscape is, by its name: before and during it."""


class LandscapesRequest(Struct, frozen=True):
    """Whose landscapes are searched: each kernel's under each load."""

    kernels: str
    loads: tuple[str, ...]


def requested_landscapes(
    study: str | None, loads: tuple[str, ...], kernels: str, *, has_own: bool = False
) -> LandscapesRequest:
    """The kernels that are named, else the study's; none if the user gave kernels of their own."""
    if study is not None:
        if loads:
            raise UsageError(NOT_WITH(option="--load", other="STUDY"))
        asked = RunRequest(find_study(study))
        loads = loads_of(asked.study)
        kernels = kernels or ("" if has_own else ",".join(requested_kernels(asked)))
    if not kernels and not has_own:
        raise no_kernels()
    return LandscapesRequest(kernels, tuple(dict.fromkeys(loads)) or ("none",))


class ProofRequest(Struct, frozen=True):
    """The question, the same for all landscapes."""

    goal: Goal
    first_ns: int
    length_ns: int
    checks: int
    jobs: int = 0
    fresh: bool = False
    worst: int = 0
    """Late releases that are explained, and searched for whether or not a bound may be claimed."""
    accepted: bool = False
    """Whether the caller accepts the premises that are only sampled."""


def searched(
    target: LabTarget, machine: str, load: str, asked: ProofRequest, showing: Showing
) -> tuple[Proof, list[LateRelease]]:
    """A landscape's proof, and where the time of late releases besides the latest went."""
    facts = Facts.from_json(target.facts(machine))  # refuses parameters that the kernel does not know
    bench, job = target.single(machine, tuple(load.split("+")))
    not_checked = (facts.text(NOT_CHECKED) or "").split()
    parameters = in_force(bench.label.parameters, bench.kernel.arch, not_checked)
    of = Landscape(machine, load, asked.first_ns, parameters)
    window = ReleaseWindow(0, asked.length_ns)

    def lines(at_ns: int) -> list[list[str]]:
        return job(asked.first_ns + at_ns)

    throttling = Throttling.of(load, facts)
    with (
        showing(f"{machine}, {load}") as told,
        Prober(bench, lines, window, target.parallel, fresh=asked.fresh, throttling=throttling) as prober,
    ):
        proof = prove(of, asked.goal, asked.checks, prober, *told, late=asked.worst > 0)
        others = [LateRelease(probe, prober.why(probe)) for probe in latest_of(proof, asked.worst)[1:]]
    return replace(proof, accepted=asked.accepted), others
