"""Say how much must be measured to show a rate, a horizon or a difference."""

from __future__ import annotations

import math
from typing import Any

import click
from msgspec import Struct

from howlate.cli._options import WEEK_NS, limit_ns_of, together, within_ns
from howlate.cli._screen import print_json, terminal
from howlate.errors import UsageError
from howlate.words.language import called
from howlate.words.quantities import NARROW_SPACE, grouped, level_text, percent, seconds_text


class _Compared(Struct, frozen=True):
    """What a comparison is to find, and in runs of which length."""

    ratio: float | None
    seconds: str


_compared = together(
    "compared",
    _Compared,
    (
        click.option(
            "--ratio",
            type=float,
            metavar="FACTOR",
            help="Ratio that a comparison should detect, such as 1.5 or 2.",
        ),
        click.option(
            "--cell-duration",
            "seconds",
            default="12s",
            show_default=True,
            metavar="TIME",
            help="How long each run of a pair measures; with --miss-rate it says how many misses are compared.",
        ),
    ),
)


@click.command(epilog="Example: howlate plan --miss-rate 1e-7 --period 1ms --horizon 1h --ratio 1.5")
@click.option(
    "--miss-rate", type=float, metavar="RATE", help="Share of the releases that may miss the deadline."
)
@click.option(
    "--true-rate",
    type=float,
    metavar="RATE",
    help="Share that is expected to miss it (default: none, a tenth and a third of --miss-rate).",
)
@click.option("--period", default="1ms", show_default=True, metavar="TIME", help="The task's period.")
@click.option("--horizon", metavar="TIME", help="The time for which the largest value is to be a bound.")
@_compared
@click.option(
    "--cluster",
    type=float,
    default=1.0,
    show_default=True,
    metavar="SIZE",
    help="How many late samples come together (1 / the extremal index that a verdict names).",
)
@click.option(
    "--deadline", metavar="TIME", help="Compare misses of this deadline too, and name it in the commands."
)
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    metavar="SHARE",
    help="The confidence of each bound.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    miss_rate: float | None,
    true_rate: float | None,
    period: str,
    horizon: str | None,
    compared: _Compared,
    cluster: float,
    deadline: str | None,
    confidence: float,
    *,
    as_json: bool,
) -> int:
    """Say how many activations, hours and pairs of runs are needed before one starts to measure: for a rate of
    misses, for a bound on the time to come, for a difference between two kernels or settings."""
    from howlate.compare.effort import horizon_json, pairs_json, rate_json
    from howlate.verdict.cli.verdict import question_from

    ratio = compared.ratio
    if miss_rate is None and horizon is None and ratio is None:
        raise UsageError(
            "plan needs --miss-rate, --horizon or --ratio",
            remedy="write it like howlate plan --miss-rate 1e-7 --period 1ms",
        )
    question = question_from(deadline, miss_rate or 0.0, None, confidence)
    if miss_rate is not None and not miss_rate:
        raise UsageError(
            "no number of activations shows that no release ever misses",
            remedy="give --miss-rate a share above 0, such as 1e-7",
        )
    too_high = UsageError(
        "--true-rate must be 0 or above and well below --miss-rate, not {rate}",
        remedy="give both, the true rate half of the other or less: --miss-rate 1e-6 --true-rate 1e-7",
        rate=true_rate,
    )
    if true_rate is not None and not 0 <= true_rate < (miss_rate or 0.0):
        raise too_high
    if not (1 <= cluster < math.inf):
        raise UsageError(
            "--cluster must be at least 1, not {size}",
            remedy="write it like 1 (no clusters) or 4",
            size=cluster,
        )
    if ratio is not None and (not (0 < ratio < math.inf) or ratio == 1):
        raise UsageError(
            "--ratio must be above 0 and not 1, not {ratio}", remedy="write it like 2 or 1.2", ratio=ratio
        )
    value: dict[str, Any] = {
        "schema": 1,
        "confidence": confidence,
        "period_ns": limit_ns_of("--period", period),
    }
    period_s = value["period_ns"] / 1e9
    if miss_rate is not None:
        rate = rate_json(miss_rate, true_rate, period_s, cluster, question.confidence)
        if not rate["by_misses"]:
            raise too_high
        value["rate"] = rate
    if horizon is not None:
        value["horizon"] = horizon_json(limit_ns_of("--horizon", horizon) / 1e9, question.confidence)
    if ratio is not None:
        releases = within_ns("--cell-duration", compared.seconds, 1, WEEK_NS) / 1e9 / period_s
        misses = None if miss_rate is None else (miss_rate * releases, cluster)
        value["pairs"] = pairs_json(
            ratio, has_deadline=miss_rate is not None or deadline is not None, misses=misses
        )
    if as_json:
        print_json(value)
    else:
        width = terminal().width
        for line in _lines(value, deadline or "TIME", horizon or "", width):
            click.echo(_in_width(line, width))
    return 0


