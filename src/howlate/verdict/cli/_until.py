"""`--until-decided`: measure round after round until the verdict is decided, or cannot be in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import Struct

from howlate.cli._options import duration_ns, limit_ns_of, together
from howlate.errors import UsageError
from howlate.verdict import MOST_ROUNDS

if TYPE_CHECKING:
    from howlate.verdict.measured_rounds import Apart, Until


class UntilOptions(Struct, frozen=True):
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
        if self.rounds is None and self.every is None:
            return None
        if self.until_decided or self.rounds is None or self.every is None:
            raise UsageError(
                "--rounds and --every belong together, and without --until-decided",
                remedy="give both, such as --rounds 20 --every 5min",
            )
        from howlate.verdict.measured_rounds import Apart

        every_ns = limit_ns_of("--every", self.every)
        return Apart((f"--rounds={self.rounds}", f"--every={self.every}"), self.rounds, every_ns / 1e9)

    def _until(self) -> Until | None:
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
        from howlate.verdict.cli.verdict import question_from
        from howlate.verdict.measured_rounds import Until

        question = question_from(None, self.miss_rate, self.horizon, 0.95, self.cluster)
        if not question.miss_rate and question.horizon_s is None:
            raise UsageError(
                "--until-decided needs --miss-rate or --horizon",
                remedy="add --miss-rate 1e-6, or --horizon 30min",
            )
        words = tuple(f"{option}={value}" for option, value in given.items() if value)
        at_most_s = duration_ns("--at-most", self.at_most or "2h") / 1e9
        return Until(("--until-decided", *words), question, at_most_s)


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
        click.option(
            "--horizon",
            metavar="TIME",
            help="With --until-decided: time for which the largest value is a bound.",
        ),
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
            help="Number of rounds, each over all points; needs --every.",
        ),
        click.option(
            "--every", metavar="TIME", help="How long after the beginning of a round the next one begins."
        ),
    ],
)
"""--until-decided, --at-most, --miss-rate, --horizon, --cluster, --rounds, --every, passed as `until`."""
