"""`why RUN --try`: its options, and the message before the knobs are flipped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from howlate.cli._options import out_option, together
from howlate.cli._say import say
from howlate.why.cli._advise import AdviseOptions, advise, length_ns, with_length
from howlate.words.say import say as said
from howlate.words.say import statement_of

if TYPE_CHECKING:
    from howlate.why.flow import ExplainedRun

PAIRS = 12


class TrialOptions(Struct, frozen=True):
    """Whether and how remedies are tried."""

    is_requested: bool = False
    pairs: int | None = None
    seconds: str = ""
    out: Path | None = None

    @property
    def given(self) -> bool:
        return self.pairs is not None or bool(self.seconds) or self.out is not None

    def check(self) -> None:
        """UsageError for what no machine could do, before a run is read."""
        if self.seconds:
            length_ns(self.seconds)


trial_options = together(
    "trial",
    TrialOptions,
    [
        click.option(
            "--try",
            "is_requested",
            is_flag=True,
            help="Flip the knobs of the causes found, measure what each buys, and put them back.",
        ),
        click.option(
            "--pairs",
            type=click.IntRange(6, 1000),
            metavar="N",
            help=f"With --try: number of measurements of each side (default: {PAIRS}).",
        ),
        click.option(
            "--cell-duration",
            "seconds",
            default="",
            metavar="TIME",
            help="With --try: length of a cell (default: the run's).",
        ),
        out_option("With --try: the run folder."),
    ],
)


def try_remedies(found: ExplainedRun, options: TrialOptions) -> int:
    """Measure what the remedies buy that a knob can make, and tell it."""
    from howlate.why.late_cases import cause_text
    from howlate.why.remedy_trial import target_of, trial_of

    trial = trial_of(found, PAIRS if options.pairs is None else options.pairs)
    asked = with_length(trial.request, options.seconds) if options.seconds else trial.request
    tried = tuple(f"{cause_text(cause, '')}: {', '.join(knobs)}" for cause, knobs in trial.causes.items())
    measured = statement_of(
        "Measured again: {cell}, {pairs} times with each knob and without ({tried:items})",
        cell=trial.cell.point,
        pairs=asked.pairs,
        tried=tried,
    )
    click.echo(said(measured))
    return advise(asked, target_of(trial, say), AdviseOptions(pairs=asked.pairs, out=options.out))
