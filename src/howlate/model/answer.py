"""A probe's answer about a command line before it is run: a line of `howlate-probe plan` (docs/probe.md)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from howlate.errors import REMEDIED, ExitCode, HowlateError, NotPossibleError, TargetError, UsageError
from howlate.model.decode import Table, parse_json
from howlate.model.plan import Length
from howlate.model.study import Value
from howlate.words.printable import printable

Command = tuple[str, ...]
"""A command line of the probe: a test's name and its options."""


class FewActions(Struct, frozen=True):
    """A load that does too little within a cell for the cell to count as loaded."""

    load: str
    name: str
    """What the load does: fsyncs, cycles."""
    many: int
    """How many of these fit into the cell."""
    least: int
    supposed_s: float = 0.0
    """The assumed time of one, if neither the load nor its target fixes the rate."""


class Turn(Struct, frozen=True):
    """An activation or data point in virtual time."""

    waits_ns: float
    """What passes by the clock."""
    executes_ns: float
    """What the CPU executes, at 1 ns an instruction."""
    most_s: float = 0.0
    """The cell's duration, which may end it before its rows do; 0 if there is none."""


class Answer(Struct, frozen=True):
    """The answer to one command line."""

    options: Mapping[str, Value] = field(default_factory=dict)
    """The options that were given, in the one spelling that equal values share."""
    readable: bool = True
    """Each option by itself is valid."""
    length: Length = field(default_factory=Length)
    refusal: HowlateError | None = None
    """UsageError or NotPossibleError, in the probe's own words; None if the measurement would begin."""
    warnings: tuple[str, ...] = ()
    few_actions: tuple[FewActions, ...] = ()
    turn: Turn | None = None
    """None of an older probe."""

    def length_in_guest(self, slower: float) -> Length:
        """How long it takes in virtual time on a CPU that is slower than 1,000 MIPS by this factor."""
        if self.turn is None or not self.length.rows:
            return self.length
        turn_s = (self.turn.waits_ns + self.turn.executes_ns * slower) / 1e9
        measuring_s = self.length.rows * turn_s
        return replace(self.length, measuring_s=min(measuring_s, self.turn.most_s or measuring_s))


def answers_of(output: bytes, count: int, where: str) -> list[Answer]:
    """The answers of `howlate-probe plan` to this many command lines. TargetError if the text is something
    else."""
    *lines, rest = output.decode("utf-8", "replace").split(
        "\n"
    )  # splitlines() would also break at Unicode's line separators
    lines += [rest] if rest else []
    if len(lines) != count:
        raise TargetError(
            "`howlate-probe plan` answered {answers} of {count} commands {where}",
            answers=len(lines),
            count=count,
            where=where,
        )
    return [_answer(parse_json(line, "an answer of `howlate-probe plan`", TargetError)) for line in lines]


def _amount(table: Table, name: str) -> float:
    """A time or a size; 0 if it is missing. Another machine may answer anything."""
    amount = table.real(name, 0.0)
    if not 0 <= amount < 2.0**63:
        raise table.wrong(name, "a number of 64 bits", "1")
    return amount


def _answer(table: Table) -> Answer:
    alone = table.table("alone")
    return Answer(
        {name: _value(value) for name, value in table.mapping("options").items()},
        "options" in table.values,
        Length(
            _amount(table, "seconds"),
            _amount(alone, "least_s"),
            _amount(alone, "most_s"),
            table.integer("rows", 0),
            int(_amount(table, "bytes")),
            _amount(table, "warm_up_s"),
        ),
        _refusal(table),
        tuple(str(text) for text in table.items("warnings")),
        tuple(_few_actions(few) for few in table.tables("few_deeds")),
        _turn(table),
    )


def _turn(table: Table) -> Turn | None:
    if "turn" not in table.values:
        return None
    turn = table.table("turn")
    return Turn(_amount(turn, "waits_ns"), _amount(turn, "executes_ns"), _amount(table, "most_s"))


def _refusal(table: Table) -> HowlateError | None:
    kinds: dict[int, type[HowlateError]] = {
        ExitCode.USAGE: UsageError,
        ExitCode.NOT_POSSIBLE: NotPossibleError,
    }
    kind = kinds.get(table.integer("exit_code", ExitCode.DONE))
    if kind is None:  # the measurement itself reports what is broken
        return None
    return kind(
        REMEDIED(problem=printable(table.text("message")), remedy=printable(table.text("remedy", "")))
    )


def _few_actions(table: Table) -> FewActions:
    return FewActions(
        table.text("load"),
        table.text("name"),
        table.integer("many"),
        table.integer("wanted"),
        table.real("supposed_s", 0.0),
    )


def _value(value: object) -> Value:
    if isinstance(value, list):
        return tuple(str(text) for text in value)
    return value if isinstance(value, bool) else str(value)
