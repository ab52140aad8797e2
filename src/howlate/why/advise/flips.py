"""Flips: for each knob of a machine, the value that `howlate advise` tries in place of the one in force, and the
study that measures what each buys. A pure function of the machine's facts and of its probe's list.

A knob with two values is flipped to the other one, also where the doctor is content with the first: the measurement
decides, not the rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from howlate.errors import UsageError
from howlate.model.capabilities import Capabilities, KnobKind
from howlate.model.decode import twice, unknown
from howlate.model.facts import Aim, Facts
from howlate.model.study import Order, Part, Study, Value
from howlate.settings import settings
from howlate.why.advise.flip import ADVISE, AGAIN, KNOB, START, TOGETHER, Flip, knobs_of
from howlate.words.statement import Statement, message

NOT_TRIED = message("flip.not-tried", "the knob {knob} was not tried: {reason}")
ONLY_NAMED = message("flip.only-named", "{reason}; to try it, name it: --knobs {knob}")
IN_FORCE = message("flip.in-force", "{value} is in force already")


class NotTried(Struct, frozen=True):
    """A knob without a flip, and why."""

    knob: str
    reason: Statement

    @property
    def statement(self) -> Statement:
        return NOT_TRIED(knob=self.knob, reason=self.reason)


class Flips(Struct, frozen=True):
    tried: tuple[Flip, ...]
    not_tried: tuple[NotTried, ...]


def flips_of(can: Capabilities, facts: Facts, aim: Aim, named: str = "") -> Flips:
    """The flips of a machine. `named`: the user's choice, "thp,rt_throttling=off"; "" for every knob."""
    kinds = {kind.name: kind for kind in can.knobs}
    wanted = parse_knobs(named) if named else [Flip(name, "") for name in kinds]
    tried, not_tried = [], []
    for flip in wanted:
        if flip.knob not in kinds:
            raise UsageError(unknown("knob", flip.knob, kinds))
        value, why = _value(kinds[flip.knob], flip.value, facts, aim)
        only_named = settings()[flip.knob].only_named if flip.knob in settings() else ""
        if why is None and not named and only_named:
            why = ONLY_NAMED(reason=only_named, knob=flip.knob)
        if why is not None:
            not_tried.append(NotTried(flip.knob, why))
        else:
            tried.append(Flip(flip.knob, value))
    return Flips(tuple(tried), tuple(not_tried))


def parse_knobs(text: str) -> list[Flip]:
    """`thp,irq_affinity=0,2`: a piece that begins with a digit goes on with the list before it."""
    pieces: list[str] = []
    for piece in text.split(","):
        if pieces and "=" in pieces[-1] and piece[:1].isdigit():
            pieces[-1] += f",{piece}"
        else:
            pieces.append(piece.strip())
    flips = []
    for piece in pieces:
        knob, equals, value = piece.partition("=")
        if not knob or (equals and not value):
            raise UsageError(
                '"{text}" names no knob', remedy="write --knobs thp,irq_affinity or thp=never", text=piece
            )
        flip = Flip(knob, value)
        if flip in flips:
            raise UsageError(twice("value of --knobs", piece, "name it once"))
        flips.append(flip)
    return flips


def _value(kind: KnobKind, given: str, facts: Facts, aim: Aim) -> tuple[str, Statement | None]:
    setting = settings().get(kind.name)
    if not kind.available:
        return "", Statement.verbatim(kind.reason.rstrip("."))
    if setting is not None and (refused := setting.refused(facts)):
        return "", refused
    if given:
        return given, None
    if setting is None:
        return "", ONLY_NAMED(reason="no value to try is known", knob=f"{kind.name}=VALUE")
    values = setting.tries(facts, aim)
    if isinstance(values, Statement):
        return "", values
    in_force = setting.in_force(facts, aim) if setting.in_force else ""
    free = [value for value in values if value != in_force]
    return (free[0], None) if free else ("", IN_FORCE(value=values[0]))


class Measuring(Struct, frozen=True):
    """How a machine is measured, with each flip and without: the same test, settings and loads."""

    test: str
    settings: Mapping[str, Value]
    """Without loads. Knobs among them are in force in every cell."""
    loads: tuple[str, ...]


def study_of(
    measuring: Measuring, flips: Sequence[Flip], pairs: int, seed: int, together: Sequence[Flip] = (),
    *, again: bool = True,
) -> Study:  # fmt: skip
    """A part for the machine as it is and one for each flip; each turn measures all of them, in an order drawn from
    the seed. `together`: then also all of these at once; `again`: with the start measured anew."""
    sides = [(START, "As it is", ()), *((flip.part, flip.text, (flip,)) for flip in flips)]
    if together:
        sides += [(AGAIN, "As it is, again", ())] if again else []
        sides += [(TOGETHER, " ".join(flip.text for flip in together), tuple(together))]
    return Study(
        ADVISE,
        "Knobs, flipped one at a time",
        "What does each knob buy?",
        parts=tuple(
            Part(part, title, measuring.test, _with(measuring.settings, flipped), {"load": measuring.loads})
            for part, title, flipped in sides
        ),
        order=Order("random", seed, pairs),
    )


def _with(settings: Mapping[str, Value], flips: Sequence[Flip]) -> dict[str, Value]:
    kept = knobs_of(settings)
    names = {flip.knob for flip in flips}
    knobs = (*(text for text in kept if text.partition("=")[0] not in names), *(flip.text for flip in flips))
    rest = {name: value for name, value in settings.items() if name != KNOB}
    return {**rest, KNOB: knobs} if knobs else rest
