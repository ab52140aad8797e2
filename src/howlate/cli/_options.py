"""Options that several commands take, handed to a command as one frozen value; and times as options have them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from howlate.errors import UsageError
from howlate.model.decode import IN_FILE, WRONG_OPTION
from howlate.model.units import format_duration, parse_duration_ns, parse_seconds_ns
from howlate.rooms import hooks

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def together(name: str, kind: type[Struct], options: Sequence[Decorator]) -> Decorator:
    """Add options whose parameters are the fields of `kind`, and pass their values to the command as `name`."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def called(**values: Any) -> Any:
            own = {name: values.pop(name) for name in kind.__struct_fields__ if name in values}
            return command(**values, **{name: kind(**own)})

        with_options: Callable[..., Any] = called
        for option in reversed(options):
            with_options = option(with_options)
        return with_options

    return decorated


def rounds_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Until when a run is measured, as rooms let one ask: passed as `until` (cli/_measure.py, RoundsOptions)."""
    for options in hooks("measuring_options"):
        command = options()(command)
    return command


class OutputPath(click.Path):
    """Where a command writes; UsageError for what howlate itself keeps in a run folder."""

    def __init__(self, *, allow_dash: bool = False) -> None:
        super().__init__(path_type=Path, allow_dash=allow_dash)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if path != Path("-"):
            from howlate.store.run_folder import spare

            spare(path, param.opts[0] if param else "")
        return path


histogram_option = click.option(
    "--histogram",
    is_flag=True,
    help="Show all tables, and a histogram of the latencies, with bars.",
)


brief_option = click.option(
    "--brief", is_flag=True, help="Print one line for scripts: outcome, figures of the worst row, run."
)


def output_option(help_: str, *, dash: bool = False) -> Decorator:
    return click.option("-o", "--output", type=OutputPath(allow_dash=dash), metavar="FILE", help=help_)


def out_option(help_: str = "The run folder: a new one, or one to continue.") -> Decorator:
    return click.option("--out", type=OutputPath(), metavar="DIR", help=help_)


target_option = click.option(
    "--target",
    metavar="TARGET",
    help="The machine that measures: local, ssh:HOST, lab:KERNELS (default: docs/settings.md, else local).",
)
no_wait_option = click.option("--no-wait", is_flag=True, help="Do not wait until this machine is quiet.")


class RunOptions(Struct, frozen=True):
    """The options that `run` and `lab run` share: how to change a study, where to keep its run, what to show."""

    changes: tuple[str, ...] = ()
    seeds: int | None = None
    scale: float = 1.0
    out: Path | None = None
    resume: bool = False
    dry_run: bool = False
    most_cells: int = 10_000
    histogram: bool = False
    brief: bool = False
    as_json: bool = False


run_options = together(
    "options",
    RunOptions,
    [
        click.option(
            "--set",
            "changes",
            multiple=True,
            metavar="K=V[,V...]",
            help="Replace a setting or an axis of the study.",
        ),
        click.option(
            "--seeds",
            type=click.IntRange(1, 10_000),
            metavar="N",
            help="Seeds of each point in virtual time (default: 8).",
        ),
        click.option(
            "--scale", type=float, default=1.0, metavar="F", help="Multiply activations and durations."
        ),
        out_option(),
        click.option(
            "--resume", is_flag=True, help="Continue the newest unfinished run of this study below runs/."
        ),
        click.option("--dry-run", is_flag=True, help="Show the plan and its time; measure nothing."),
        click.option(
            "--most-cells", type=int, default=10_000, show_default=True, help="Refuse a larger matrix."
        ),
        histogram_option,
        brief_option,
        click.option("--json", "as_json", is_flag=True, help="Print the tables as JSON."),
    ],
)
"""--set, --seeds, --scale, --out, --resume, --dry-run, --most-cells, --histogram, --brief, --json, as `options`."""


WEEK_NS = 7 * 24 * 3600 * 10**9


def limit_text(option: str, text: str) -> str:
    """What a latency may have, checked, as a study's setting."""
    return format_duration(limit_ns_of(option, text))


def duration_ns(option: str, text: str) -> int:
    return _parsed(option, text, parse_duration_ns)


def limit_ns_of(option: str, text: str) -> int:
    """A time with its unit, above 0: what a latency may have."""
    if not (limit_ns := duration_ns(option, text)):
        raise UsageError(WRONG_OPTION(option=option, kind="above 0", given=text, example="200us"))
    return limit_ns


def within_ns(option: str, text: str, least_ns: int, most_ns: int) -> int:
    """A time from one limit to the other. A number without a unit is in seconds."""
    time_ns = _parsed(option, text, parse_seconds_ns)
    if not least_ns <= time_ns <= most_ns:
        least, most = format_duration(least_ns), format_duration(most_ns)
        kind = f"between {least} and {most}"
        raise UsageError(WRONG_OPTION(option=option, kind=kind, given=text, example=least))
    return time_ns


def _parsed(option: str, text: str, parse: Callable[[str], int]) -> int:
    try:
        return parse(text)
    except ValueError as reason:
        raise UsageError(IN_FILE(file=option, problem=reason)) from None


class ListedOption(click.Option):
    """`listed` gives each name with its line of help; these lines precede the option's own help."""

    def __init__(self, *args: Any, listed: Callable[[], Mapping[str, str]], **more: Any) -> None:
        super().__init__(*args, **more)
        self.listed = listed

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        if record is None:
            return None
        lines = [f"{name}: {line}" for name, line in self.listed().items()]
        return record[0], "; ".join(lines) + f". {record[1]}".rstrip()
