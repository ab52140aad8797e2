"""Makers of files of the kernel's tracers, as rtla writes them."""

from collections.abc import Sequence

from imports.made import (
    File,
    Format,
    Made,
    Random,
    Truth,
    drawn,
    in_a_log,
    stated_other,
    token_dropped,
    truth,
)
from imports.made_cyclictest import NS, US

KINDS = {"IRQ": "irq_latency_ns", "Thr": "thread_latency_ns", "Usr": "user_latency_ns"}


def _cpus(chance: Random, most: int) -> list[int]:
    return sorted(chance.choice(200, int(chance.integers(1, most + 1)), replace=False).tolist())


def _rtla(chance: Random, title: str, kinds: Sequence[str], names: Sequence[str], all_cpus: bool) -> Made:
    unit = NS if chance.random() < 0.25 else US
    width = int(chance.choice([1, 1, 2, 5, 10, 100])) * (1 if unit == US else 100)
    cpus = _cpus(chance, 4)
    columns = [(kind, cpu, drawn(chance, unit_ns=unit)) for cpu in cpus for kind in kinds]
    end = int(chance.integers(1, 256)) * width if unit == US else 10_000_000
    bins = [its.below(end).in_bins(width) for _, _, its in columns]
    word = "nanoseconds (ns)" if unit == NS else "microseconds (us)"
    lines = [f"# RTLA {title} histogram", f"# Time unit is {word}", "# Duration:   0 00:01:00"]
    begin = len(lines)
    lines.append("Index " + "".join(f"{f'{kind}-{cpu:03d}':>10}" for kind, cpu, _ in columns))
    counts = [dict(zip(its.values.tolist(), its.counts.tolist(), strict=True)) for its in bins]
    for value in sorted({value for its in counts for value in its}):
        lines.append(f"{value:<6d}" + "".join(f"{its.get(value, 0):9d} " for its in counts))
    figures: dict[str, list[int]] = {
        "over": [its.n - its.below(end).n for _, _, its in columns],
        "count": [its.n for _, _, its in columns],
        "min": [its.min for _, _, its in columns],
        "avg": [int(its.mean) for _, _, its in columns],
        "max": [its.max for _, _, its in columns],
    }
    lines += [
        f"{name + ':':<6}" + "".join(f"{figure:9d} " for figure in row) for name, row in figures.items()
    ]
    last = len(lines)
    if all_cpus:
        total = [sum(its.n for kind, _, its in columns if kind == each) for each in kinds]
        lines += [
            "ALL:  " + "".join(f"{kind:>10}" for kind in kinds),
            "count:" + "".join(f"{n:9d} " for n in total),
        ]
    made = Made(
        title,
        "rtla.txt",
        "\n".join([*lines, ""]).encode(),
        {
            name: truth([its for k, _, its in columns if k == kind], unit, end=end, width=width, digit=1.0)
            for kind, name in zip(kinds, names, strict=True)
        },
        rows=tuple(range(begin, last)),
        columns=_cpu_dropped,
    )
    return in_a_log(made, chance)


def _cpu_dropped(made: Made, chance: Random) -> bytes:
    """The last column of header, rows and figures."""
    lines = made.text.split("\n")
    for row in made.rows:
        lines[row] = lines[row].rstrip().rsplit(maxsplit=1)[0]
    return "\n".join(lines).encode()


def timerlat(chance: Random, other_unit: bool = False) -> Made:
    kinds = list(KINDS)[: int(chance.choice([2, 3]))]
    return stated_other(_rtla(chance, "timerlat", kinds, [KINDS[kind] for kind in kinds], True), other_unit)


def osnoise(chance: Random, other_unit: bool = False) -> Made:
    return stated_other(_rtla(chance, "osnoise", ["CPU"], ["noise_ns"], False), other_unit)


