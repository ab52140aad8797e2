"""Judges what came of a call over an altered run. `judge_spoilt` is strict: an accident is refused in a sentence,
changes nothing, or is named; whatever else is still shown is as it was, or as it is of a run in which the cell was
never measured or is not valid. Those runs are made, not altered."""

import json
import re
import string
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from hostile.alter import Altered

BROKEN, INCONCLUSIVE = 4, 5
COMPUTED = ("summary.json", "bins.json")
"""The files of a cell that follow from its samples."""
NAMING = (
    *("decode.", "store.", "run.cell-gone", "missing.", "file.", "cell.unchecked"),
    *("query.unreadable-samples", "query.samples-changed", "model.changed-since"),
)
"""The rules, by how their ids begin, that name what of a run is missing, changed or not readable."""
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SAID_LEAST = 10
"""A rule with fewer fixed letters ("{file}: {problem}") would match anything."""
_LOSS = re.compile(r'^cells/[^ ]+: | name="missing\.')
"""What `show --verify` says of a cell, and JUnit's case of a missing one."""
_SHOWN = re.compile(r"\d|PASS|FAIL|INCONCLUSIVE")
"""What is a figure, or a verdict."""


class Outcome(Struct, frozen=True):
    """What a call left. `code` is below zero where a signal ended it."""

    code: int
    out: str
    err: str
    files: str
    cpu_s: float = 0.0

    @property
    def shown(self) -> str:
        return self.out + self.files


def sane(outcome: Outcome) -> str:
    """What no input may bring about; "" if nothing of it did."""
    if outcome.code < 0:
        return f"FAULT signal {-outcome.code}"
    if outcome.code not in range(6):
        return "FAULT code"
    if "there is not enough memory" in outcome.err:
        return "FAULT memory"
    if "a fault in howlate" in outcome.err or "Traceback" in outcome.err:
        return "FAULT traceback"
    if _OBEYED.search(outcome.out + outcome.err):
        return "FAULT escape"
    if outcome.code in (2, 3, 4) and not outcome.out and not outcome.err.strip():
        return "FAULT silent"
    return ""


def judge_spoilt(
    before: Outcome, now: Outcome, names: Sequence[str], others: Iterable[Callable[[], Outcome]]
) -> str:
    """An accident to what has these names. `others`: the same command over runs that were made without the cell."""
    if wrong := sane(now):
        return wrong
    if (now.code, now.shown) == (before.code, before.shown):
        return "same"
    if now.code == BROKEN and not now.shown and now.err.startswith("howlate: "):
        return "refused"
    said = [line for line in (now.shown + "\n" + now.err).splitlines() if names_loss(line)]
    if not any(name in line for line in said for name in names):
        return "FAULT not named"
    if now.code not in (before.code, BROKEN, INCONCLUSIVE):
        return "FAULT code of a damaged run"
    told = "\n".join(said)
    figures = [piece for piece in pieces(now.shown) if not is_item(piece, told)]
    differ = news(figures, pieces(before.shown))
    for other in others:
        if not differ:
            break
        differ = min(differ, news(figures, pieces(other().shown)), key=len)
    return f"FAULT figures differ ({differ[0]!r})" if differ else "named"


def judge_forged(before: Outcome, now: Outcome, what: Altered, verifies: bool) -> str:
    """A forger may set any figure, but nothing breaks; `show --verify` names what is not of the samples."""
    if wrong := sane(now):
        return wrong
    if verifies and what.differs and what.path.name in COMPUTED:
        is_named = now.code == BROKEN and all(name in now.shown + now.err for name in what.names)
        return "named" if is_named else "FAULT not verified"
    return "same" if now.shown == before.shown else "refused" if now.code == BROKEN else "differs"


def pieces(shown: str) -> list[str]:
    """The lines, and the parts between a page's tags and in them, that hold a figure or a verdict, without what only
    lays them out and what names a loss."""
    raw = (part for part in re.split(r"[\n<>]", without_losses(shown)) if not names_loss(part))
    parts = (re.sub(r"[\s│┃|,]+", " ", part).strip() for part in raw)
    return [part for part in parts if _SHOWN.search(part) and not part.startswith("testsuite ")]


def is_item(piece: str, told: str) -> bool:
    """Whether it is a name alone, in the list of what a sentence names."""
    return re.fullmatch(r'"[^"]*"', piece) is not None and piece.strip('"') in told


def news(now: Sequence[str], before: Sequence[str]) -> list[str]:
    """What the one has, and the other has not at all or not in this order."""
    place, left = 0, []
    for piece in now:
        try:
            place = before.index(piece, place) + 1
        except ValueError:
            left.append(piece)
    return left


def without_losses(shown: str) -> str:
    """JSON without the statements that name a loss, whose values stand in lines of their own; other text as it is."""
    try:
        return json.dumps(_without(json.loads(shown)), indent=1)
    except ValueError:
        return shown


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(member) for name, member in value.items() if not _is_loss(member)}
    return (
        [_without(member) for member in value if not _is_loss(member)] if isinstance(value, list) else value
    )


def _is_loss(value: Any) -> bool:
    return isinstance(value, dict) and str(value.get("rule", "")).startswith(NAMING)


def names_loss(line: str) -> bool:
    return _LOSS.search(line) is not None or any(_stand_in(line, fixed) for fixed in _sentences())


def _stand_in(line: str, parts: Sequence[str]) -> bool:
    """Whether it has these parts one behind the other, however long it is."""
    at = 0
    for part in parts:
        found = line.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


@cache
def _sentences() -> tuple[tuple[str, ...], ...]:
    """The fixed parts of each."""
    from howlate.words.statement import MESSAGES

    rules = [rule for rule in MESSAGES.values() if rule.id.startswith(NAMING)]
    templates = [text for rule in rules for text in (rule.text, rule.many) if text]
    parts = [tuple(text for text, *_ in string.Formatter().parse(template)) for template in templates]
    return tuple(fixed for fixed in parts if len("".join(fixed)) >= SAID_LEAST)