def _in_width(line: str, width: int) -> str:
    """A sentence folded for the terminal; a command stays whole."""
    import textwrap

    from howlate.document.text import tied

    if line.startswith("Then: "):
        return line
    lines = textwrap.wrap(tied(line), width, subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines).replace(NARROW_SPACE, " ")


def _lines(value: dict[str, Any], deadline: str, horizon: str, width: int) -> list[str]:
    from howlate.verdict.ruling import CONFIDENCE

    level = level_text(value["confidence"])
    lines, verdict = [], f"{called()} verdict RUN --deadline {deadline}"
    if value["confidence"] != CONFIDENCE:
        verdict += f" --confidence {value['confidence']:.15g}"
    if rate := value.get("rate"):
        lines += _rate_lines(rate, level)
    if bound := value.get("horizon"):
        lines.append(
            f"For a bound on the next {_time(bound['horizon_s'])} with {level} confidence: measure "
            f"{_time(bound['seconds'])}"
        )
    if pairs := value.get("pairs"):
        lines += _pairs_lines(pairs, width)
    if rate:
        groups = f" --cluster {1 / rate['theta']:g}" if rate["theta"] < 1 else ""
        lines.append(f"Then: {verdict} --miss-rate {rate['miss_rate']:g}{groups}")
    if bound:
        lines.append(f"Then: {verdict} --horizon {horizon}")
    return lines


def _rate_lines(rate: dict[str, Any], level: str) -> list[str]:
    lines = [
        f"To show with {level} confidence that at most {rate['miss_rate']:g} of the releases miss, and to succeed in "
        f"{percent(rate['chance'])} of the attempts:"
    ]
    for need in rate["by_misses"]:
        true = f"if {need['true_rate']:.2g} miss" if need["true_rate"] else "if none misses"
        passes = f", passed with {need['misses']} missed or fewer" if need["misses"] else ""
        count = grouped(need["activations"], ",")
        lines.append(f"  {true:16} {count:>16} activations  {_time(need['seconds'])}{passes}")
    if rate["theta"] < 1:
        lines.append(
            f"  Each group of misses is taken to have {1 / rate['theta']:g}: unequal sizes need more."
        )
    decided = rate["until_decided"]
    count = grouped(decided["activations"], ",")
    lines.append(
        f"  looking while it is measured, without a miss: {count} activations, {_time(decided['seconds'])}"
    )
    return lines


def _pairs_lines(pairs: dict[str, Any], width: int) -> list[str]:
    from howlate.compare.document import heading

    found = list(pairs["power"][0]["found"])
    wide = {name: max(6, len(heading(name))) + 2 for name in found}
    shown = [name for i, name in enumerate(found) if 8 + sum(wide[n] for n in found[i:]) <= width]
    lines = [
        f"To find a factor of {pairs['ratio']:g} in one of {len(pairs['figures'])} figures as compare tests them, in "
        "interleaved pairs of runs:",
        "".join([f"{'pairs':>8}", *(f"{heading(name):>{wide[name]}}" for name in shown)]),
    ]
    for power in pairs["power"]:
        shares = (f"{percent(power['found'][name]):>{wide[name]}}" for name in shown)
        lines.append("".join([f"{power['pairs']:8}", *shares]))
    lines.append(
        f"  Fewer than {pairs['fewest']} pairs can show nothing among {len(pairs['figures'])} figures, and a factor "
        "within 10 % is not called a difference."
    )
    noise = ", ".join(f"{heading(name)} {spread:g}" for name, spread in pairs["noise"].items())
    lines.append(
        f"  The noise of a pair is a virtual machine's, in cells of 12 s (log ratio, standard deviation: {noise})."
    )
    if of := pairs["misses"]:
        lines.append(f"  A run misses {of['expected']:.3g} releases in the mean, {of['cluster']:g} together.")
    elif len(found) < len(pairs["figures"]):
        lines.append("  How often a factor in the misses is found depends on their number: give --miss-rate.")
    return lines


def _time(seconds: float) -> str:
    return seconds_text(seconds, " ", math.ceil)
