"""Makers of files of cyclictest, and of the plain histograms and CSV files that scripts make."""

import json
from collections.abc import Callable

import numpy as np

from imports.made import (
    LATENCY,
    File,
    Format,
    Made,
    Random,
    Samples,
    Truth,
    drawn,
    in_a_log,
    threads,
    token_dropped,
    truth,
)

US, NS = 1000, 1


def _unit(chance: Random, other_unit: bool) -> int:
    return NS if other_unit or chance.random() < 0.25 else US


def histogram(chance: Random, other_unit: bool = False) -> Made:
    """-h, -H: rows, then each thread's figures. Nothing but the command line says the unit."""
    unit = _unit(chance, other_unit)
    each = threads(chance, unit_ns=unit)
    most = max(its.max for its in each)
    end = int(chance.integers(1, most + 30))
    newer, sums, total = (
        chance.random() < 0.5 or unit == NS,
        chance.random() < 0.2 and len(each) > 1,
        chance.random() < 0.7,
    )
    command = not other_unit and chance.random() < 0.5
    shown = sorted({int(v) for its in each for v in its.below(end).values}) if newer else range(end)
    if newer and shown:
        end = shown[-1] + 1
    columns = [dict(zip(its.values.tolist(), its.counts.tolist(), strict=True)) for its in each]
    lines = [f"$ cyclictest -q{'N' if unit == NS else ''} -Sp80 -h {end}"] if command else []
    lines += ["# /dev/cpu_dma_latency set to 0us", "# Histogram"]
    begin = len(lines)
    for value in shown:
        counts = [column.get(value, 0) for column in columns]
        lines.append(
            f"{value:06d} "
            + "\t".join(f"{count:06d}" for count in (*counts, *([sum(counts)] if sums else [])))
        )
    figures = {
        "Total": [its.below(end).n for its in each],
        "Min Latencies": [its.min for its in each],
        "Avg Latencies": [int(its.mean) for its in each],
        "Max Latencies": [its.max for its in each],
        "Histogram Overflows": [its.n - its.below(end).n for its in each],
    }
    if not total:
        del figures["Total"]
    lines += [f"# {name}: " + " ".join(f"{word:05d}" for word in words) for name, words in figures.items()]
    last = len(lines)
    lines += [
        "# Histogram Overflow at cycle number:",
        *(f"# Thread {n}: 00001" for n in range(len(each))),
        "",
        "",
    ]
    asks = (
        not command
        and not any(0 < int(its.mean) < 100 for its in each)
        and any(int(its.mean) for its in each)
    )
    over = any(its.n - its.below(end).n for its in each)
    made = Made(
        "cyclictest",
        "hist.txt",
        "\n".join(lines).encode(),
        {LATENCY: truth(each, unit, end=end, digit=1.0 if over else 0.0)},
        {"unit": "ns" if unit == NS else "us"} if asks else {},
        asks,
        tuple(range(begin, last)),
        _thread_dropped,
    )
    return made if other_unit else in_a_log(made, chance)


def _thread_dropped(made: Made, chance: Random) -> bytes:
    """The last column of rows and figures."""
    lines = made.text.split("\n")
    for row in made.rows:
        lines[row] = lines[row].rstrip().rsplit(maxsplit=1)[0] if len(lines[row].split()) > 1 else ""
    return "\n".join(lines).encode()


def as_json(chance: Random, other_unit: bool = False) -> Made:
    """`other_unit`: the file says that it is in the other one."""
    unit = _unit(chance, False)
    each = threads(chance, unit_ns=unit)
    end = int(chance.integers(1, max(its.max for its in each) + 30)) if chance.random() < 0.7 else 0
    option = str(chance.choice(["-qN", "-mSN", "--nsecs", "--nsec", "-q -N"])) if unit == NS else "-q"
    found = {}
    for number, its in enumerate(each):
        inside = its.below(end)
        bins = {str(v): c for v, c in zip(inside.values.tolist(), inside.counts.tolist(), strict=True)}
        found[str(number)] = {
            **({"histogram": bins} if end else {}),
            "cycles": its.n,
            "min": its.min,
            "max": its.max,
            "avg": round(its.mean, 2),
            "cpu": number,
        }
    value = {
        "file_version": 1,
        "cmdline:": f"cyclictest {option} -t{len(each)} -p 80" + (f" -h {end}" if end else ""),
        "rt_test_version:": "2.40",
        "return_code": 0,
        "num_threads": len(each),
        "resolution_in_ns": int((unit == NS) != other_unit),
        "thread": found,
    }
    # what of a thread's histogram lies beyond its last bin is all that is known
    known = [its for its in each if its.below(end).n] if end else []
    seen = bool(known)
    over = not end or any(its.n - its.below(end).n for its in each)
    text = json.dumps(value, indent=2) + "\n"
    return Made(
        "cyclictest-json",
        "a.json",
        text.encode(),
        {LATENCY: truth(each, unit, end=end or 0, digit=0.01 if over else 0.0, seen=seen)},
        rows=json_rows(text),
        columns=member_dropped,
    )


