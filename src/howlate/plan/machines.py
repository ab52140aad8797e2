"""A study on a target of several machines (the lab's kernels): the axis `kernel`, and seeds for repetitions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from howlate.errors import UsageError
from howlate.model.study import KERNEL, Study, Value, spell
from howlate.model.units import format_duration, parse_duration_ns

SEEDS = 8
"""So many seeds a point has where nothing else is said (docs/adr/0004)."""
PHASES_NS = 4_000_000
"""A phase is drawn from so long: a tick of 250 Hz, the distributions' choice."""


def kernels_of(study: Study) -> tuple[str, ...]:
    """The kernels that a study compares, as an axis or (one) as a setting: it is for the lab alone."""
    if KERNEL in study.axes:
        return tuple(spell(value) for value in study.axes[KERNEL])
    setting = study.settings.get(KERNEL)
    return () if setting is None else (spell(setting),)


def on_machines(study: Study, machines: Sequence[str]) -> Study:
    """The study with the target's machines as its axis `kernel`: where the study has it, else first; where the
    study has parts, as its kernels.

    Refused where the target is one machine without a name and the study names kernels.
    """
    asked = kernels_of(study)
    if tuple(machines) == ("",):
        if not asked:
            return study
        raise UsageError(
            f"{study.id} compares kernels ({', '.join(asked)}), and a machine that runs has one",
            f"`howlate lab run {study.id}` boots them as guests; or run it without its axis kernel "
            "after each boot, and make a report of the runs",
        )
    if study.parts:
        return replace(study, kernels=tuple(machines))
    settings = {name: value for name, value in study.settings.items() if name != KERNEL}
    axes = study.axes if KERNEL in study.axes else {KERNEL: (), **study.axes}
    axes = {name: tuple(machines) if name == KERNEL else values for name, values in axes.items()}
    exclude = tuple(_meant(study, machines))
    return replace(study, settings=settings, axes=axes, exclude=exclude, kernels=())


def _meant(study: Study, machines: Sequence[str]) -> Iterable[Mapping[str, tuple[Value, ...]]]:
    """The exclusions that can still meet a cell."""
    for entry in study.exclude:
        if KERNEL not in entry:
            yield entry
        elif kept := tuple(value for value in entry[KERNEL] if value in machines):
            yield {**entry, KERNEL: kept}


def seeded(study: Study, seeds: int) -> Study:
    """The study with so many seeds for repetitions; refused where it sets the seed itself."""
    if not 1 <= seeds <= 10_000:
        raise UsageError(f"{seeds} seeds cannot be", f"use 1 to 10000 (default {SEEDS})")
    if any("seed" in piece.axes for piece in study.pieces()):
        raise UsageError(
            f'{study.id} has an axis "seed"; in virtual time a point has its seeds anyway',
            "leave it out, and say how many by --seeds N",
        )
    return replace(study, order=replace(study.order, repetitions=seeds))


def phase_ns(seed: int) -> int:
    """Where in the kernel's tick a seed's first release lies: the same for all kernels and points, so that
    comparisons are paired."""
    digest = hashlib.sha256(f"howlate phase {seed}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % PHASES_NS


def with_seed(parameters: Mapping[str, Value], seed: int, known: Mapping[str, str]) -> dict[str, Value]:
    """A point's parameters for one seed. `known`: the test's parameters with their defaults."""
    found = dict(parameters)
    if "first" in known:
        first = spell(found["first"]) if "first" in found else known["first"] or "0ns"
        found["first"] = format_duration(parse_duration_ns(first) + phase_ns(seed))
    if "seed" in known and ("dither" in found or "dither" not in known):
        found["seed"] = str(seed)
    return found


def seeds_differ(parameters: Mapping[str, Value], known: Mapping[str, str]) -> bool:
    """Whether a seed changes anything of this point: without it all seeds are the same bytes."""
    return with_seed(parameters, 1, known) != with_seed(parameters, 2, known)
