"""The task that `check` measures, in the words in which people ask for one."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import click
from msgspec import Struct
from msgspec.structs import asdict

from howlate.cli._options import WEEK_NS, RunOptions, limit_text, together, within_ns
from howlate.errors import UsageError
from howlate.model.decode import NOT_WITH, WRONG_OPTION
from howlate.model.study import Study
from howlate.model.units import format_duration
from howlate.studies import find_study

if TYPE_CHECKING:
    from howlate.measure.prepare import RunRequest

SECOND_NS = 10**9
LEAST_CELL_NS = 10**8


def _each_load(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """none,cpu:50,cpus=1 are two loads."""
    from howlate.plan.changes import parse_change

    parsed = (parse_change(f"load={text}")[1] if text.strip() else ("",) for text in texts)
    return tuple(str(load) for loads in parsed for load in loads)


load_option = click.option(
    "--load",
    "loads",
    multiple=True,
    callback=_each_load,
    metavar="LOAD[,LOAD...]",
    help="Measure under these loads, one after the other, such as none,cpu:50,disk; may be repeated.",
)
cell_duration_option = click.option("--cell-duration", metavar="TIME", help="How long to measure each cell.")
deadline_option = click.option("--deadline", metavar="TIME", help="Judge this deadline, such as 200us.")


class Job(Struct, frozen=True):
    """What is measured, and for how long; None and () where the study decides."""

    period: str | None = None
    policy: str | None = None
    priority: str | None = None
    loads: tuple[str, ...] = ()
    cpus: str | None = None
    deadline: str | None = None
    warm_up: str | None = None
    duration: str | None = None
    cell_duration: str | None = None

    def changes(self, study: Study, changed: tuple[str, ...], long_ns: int | None = None) -> tuple[str, ...]:
        """As values of `--set`. `changed`: those that were given; `long_ns`: how long --long measures."""
        from howlate.plan.changes import apply_changes, parse_change

        for name, value in asdict(self).items():
            for text in value if isinstance(value, tuple) else (value,):
                if text is not None and not text.strip():
                    option = f"--{'load' if name == 'loads' else name.replace('_', '-')}"
                    raise UsageError(
                        WRONG_OPTION(option=option, kind="a value", given="empty", example="VALUE")
                    )
        own = {"period": self.period, "policy": self._policy(), "load": ",".join(self.loads) or None}
        own |= {"warm-up": self.warm_up, "cpus": self.cpus and json.dumps([self.cpus])}
        own |= {"deadline": None if self.deadline is None else limit_text("--deadline", self.deadline)}
        asked = (*changed, *(f"{name}={value}" for name, value in own.items() if value is not None))
        changed_study = apply_changes(study, map(parse_change, asked))
        points = sum(math.prod(map(len, piece.axes.values())) for piece in changed_study.pieces())
        return (*asked, *self._length(points * changed_study.order.repetitions, long_ns))

    def request(
        self,
        options: RunOptions,
        study: str,
        command: str,
        own: tuple[str, ...] = (),
        long_ns: int | None = None,
    ) -> RunRequest:
        """The study with its changes, and this task. `own`: the command's own options, for the sentence that says how
        to continue; `long_ns`: see `changes`."""
        from howlate.measure.prepare import RunRequest, settings_in_force

        found = find_study(study)
        return RunRequest(
            found,
            self.changes(found, options.changes, long_ns),
            options.scale,
            options.most_cells,
            given=study,
            seeds=options.seeds or 0,
            command=command,
            options=((f"--seeds={options.seeds}",) if options.seeds else ()) + own,
            settings=settings_in_force(),
        )

    def _policy(self) -> str | None:
        """--priority 90 is fifo:90, of the kind that --policy says."""
        if self.priority is None:
            return self.policy
        kind, colon, _ = (self.policy or "fifo").partition(":")
        if colon:
            raise UsageError(NOT_WITH(option="--priority", other=f"--policy {self.policy}"))
        return ",".join(f"{kind}:{priority}" for priority in self.priority.split(","))

    def _length(self, cells: int, long_ns: int | None) -> tuple[str, ...]:
        given = {"--duration": self.duration, "--cell-duration": self.cell_duration, "--long": long_ns}
        named = tuple(name for name, value in given.items() if value is not None)
        if len(named) > 1:
            raise UsageError(NOT_WITH(option=named[1], other=named[0]))
        if self.cell_duration is not None:
            cell_ns = within_ns("--cell-duration", self.cell_duration, LEAST_CELL_NS, WEEK_NS)
        elif self.duration is not None:
            cell_ns = within_ns("--duration", self.duration, SECOND_NS, WEEK_NS) // cells
        elif long_ns is not None:
            cell_ns = long_ns // cells
        else:
            return ()
        return (f"duration={format_duration(cell_ns // 1_000_000 * 1_000_000)}",)


_OPTIONS = (
    click.option("--period", metavar="TIME", help="How often the task is woken, such as 500us."),
    click.option(
        "--policy", metavar="POLICY", help="other, fifo:P, rr:P or deadline:RUNTIME:DEADLINE:PERIOD."
    ),
    click.option("--priority", metavar="P", help="The priority of a fifo task, or of --policy rr."),
    load_option,
    deadline_option,
    click.option("--warm-up", metavar="TIME", help="Time to measure first and leave out of all samples."),
    click.option(
        "-D",
        "--duration",
        metavar="TIME",
        help="How long to measure in total: seconds, or a time with a unit such as 5m.",
    ),
    cell_duration_option,
)
_CPUS = click.option(
    "--cpus",
    metavar="LIST",
    help="The CPUs to measure on, all at once: 2, 0-3, or all (default: the highest).",
)
job_options = together("job", Job, [*_OPTIONS, _CPUS])
"""--period, --policy, --priority, --load, --deadline, --warm-up, --duration, --cell-duration, --cpus, as `job`."""
guest_job_options = together("job", Job, _OPTIONS)
"""The same of guests, all of whose CPUs measure."""
