"""A flip: a knob and the value that `howlate advise` tries, and the parts of the study that measures flips."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from howlate.model.run import Run
from howlate.model.study import Value

ADVISE = "advise"
"""The id of the study that measures flips."""
START, AGAIN, TOGETHER = "start", "start-again", "together"
"""Its parts besides those of the flips: the machine as it is; the same again, with the combination of what
helps."""
KNOB = "knob"
"""The option of every test that sets a knob."""


def is_advice(run: Run) -> bool:
    """Whether it is one of `howlate advise` or `why --try`."""
    return run.study.id == ADVISE and any(part.id == START for part in run.study.parts)


class Flip(Struct, frozen=True):
    """A knob and the value to try."""

    knob: str
    value: str

    @property
    def text(self) -> str:
        """As the probe's option spells it."""
        return f"{self.knob}={self.value}"

    @property
    def part(self) -> str:
        """The id of its part."""
        return re.sub(r"[^a-z0-9]+", "-", self.text.lower()).strip("-")[:40].rstrip("-")

    @staticmethod
    def of(text: str) -> Flip:
        """The inverse of `text`."""
        knob, _, value = text.partition("=")
        return Flip(knob, value)


def knobs_of(parameters: Mapping[str, Value]) -> tuple[str, ...]:
    """The knobs of a cell or of settings, as the probe's option spells them."""
    value = parameters.get(KNOB, ())
    return value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ()