def json_rows(text: str) -> tuple[int, ...]:
    """The lines that hold a number."""
    return tuple(n for n, line in enumerate(text.split("\n")) if line.strip(" ,")[-1:].isdigit())


def member_dropped(made: Made, chance: Random) -> bytes:
    """A member of every thread or CPU gone."""
    value = json.loads(made.text)
    parent = value["thread" if "thread" in value else "cpu"]
    name = str(chance.choice(sorted(next(iter(parent.values())))))
    for entry in parent.values():
        del entry[name]
    return json.dumps(value, indent=2).encode()


def summary(chance: Random, other_unit: bool = False) -> Made:
    """The screen's last frame, or a few frames of it."""
    unit = _unit(chance, other_unit)
    each = threads(chance, unit_ns=unit)
    width, task = (8 if unit == NS else 5), int(chance.integers(1, 99_000))
    smi = chance.random() < 0.2
    period, apart = int(chance.integers(1, 20)) * 100, int(chance.choice([0, 500]))

    def line(number: int, its: Samples | None) -> str:
        low, act, mean, high, n = (1_000_000, 0, 0, 0, 0) if its is None else (
            its.min, int(its.values[0]), int(its.mean), its.max, its.n)  # fmt: skip
        return (
            f"T:{number:2d} ({task + number:5d}) P:80 I:{period + number * apart} C:{n:7d} "
            f"Min:{low:7d} Act:{act:{width}d} Avg:{mean:{width}d} Max:{high:8d}"
            + (" SMI:       0" if smi else "")
        )

    lines = ["# /dev/cpu_dma_latency set to 0us"]
    if chance.random() < 0.3:
        lines += [
            "policy: fifo: loadavg: 0.1",
            "",
            *(line(n, None) for n in range(len(each))),
            "policy: fifo",
            "",
        ]
    begin = len(lines)
    lines += [*(line(n, its) for n, its in enumerate(each)), ""]
    made = Made(
        "cyclictest-summary",
        "screen.txt",
        "\n".join(lines).encode(),
        {LATENCY: truth(each, unit, digit=1.0, seen=False)},
        rows=tuple(range(begin, len(lines) - 1)),
        columns=_field_dropped,
    )
    return made if other_unit else in_a_log(made, chance)


def _field_dropped(made: Made, chance: Random) -> bytes:
    """A figure and its name gone from every line of a thread."""
    lines = made.text.split("\n")
    name = str(chance.choice(["P:", "I:", "C:", "Min:", "Act:", "Avg:", "Max:"]))
    for row in made.rows:
        before, _, after = lines[row].partition(name)
        lines[row] = before + after.lstrip().partition(" ")[2]
    return "\n".join(lines).encode()


def raw(chance: Random, other_unit: bool = False) -> Made:
    unit = _unit(chance, other_unit)
    each = threads(chance, most=4, unit_ns=unit, many=False)
    command = not other_unit and chance.random() < 0.4
    lines = [f"$ cyclictest -v{'N' if unit == NS else ''} -t{len(each)}"] if command else []
    period = int(chance.integers(1, 20)) * 100
    lines += [
        "Max CPUs = 2",
        "Online CPUs = 2",
        *(f"Thread {n} Interval: {period}" for n in range(len(each))),
    ]
    begin = len(lines)
    smi = chance.random() < 0.2
    waiting = [
        [f"{n:8d}:{at:8d}:{v:8d}" for at, v in enumerate(its.each(chance))] for n, its in enumerate(each)
    ]
    while any(waiting):
        rows = waiting[int(chance.choice([n for n, rows in enumerate(waiting) if rows]))]
        piece = int(chance.integers(1, 30))
        lines += [row + ("       0" if smi else "") for row in rows[:piece]]
        del rows[:piece]
    whole = sum(its.mean * its.n for its in each) / sum(its.n for its in each)
    asks = not command and not whole < 100 and not whole > 100 * period
    return Made(
        "cyclictest-raw",
        "v.txt",
        "\n".join([*lines, ""]).encode(),
        {LATENCY: truth(each, unit)},
        {"unit": "ns" if unit == NS else "us"} if asks else {},
        asks,
        tuple(range(begin, len(lines))),
        token_dropped,
    )


