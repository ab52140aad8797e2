"""Say how much must be measured to show a rate, a horizon or a difference."""

from __future__ import annotations

from typing import Any

import click

from howlate.words.statement import rule

NO_QUESTION = rule(
    "cli.no-question",
    "nothing is asked",
    remedy="give --miss-rate, --horizon or --ratio: howlate plan --miss-rate 1e-7 --period 1ms",
)
RATE_IS_0 = rule(
    "cli.rate-is-0",
    "no number of activations shows that no release ever misses",
    remedy="give --miss-rate a share above 0, such as 1e-7",
)
RATIO_RANGE = rule(
    "cli.ratio-range", "--ratio must be above 0 and not 1, not {ratio}", remedy="write it like 2 or 1.2"
)
THETA_RANGE = rule(
    "cli.theta-range", "--cluster must be at least 1, not {size}", remedy="write it like 1 (no clusters) or 4"
)


@click.command(epilog="Example: howlate plan --miss-rate 1e-7 --period 1ms --horizon 1h --ratio 1.5")
@click.option(
    "--miss-rate", type=float, metavar="RATE", help="Which share of the releases may miss the deadline."
)
@click.option("--period", default="1ms", show_default=True, metavar="TIME", help="Of the task.")
@click.option("--horizon", metavar="TIME", help="How long a stretch the largest value is to bound.")
@click.option(
    "--ratio",
    type=float,
    metavar="FACTOR",
    help="Which difference a comparison is to find, such as 1.5 or 2.",
)
@click.option(
    "--cluster",
    type=float,
    default=1.0,
    show_default=True,
    metavar="SIZE",
    help="How many late samples come together (1 / the extremal index that a verdict names).",
)
@click.option("--deadline", metavar="TIME", help="Named in the command that follows.")
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, metavar="SHARE", help="Of each bound."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    miss_rate: float | None,
    period: str,
    horizon: str | None,
    ratio: float | None,
    cluster: float,
    deadline: str | None,
    confidence: float,
    as_json: bool,
) -> int:
    """Say how many activations, hours and pairs of runs are needed before one starts to measure: for a rate of
    misses, for a bound on the next stretch of time, for a difference between two kernels or settings."""
    import json
    import math

    from howlate.cli.verdict import NOT_POSITIVE, asked, duration_ns
    from howlate.errors import UsageError

    if miss_rate is None and horizon is None and ratio is None:
        raise UsageError(NO_QUESTION())
    question = asked(deadline, miss_rate or 0.0, None, confidence)
    if miss_rate is not None and not miss_rate:
        raise UsageError(RATE_IS_0())
    period_ns = duration_ns("--period", period)
    if not period_ns:
        raise UsageError(NOT_POSITIVE(option="--period"))
    if not (1 <= cluster < math.inf):
        raise UsageError(THETA_RANGE(size=cluster))
    if ratio is not None and (not (0 < ratio < math.inf) or ratio == 1):
        raise UsageError(RATIO_RANGE(ratio=ratio))
    horizon_s = None if horizon is None else duration_ns("--horizon", horizon) / 1e9
    if horizon_s == 0:
        raise UsageError(NOT_POSITIVE(option="--horizon"))
    value = needs(miss_rate, period_ns, horizon_s, ratio, 1 / cluster, question.confidence)
    if as_json:
        click.echo(json.dumps(value, indent=1))
    else:
        for line in _lines(value, deadline or ""):
            click.echo(line)
    return 0


def needs(
    miss_rate: float | None,
    period_ns: int,
    horizon_s: float | None,
    ratio: float | None,
    theta: float,
    confidence: float,
) -> dict[str, Any]:
    """What is needed, for programs."""
    from howlate.analysis.effort import horizon_effort_s, powers, rate_efforts, until_decided

    value: dict[str, Any] = {"schema": 1, "confidence": confidence, "period_ns": period_ns}
    if miss_rate is not None:
        decided = until_decided(miss_rate, confidence, theta)
        value["rate"] = {
            "miss_rate": miss_rate,
            "theta": theta,
            "by_misses": [
                {"misses": e.misses, "activations": e.activations, "seconds": e.activations * period_ns / 1e9}
                for e in rate_efforts(miss_rate, confidence, theta)
            ],
            "until_decided": {"activations": decided, "seconds": decided * period_ns / 1e9},
        }
    if horizon_s is not None:
        value["horizon"] = {"horizon_s": horizon_s, "seconds": horizon_effort_s(horizon_s, confidence)}
    if ratio is not None:
        value["pairs"] = {
            "ratio": ratio,
            "power": [{"pairs": power.pairs, "share": power.share} for power in powers(ratio, confidence)],
        }
    return value


def _lines(value: dict[str, Any], deadline: str) -> list[str]:
    """For people."""
    from howlate.words.quantities import grouped, level_text, percent, seconds_text

    level = level_text(value["confidence"])
    lines = []
    if rate := value.get("rate"):
        lines.append(
            f"To show with {level} confidence that at most {rate['miss_rate']:g} of the releases miss:"
        )
        for need in rate["by_misses"]:
            misses = "no miss" if not need["misses"] else f"{need['misses']} missed"
            time = seconds_text(need["seconds"], " ")
            lines.append(f"  {misses:9}  {grouped(need['activations'], ','):>16} activations  {time}")
        decided = rate["until_decided"]
        time = seconds_text(decided["seconds"], " ")
        count = grouped(decided["activations"], ",")
        lines.append(f"  looking while it is measured, without a miss: {count} activations, {time}")
    if horizon := value.get("horizon"):
        lines.append(
            f"For a bound on the next {seconds_text(horizon['horizon_s'], ' ')} with {level} confidence: measure "
            f"{seconds_text(horizon['seconds'], ' ')}"
        )
    if pairs := value.get("pairs"):
        lines.append(
            f"To find a factor of {pairs['ratio']:g} between two sides, in interleaved pairs of runs:"
        )
        lines += [
            f"  {power['pairs']:2} pairs find it in {percent(power['share'])}" for power in pairs["power"]
        ]
        lines.append("  Fewer than six pairs have no 95 % interval at all (docs/compare.md).")
    wanted = f" --deadline {deadline}" if deadline else " --deadline TIME"
    if value.get("rate"):
        lines.append(f"Then: howlate verdict RUN{wanted} --miss-rate {value['rate']['miss_rate']:g}")
    return lines
