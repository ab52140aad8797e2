"""What the tests of the command line have in common."""

import io
import re
from collections.abc import Callable

from msgspec import Struct

from made_study import study_text

STUDY = study_text(activations=100, axes={"load": ["none", "cpu:50"]})


class Said(Struct, frozen=True):
    code: int
    out: str
    err: str


Run = Callable[..., Said]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def is_a_sentence(text: str) -> bool:
    return re.fullmatch(r"howlate: [^\n]+[.?]\n", text) is not None