def timerlat_top(chance: Random, other_unit: bool = False) -> Made:
    unit = NS if chance.random() < 0.25 else US
    kinds = list(KINDS)[: int(chance.choice([2, 3]))]
    titles = {"IRQ": "IRQ Timer Latency", "Thr": "Thread Timer Latency", "Usr": "Ret user Timer Latency"}
    cpus = _cpus(chance, 4)
    columns = {cpu: [drawn(chance, unit_ns=unit) for _ in kinds] for cpu in cpus}
    word = "ns" if unit == NS else "us"
    lines = [
        " " * 40 + "Timer Latency",
        "  0 00:01:00   |" + "|".join(f"{titles[kind]:>32} ({word})" for kind in kinds),
        "CPU COUNT      |" + "|".join("      cur       min       avg       max " for _ in kinds),
    ]
    begin = len(lines)
    for cpu, each in columns.items():
        parts = [f"{its.values[0]:9d} {its.min:9d} {int(its.mean):9d} {its.max:9d} " for its in each]
        lines.append(f"{cpu:3d} #{each[0].n:<9d} |" + "|".join(parts))
    last = len(lines)
    lines += ["---------------|", f"ALL #{sum(each[0].n for each in columns.values())} e0 |", ""]
    made = Made(
        "timerlat-top",
        "top.txt",
        "\n".join(lines).encode(),
        {
            KINDS[kind]: truth(
                [each[at] for each in columns.values()], unit, digit=1.0, seen=False, counted=kind == "IRQ"
            )
            for at, kind in enumerate(kinds)
        },
        rows=tuple(range(begin, last)),
        columns=token_dropped,
    )
    return stated_other(in_a_log(made, chance), other_unit)


def osnoise_top(chance: Random, other_unit: bool = False) -> Made:
    each = dict(zip(cpus := _cpus(chance, 4), (drawn(chance, many=False) for _ in cpus), strict=True))
    lines = [
        "duration:   0 00:01:00 | time is in us",
        "CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single          HW",
    ]
    for cpu, its in each.items():
        noise = int((its.values * its.counts).sum())
        runtime = its.n * 1_000_000
        rest = "".join(f"{n:12d}" for n in (its.max, its.max // 2, 3, 0, 50, 40, 12))
        lines.append(
            f"{cpu:3d} #{its.n:<5d} {runtime:14d} {noise:12d} {100 - noise / runtime * 100:11.5f} {rest}"
        )
    found = truth(list(each.values()), digit=0.001, seen=False)
    found = Truth(found.count, None, found.max, found.mean, found.digit, found.quantiles)
    assert found.max is not None
    made = Made(
        "osnoise-top",
        "top.txt",
        "\n".join([*lines, ""]).encode(),
        {"period_noise_ns": found, "single_noise_ns": Truth(None, None, found.max // 2000 * 1000, None)},
        rows=tuple(range(2, len(lines))),
        columns=token_dropped,
    )
    if other_unit:
        return Made(made.format, made.name, made.data.replace(b"time is in us", b"time is in ns"), made.truth)
    return in_a_log(made, chance)


FORMATS = (
    Format(
        "timerlat",
        timerlat,
        "re r re rn r r",
        (
            File("timerlat-hist.txt", 4000, 1, 2, 13, "irq_latency_ns"),
            File("timerlat-hist.txt", 4000, 5, 10, 27, "thread_latency_ns"),
            File("timerlat-hist.txt", 4000, 8, 14, 35, "user_latency_ns"),
            File("timerlat-hist-buckets.txt", 2000, 7, 17, 91, "irq_latency_ns"),
            File("timerlat-hist-buckets.txt", 2000, 35, 70, 175, "thread_latency_ns"),
            File("timerlat-hist-6.1.txt", 3000, 0, 0, 0, "irq_latency_ns"),
            File("timerlat-hist-6.1.txt", 3000, 4, 4, 7, "thread_latency_ns"),
        ),
        (),
    ),
    Format(
        "timerlat-top",
        timerlat_top,
        "ren r e rn re r",
        (
            File("timerlat-top-6.1.txt", 3000, 0, 0, 2, "irq_latency_ns"),
            File("timerlat-top-6.1.txt", None, 4, None, 6, "thread_latency_ns"),
            File("timerlat-top.txt", 4000, 1, 2, 13, "irq_latency_ns"),
            File("timerlat-top.txt", None, 5, None, 27, "thread_latency_ns"),
        ),
        (),
    ),
    Format(
        "osnoise",
        osnoise,
        "re r re n rn r",
        (File("osnoise-hist.txt", 1500, 1, (6.64 + 6.88 + 6.27) / 3, 31, "noise_ns", 0.01),),
        ("noise_ns",),
        wakes=False,
    ),
    Format(
        "osnoise-top",
        osnoise_top,
        "ren r e r re r",
        (File("osnoise-top.txt", 10, None, (2310 + 1204) / 10, 611, "period_noise_ns"),),
        ("single_noise_ns",),
        wakes=False,
    ),
)
