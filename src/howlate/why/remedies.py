"""The remedy of a part of a late sample: its sentence, and the doctor's checks that look at it (docs/doctor.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from howlate.doctor import checks_of, knobs_of
from howlate.model.cause import Cause, CausePart, Why
from howlate.model.facts import Finding
from howlate.why.cause_words import IDLE_POLL, IRQ_LATE_ON_RT, PREEMPTION_OFF, REMEDIES
from howlate.why.explained_cells import CauseSum, weighty_causes
from howlate.words.statement import Message

MODE, MODE_KNOB = "preempt_dynamic", "preemption"
"""The check of the mode of preemption, and its knob: nothing where preemption is off."""
PREEMPTIBLE = ("full", "rt")
"""Models that are what NOT_PREEMPTIBLE says to boot."""


class Remedy(Struct, frozen=True):
    text: Message
    checks: frozenset[str] = frozenset()
    """The doctor's."""
    knobs: tuple[str, ...] = ()
    """What the probe can set for a trial (docs/knobs.md)."""


def remedy_of(part: CausePart, *, has_idle_states: bool | None, preemption: str = "") -> Remedy | None:
    """What to do about the cause of a part; None where nothing has to be done, or all of it is. `has_idle_states`:
    whether the kernel has any to choose from; None if nobody knows. `preemption`: its model."""
    if part.cause is Cause.NOT_PREEMPTIBLE and preemption != "rt" and 2 * part.held_ns > part.ns:
        knobs = tuple(knob for knob in knobs_of(*part.key) if knob != MODE_KNOB)
        return Remedy(PREEMPTION_OFF, checks_of(*part.key) - {MODE}, knobs)
    if part.cause is Cause.NOT_PREEMPTIBLE and preemption in PREEMPTIBLE:
        return None
    if part.cause is Cause.IDLE and (part.state is None or has_idle_states is False):
        return Remedy(IDLE_POLL)
    if part.cause not in REMEDIES:
        return None
    useless = knobs_of(Cause.IDLE) if has_idle_states is False else ()
    knobs = tuple(knob for knob in knobs_of(*part.key) if knob not in useless)
    is_real_time = part.cause is Cause.IRQ_LATE and preemption == "rt"
    text = IRQ_LATE_ON_RT if is_real_time else REMEDIES[part.cause]
    return Remedy(text, checks_of(*part.key), knobs)


def of_sum(cause: CauseSum) -> Remedy | None:
    """On the kernel on which it was the worst."""
    return remedy_of(cause.example, has_idle_states=cause.has_idle_states, preemption=cause.preemption)


def shares_of(cause: CauseSum) -> list[tuple[int, Remedy]]:
    """Its remedies, each with the time that it can take away: no mode of preemption takes what was held."""
    held = replace(cause.example, why=Why.PREEMPTION_OFF, reasons=())
    free = replace(cause.example, why=None, reasons=())
    times = [
        (cause.held_ns, held),
        (cause.total_ns - cause.held_ns, free if cause.held_ns else cause.example),
    ]
    found = [(ns, of_sum(replace(cause, example=example))) for ns, example in times if ns]
    return [(ns, remedy) for ns, remedy in found if remedy is not None]


def label_to_boot(change: str, kernel: str) -> str:
    """The lab's kernel that a finding of `kernel` says to take; "" where it says something else."""
    base, _bracket, parameters = kernel.rstrip("]").partition("[")
    if base and (word := re.search(r"`([^`]+)` in brackets behind its label", change)):
        name = word[1].partition("=")[0]
        others = [each for each in parameters.split() if each.partition("=")[0] != name]
        return f"{base}[{' '.join([*others, word[1]])}]"
    series = re.fullmatch(r"(\d+\.\d+)(@\w+)?", base)
    return f"{series[1]}-rt{series[2] or ''}" if series and "its RT kernel" in change else ""


def remedies_of(sums: Sequence[CauseSum]) -> list[tuple[CauseSum, Remedy]]:
    """The remedies of the weighty causes, the weightiest first; each once, with the first cause that it is for."""
    found: dict[str, tuple[CauseSum, Remedy]] = {}
    for each in weighty_causes(sums):
        remedy = of_sum(each)
        if remedy is not None:
            found.setdefault(remedy.text.id, (each, remedy))
    return list(found.values())


def findings_for(remedy: Remedy, findings: Iterable[Finding], kernel: str = "") -> list[Finding]:
    """What the doctor found in this machine that belongs to it, in the doctor's order. `kernel`: of several, the one
    with the cause."""
    weighty = [each for each in findings if each.level in ("late", "note") and each.change]
    here = [each for each in weighty if not (kernel and each.machines) or kernel in each.machines]
    return [each for each in here if each.check in remedy.checks]
