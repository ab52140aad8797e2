"""A study on a target with several machines (the lab's kernels): the axis `kernel`, and seeds as repetitions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from howlate.errors import UsageError
from howlate.model.decode import WRONG_OPTION
from howlate.model.study import KERNEL, Study, Value, spell
from howlate.model.units import format_duration, parse_duration_ns

SEEDS = 8
"""The default number of seeds of a point (docs/adr/0004)."""
PHASES_NS = 4_000_000
"""Phases are drawn from this range: a tick of 250 Hz, the distributions' choice."""


def kernels_of(study: Study) -> tuple[str, ...]:
    """The kernels that a study compares, as an axis or (a single one) as a setting: such a study is only for
    the lab."""
    if KERNEL in study.axes:
        return tuple(spell(value) for value in study.axes[KERNEL])
    setting = study.settings.get(KERNEL)
    return () if setting is None else (spell(setting),)


def on_machines(study: Study, machines: Sequence[str]) -> Study:
    """The study with the target's machines as its axis `kernel`: in the place where the study has the axis,
    else first; if the study has parts, as its kernels.

    UsageError if the target is one machine without a name and the study names kernels.
    """
    asked = kernels_of(study)
    if tuple(machines) == ("",):
        if not asked:
            return study
        raise UsageError(
            "{study} compares kernels ({kernels:all}), but a running machine has only one",
            remedy="`howlate lab run {study}` boots them as guests; or run it without its axis kernel after "
            "each boot, and make a report of the runs",
            study=study.id,
            kernels=tuple(asked),
        )
    if study.parts:
        return replace(study, kernels=tuple(machines))
    settings = {name: value for name, value in study.settings.items() if name != KERNEL}
    axes = study.axes if KERNEL in study.axes else {KERNEL: (), **study.axes}
    axes = {name: tuple(machines) if name == KERNEL else values for name, values in axes.items()}
    exclude = tuple(_meant(study, machines))
    return replace(study, settings=settings, axes=axes, exclude=exclude, kernels=())


def _meant(study: Study, machines: Sequence[str]) -> Iterable[Mapping[str, tuple[Value, ...]]]:
    for entry in study.exclude:
        if KERNEL not in entry:
            yield entry
        elif kept := tuple(value for value in entry[KERNEL] if value in machines):
            yield {**entry, KERNEL: kept}


def seeded(study: Study, seeds: int) -> Study:
    """The study with this many seeds as repetitions; UsageError if it sets the seed itself."""
    if not 1 <= seeds <= 10_000:
        kind = "between 1 and 10000"
        raise UsageError(WRONG_OPTION(option="--seeds", kind=kind, given=seeds, example=SEEDS))
    if any("seed" in piece.axes for piece in study.pieces()):
        raise UsageError(
            '{study} has an axis "seed", but in virtual time every point has its seeds anyway',
            remedy="leave it out, and choose their number with --seeds N",
            study=study.id,
        )
    return replace(study, order=replace(study.order, repetitions=seeds))


def phase_ns(seed: int) -> int:
    """The phase of a seed's first release within the kernel's tick: the same for all kernels and points, so
    that comparisons are paired."""
    digest = hashlib.sha256(f"howlate phase {seed}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % PHASES_NS


def with_seed(parameters: Mapping[str, Value], seed: int, known: Mapping[str, str]) -> dict[str, Value]:
    """A point's parameters for one seed. `known`: the test's parameters with their defaults."""
    seeded = dict(parameters)
    if "first" in known:
        first = spell(seeded["first"]) if "first" in seeded else known["first"] or "0ns"
        seeded["first"] = format_duration(parse_duration_ns(first) + phase_ns(seed))
    if "seed" in known and ("dither" in seeded or "dither" not in known):
        seeded["seed"] = str(seed)
    return seeded


def seeds_differ(parameters: Mapping[str, Value], known: Mapping[str, str]) -> bool:
    """Whether a seed changes anything of this point; if not, all seeds give the same bytes."""
    return with_seed(parameters, 1, known) != with_seed(parameters, 2, known)
