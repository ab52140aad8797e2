"""`--until-decided`: measure round after round until the verdict is decided, or cannot be in time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import click

from howlate.cli._options import together
from howlate.errors import ExitCode
from howlate.words.statement import Statement

if TYPE_CHECKING:
    from howlate.measure.execute import Tally
    from howlate.measure.prepare import Asked, Prepared
    from howlate.measure.session import Session
    from howlate.verdict.cli._apart import Apart
    from howlate.verdict.ruling import Question

MOST_ROUNDS = 1_000
ROUNDS = ("order.kind", "order.repetitions")
"""What --until-decided sets of the study."""


@dataclass(frozen=True)
class UntilOptions:
    """What decides when a measurement ends."""

    until_decided: bool = False
    at_most: str | None = None
    miss_rate: float = 0.0
    horizon: str | None = None
    cluster: float = 1.0
    rounds: int | None = None
    every: str | None = None

    def checked(self) -> Until | Apart | None:
        """None where it is measured once, as planned. UsageError says what is wrong."""
        apart = self._apart()
        return self._until() if apart is None else apart

    def _apart(self) -> Apart | None:
        from howlate.cli._times import limit_ns_of
        from howlate.errors import UsageError
        from howlate.verdict.cli._apart import Apart

        if self.rounds is None and self.every is None:
            return None
        if self.until_decided:
            raise UsageError(
                "--until-decided measures as many rounds as it takes, without a pause",
                remedy="leave out --rounds and --every, or --until-decided",
            )
        if self.rounds is None or self.every is None:
            raise UsageError(
                "--rounds and --every belong together", remedy="give both, such as --rounds 20 --every 5min"
            )
        every_ns = limit_ns_of("--every", self.every)
        return Apart(self.rounds, every_ns / 1e9, (f"--rounds={self.rounds}", f"--every={self.every}"))

    def _until(self) -> Until | None:
        from howlate.cli._times import duration_ns
        from howlate.errors import UsageError
        from howlate.verdict.cli.verdict import asked

        given = {"--at-most": self.at_most, "--miss-rate": self.miss_rate, "--horizon": self.horizon}
        given["--cluster"] = self.cluster if self.cluster != 1 else None
        if not self.until_decided:
            for option, value in given.items():
                if value:
                    raise UsageError(
                        "{option} is for --until-decided",
                        remedy="add --until-decided, or judge the run later: howlate verdict RUN {option} "
                        "...",
                        option=option,
                    )
            return None
        question = asked(None, self.miss_rate, self.horizon, 0.95, self.cluster)
        if not question.miss_rate and question.horizon_s is None:
            raise UsageError(
                "--until-decided needs --miss-rate or --horizon",
                remedy="say what is to be shown: --miss-rate 1e-6, or --horizon 30min",
            )
        words = tuple(f"{option}={value}" for option, value in given.items() if value)
        at_most_s = duration_ns("--at-most", self.at_most or "2h") / 1e9
        return Until(question, at_most_s, ("--until-decided", *words))


until_options = together(
    "until",
    UntilOptions,
    [
        click.option(
            "--until-decided",
            is_flag=True,
            help="Measure round after round until the verdict on the deadline is decided; needs --miss-rate, "
            "--horizon, or both.",
        ),
        click.option(
            "--at-most", metavar="TIME", help="With --until-decided: end after this time (default: 2h)."
        ),
        click.option(
            "--miss-rate",
            type=float,
            default=0.0,
            metavar="RATE",
            help="With --until-decided: the share of the releases that may miss (default: none).",
        ),
        click.option("--horizon", metavar="TIME", help="With --until-decided: how long the next stretch is."),
        click.option(
            "--cluster",
            type=float,
            default=1.0,
            metavar="SIZE",
            help="With --until-decided: how many misses come together at most (default: 1).",
        ),
        click.option(
            "--rounds",
            type=click.IntRange(2, MOST_ROUNDS),
            metavar="N",
            help="Measure so many rounds, each over all points; needs --every.",
        ),
        click.option(
            "--every", metavar="TIME", help="How long after the beginning of a round the next one begins."
        ),
    ],
)
"""--until-decided, --at-most, --miss-rate, --horizon, --cluster, --rounds, --every, passed as `until`."""


@dataclass(frozen=True)
class Until:
    """What is to be decided, and in which time."""

    sets: ClassVar = ROUNDS
    question: Question
    """Its deadline is the study's."""
    at_most_s: float
    """Of this call."""
    options: tuple[str, ...]
    """As given, for the sentence that says how to continue."""

    def rounds(self, asked: Asked, prepared: Prepared, whole: int = 0) -> Asked:
        """The request with as many rounds as there is time for, each over all points, beside those that are whole."""
        from howlate.verdict.rounds import possible

        cells = possible(prepared)
        round_s = sum(cell.expected_s for cell in cells) or 1.0
        most = min(MOST_ROUNDS, asked.most_cells // max(1, len(cells)))
        rounds = max(1, whole, min(most, whole + int(self.at_most_s / round_s)))
        kind, repetitions = ROUNDS
        changes = (*asked.changes, f"{kind}=interleaved", f"{repetitions}={rounds}")
        return replace(asked, changes=changes, options=(*asked.options, *self.options))

    def whole(self, out: Path | None) -> int:
        from howlate.verdict.rounds import whole_rounds

        return whole_rounds(out)

    def out_of_reach(self, prepared: Prepared, whole: int = 0) -> int | None:
        """Says that nothing is measured where --at-most does not allow what is needed."""
        from howlate.words.say import english

        if not (missing_s := self.missing_s(prepared, whole)):
            return None
        click.echo(
            english(
                Statement.of(
                    "INCONCLUSIVE: this needs {needed_s:seconds-at-most} of measuring at least, and --at-most "
                    "allows {at_most_s:seconds}. Nothing was measured.",
                    needed_s=missing_s,
                    at_most_s=self.at_most_s,
                )
            )
        )
        return ExitCode.INCONCLUSIVE

    def missing_s(self, prepared: Prepared, whole: int = 0) -> float:
        """How long all rows must be measured at least, beside the rounds that are whole, where --at-most does not
        allow that; 0 where it does."""
        from howlate.errors import UsageError
        from howlate.model.units import period_ns_of
        from howlate.verdict.rounds import needed_s, possible

        cells = possible(prepared)
        if prepared.run.virtual:
            raise UsageError(
                "--until-decided has no meaning in virtual time, where a seed comes out the same each time",
                remedy="run it with --seeds N, and judge it: howlate verdict RUN",
            )
        if not all(cell.parameters.get("deadline") for cell in cells):
            raise UsageError(
                "the study states no deadline, so there is nothing to decide",
                remedy="state one: `howlate check --deadline 200us`, or `howlate run STUDY --set "
                "deadline=200us`",
            )
        if self.question.miss_rate and any(period_ns_of(cell.labels) is None for cell in cells):
            raise UsageError(
                "--miss-rate needs a study whose cells have a period and a duration",
                remedy="ask for a --horizon alone, or give the study a period and a duration",
            )
        missing_s = needed_s(self.question, cells, whole)
        return missing_s if missing_s > self.at_most_s else 0.0

    def execute(self, prepared: Prepared, session: Session) -> tuple[Session, Tally]:
        """Round after round, after those that are whole; the plan keeps the rounds that were measured."""
        from howlate.cli._execute import execute_cells
        from howlate.verdict.judge import looked_at, until_decided
        from howlate.verdict.rounds import is_decided, until_round, whole_rounds

        notes = until_decided(self.question, self.at_most_s)
        earlier = looked_at(session.run)
        before = [warning for warning in session.run.warnings if warning not in earlier]
        run = replace(session.run, warnings=(*before, *notes))
        session.folder.write_run(run)
        cells = session.cells
        last = max((cell.repetition for cell in run.plan.cells), default=1)
        for number in range(max(1, whole_rounds(session.folder.path)), last + 1):
            measured = replace(session, run=run, cells=until_round(cells, number))
            tally = execute_cells(prepared, measured)
            shorter = replace(run, plan=replace(run.plan, cells=until_round(run.plan.cells, number)))
            if number == last or tally.failures or is_decided(measured.folder.path, shorter):
                break
        session.folder.write_run(shorter)
        return replace(session, run=shorter), tally