def plain_histogram(chance: Random, other_unit: bool = False) -> Made:
    """Columns of whole numbers."""
    unit = NS if other_unit else US
    each = threads(chance, most=4, unit_ns=unit)
    overflow = int(chance.choice([0, 0, 3, 500])) if chance.random() < 0.5 else None
    columns = [dict(zip(its.values.tolist(), its.counts.tolist(), strict=True)) for its in each]
    apart = str(chance.choice([" ", "\t", ",", "; "]))
    lines = [
        apart.join(map(str, [value, *(column.get(value, 0) for column in columns)]))
        for value in sorted({value for column in columns for value in column})
    ]
    whole = truth(each, unit)
    mapping = {} if overflow is None else {"overflow": str(overflow)}
    values = {value for column in columns for value in column}
    asks = (
        other_unit
        or not any(0 < its.mean < 100 for its in each)
        or int(np.gcd.reduce(list(values))) % 10 == 0
    )
    asks = asks and any(its.mean for its in each)
    if overflow:
        whole = truth([*each, Samples(np.array([10**9]), np.array([overflow]))], unit, end=10**9, digit=1.0)
        whole = Truth(whole.count, whole.min, max(its.max for its in each) * unit, None, 0.0, whole.quantiles)
    return Made(
        "histogram",
        "hist.dat",
        "\n".join([*lines, ""]).encode(),
        {LATENCY: whole},
        {**mapping, "unit": "ns" if other_unit else "us"} if asks else mapping,
        asks,
        tuple(range(len(lines))),
        token_dropped,
    )


def csv(chance: Random, other_unit: bool = False) -> Made:
    """A sample a row, with a time, in any unit and any way to write a number. `other_unit`: not that of `--map`."""
    unit, factor = [("ns", 1), ("us", 1000), ("ms", 10**6), ("s", 10**9)][int(chance.integers(4))]
    its = drawn(chance, unit_ns=1, many=False)
    values = its.each(chance)
    apart = str(chance.choice([",", ";", "\t", "  "]))
    exponents, comma = chance.random() < 0.3, apart != "," and chance.random() < 0.3
    titled, timed = chance.random() < 0.7, chance.random() < 0.5
    lines = ["# board", "#"] if chance.random() < 0.3 else []
    lines += [apart.join(["stamp", "n", "late"])] if titled else []
    begin = len(lines)
    start = int(chance.integers(0, 1000))
    for at, value in enumerate(values.tolist()):
        number = _decimal(value, factor)
        text = f"{value / factor:.12e}" if exponents else number
        stamp = f"{start + at // 1000}.{at % 1000:03d}"
        words = [stamp, str(at), text]
        lines.append(apart.join(word.replace(".", ",") if comma else word for word in words))
    name = f"latency_{'us' if other_unit and unit != 'us' else 'ns' if other_unit else unit}"
    mapping = {name: "late" if titled else "3", **({"time_s": "stamp" if titled else "1"} if timed else {})}
    return Made(
        "csv",
        "log.csv",
        "\n".join([*lines, ""]).encode(),
        {LATENCY: truth([its], 1, digit=1.0 if exponents else 0.0)},
        mapping,
        rows=tuple(range(begin, len(lines))),
        columns=_csv_dropped(begin - titled, apart),
    )


def _csv_dropped(begin: int, apart: str) -> Callable[[Made, Random], bytes]:
    """One column gone, its name too."""

    def dropped(made: Made, chance: Random) -> bytes:
        lines = made.text.split("\n")
        place = int(chance.integers(3))
        for row in range(begin, len(lines) - 1):
            lines[row] = apart.join(word for at, word in enumerate(lines[row].split(apart)) if at != place)
        return "\n".join(lines).encode()

    return dropped


def _decimal(value: int, factor: int) -> str:
    """A number of nanoseconds in another unit, with all its digits."""
    whole, rest = divmod(value, factor)
    digits = len(str(factor)) - 1
    return f"{whole}.{rest:0{digits}d}" if digits else str(whole)


FORMATS = (
    Format(
        "cyclictest",
        histogram,
        "re r re r r r",
        (
            File("cyclictest-2.4.txt", 2000, 19, (46 + 40) / 2, 1176),
            File("cyclictest-2.10.txt", 2000, 20, (42 + 44) / 2, 1011),
        ),
    ),
    Format(
        "cyclictest-json",
        as_json,
        "r r ren r re r",
        (File("cyclictest-2.4.json", 2000, 20, (42.65 + 44.39) / 2, 1075, digit=0.01),),
    ),
    Format(
        "cyclictest-summary",
        summary,
        "rn r e e r r",
        (File("cyclictest-summary.txt", 841, 19, (500 * 35 + 341 * 42) / 841, 389),),
    ),
    Format(
        "cyclictest-raw",
        raw,
        "rn r r re ren r",
        (File("cyclictest-raw.txt", 209, 21, 39.967, 109, digit=0.001),),
    ),
    Format(
        "histogram",
        plain_histogram,
        "rn r re r rn r",
        (File("histogram.txt", 800, 2, (5.6575 + 5.64) / 2, 22, digit=0.0001),),
    ),
    Format(
        "csv",
        csv,
        "rn n re n re rn",
        (
            File(
                "samples.csv",
                200,
                2.5,
                6.24,
                16.5,
                digit=0.01,
                mapping={"latency_us": "latency_us", "cpu": "core", "time_s": "time_s"},
            ),
        ),
    ),
)
