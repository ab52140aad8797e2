"""Makers of files of oslat, hwlatdetect, jitterdebugger, rteval and LinuxCNC."""

import json
import re
import struct
from collections.abc import Sequence

import numpy as np

from imports.made import (
    LATENCY,
    File,
    Format,
    Made,
    Random,
    Samples,
    Truth,
    in_a_log,
    stated_other,
    threads,
    token_dropped,
    truth,
)
from imports.made_cyclictest import NS, US, json_rows, member_dropped


def jitterdebugger(chance: Random, other_unit: bool = False) -> Made:
    version = 3 if other_unit else int(chance.integers(0, 4))
    unit = NS if version == 3 and chance.random() < 0.3 else US
    each = threads(chance, unit_ns=unit)
    end = int(chance.integers(1, max(its.max for its in each) + 30))
    cpus = {}
    for number, its in enumerate(each):
        inside = its.below(end)
        bins = {str(v): c for v, c in zip(inside.values.tolist(), inside.counts.tolist(), strict=True)}
        cpus[str(number)] = {
            "histogram": bins, "count": its.n, "min": its.min, "max": its.max, "avg": round(its.mean, 2),
        }  # fmt: skip
    value = {
        **({"version": version} if version else {}),
        **({"sysinfo": {"release": "6.1", "resolution_in_ns": unit}} if version == 3 else {}),
        "cpu": cpus,
    }
    over = any(its.n - its.below(end).n for its in each)
    text = json.dumps(value, indent=2) + "\n"
    made = Made(
        "jitterdebugger",
        "results.json",
        text.encode(),
        {LATENCY: truth(each, unit, end=end, digit=0.01 if over else 0.0)},
        rows=json_rows(text),
        columns=member_dropped,
    )
    return stated_other(made, other_unit)


def jitterdebugger_raw(chance: Random, other_unit: bool = False) -> Made:
    unit = NS if other_unit or chance.random() < 0.25 else US
    each = threads(chance, most=4, unit_ns=unit, many=False)
    begin = int(chance.integers(1, 100_000))
    rows = sorted(
        (begin * 10**9 + at * 1_000_000 + cpu, cpu, int(value))
        for cpu, its in enumerate(each)
        for at, value in enumerate(its.each(chance))
    )
    data = b"".join(
        struct.pack("<IqqQ", cpu, time // 10**9, time % 10**9, value) for time, cpu, value in rows
    )
    mean = sum(its.mean * its.n for its in each) / sum(its.n for its in each)
    asks = other_unit or not 0 < mean < 100
    return Made(
        "jitterdebugger-raw",
        "samples.raw",
        data,
        {LATENCY: truth(each, unit)},
        {"unit": "ns" if unit == NS else "us"} if asks else {},
        asks,
        columns=_bytes_dropped,
    )


SAMPLE = 28


def _bytes_dropped(made: Made, chance: Random) -> bytes:
    """A field of every record gone."""
    begin, end = [(0, 4), (4, 12), (12, 20), (20, 28)][int(chance.integers(4))]
    records = [made.data[at : at + SAMPLE] for at in range(0, len(made.data), SAMPLE)]
    return b"".join(record[:begin] + record[end:] for record in records)


def rteval(chance: Random, other_unit: bool = False) -> Made:
    each = threads(chance)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<rteval version="3.9">', "<Measurements>"]
    lines += [f'<cyclictest command_line="cyclictest -i100 -qmu -h 3500 -p95 -t{len(each)} -d0">']
    rows = []
    for cpu, its in enumerate(each):
        lines += [f'<core id="{cpu}" priority="95">', "<statistics>", f"<samples>{its.n}</samples>"]
        for name, figure in (("minimum", its.min), ("maximum", its.max), ("mean", its.mean)):
            lines.append(
                f'<{name} unit="us">{figure!r}</{name}>'.replace("np.float64(", "").replace(")<", "<")
            )
        lines += ["</statistics>", f'<histogram nbuckets="{len(its.values)}">']
        for value, count in zip(its.values.tolist(), its.counts.tolist(), strict=True):
            rows.append(len(lines))
            lines.append(f'<bucket index="{value}" value="{count}"/>')
        lines += ["</histogram>", "</core>"]
    lines += ["</cyclictest>", "</Measurements>", "</rteval>", ""]
    data = "\n".join(lines).encode()
    made = Made(
        "rteval", "summary.xml", data, {LATENCY: truth(each)}, rows=tuple(rows), columns=_element_dropped
    )
    return stated_other(made, other_unit)


def _element_dropped(made: Made, chance: Random) -> bytes:
    name = str(chance.choice(["samples", "minimum", "maximum", "mean", "index", "value"]))
    pattern = rf' {name}="[0-9]+"' if name in ("index", "value") else rf"<{name}[^\n]*</{name}>"
    return re.sub(pattern, "", made.text).encode()


def hwlatdetect(chance: Random, other_unit: bool = False) -> Made:
    n = int(chance.integers(1, 60))
    inner, outer = chance.integers(0, 900, n), chance.integers(0, 900, n)
    times = np.cumsum(chance.integers(1, 10**10, n)) + 1_700_000_000 * 10**9
    old = chance.random() < 0.3
    lines = [
        "hwlatdetect:  test duration 900 seconds", "   detector: tracer", "   parameters:",
        "        Latency threshold: 10us", "        Sample window:     1000000us",
        "        Sample width:      500000us", "", "Starting test", "test finished",
        f"Max Latency: {max(int(inner.max()), int(outer.max()))}us", f"Samples recorded: {n}",
        f"Samples exceeding threshold: {n}",
    ]  # fmt: skip
    begin = len(lines)
    for time, first, second in zip(times.tolist(), inner.tolist(), outer.tolist(), strict=True):
        seconds, rest = divmod(time, 10**9)
        shown = f"{seconds:010d}.{rest:010d}\t{first}\t{second}" if old else None
        lines.append(shown or f"ts: {seconds}.{rest:09d}, inner:{first}, outer:{second}")
    made = Made(
        "hwlatdetect",
        "hwlat.txt",
        "\n".join([*lines, ""]).encode(),
        {"inner_ns": truth([_of(inner)]), "outer_ns": truth([_of(outer)])},
        rows=tuple(range(begin, len(lines))),
        columns=token_dropped,
    )
    return stated_other(in_a_log(made, chance), other_unit)


def _of(values: np.ndarray) -> Samples:
    distinct, counts = np.unique(values, return_counts=True)
    return Samples(distinct.astype(np.int64), counts.astype(np.int64))


def _oslat_threads(chance: Random) -> tuple[list[Samples], int]:
    """Whole microseconds from 1 on, which are the labels of their buckets, and the number of buckets."""
    each = [Samples(np.maximum(its.values, 1), its.counts) for its in threads(chance, most=4)]
    each = [_of(np.repeat(its.values, np.minimum(its.counts, 50))) for its in each]
    return each, int(chance.integers(2, 60))


def _oslat_truth(each: Sequence[Samples], buckets: int, digit: float) -> Truth:
    """The last bucket holds its label's value and everything above; the mean of several cores is then known of none
    but the first."""
    found = truth(each, end=buckets, digit=digit)
    over = len(each) > 1 and any(its.max >= buckets for its in each)
    return Truth(
        found.count, found.min, found.max, None if over else found.mean, found.digit, found.quantiles
    )


def oslat(chance: Random, other_unit: bool = False) -> Made:
    each, buckets = _oslat_threads(chance)
    name = str(chance.choice(["Counter Freq", "CPU Freq"]))
    lines = [
        "oslat V 2.40",
        f"CPU list: \t\t{_list_of(len(each))}",
        "Test completed.",
        "",
        "        Core:\t " + " ".join(str(n) for n in range(len(each))),
    ]
    rows = [len(lines) - 1]
    lines.append(f"{name}:\t " + " ".join("2100" for _ in each) + " (Mhz)")
    begin = len(lines)
    for label in range(1, buckets + 1):
        last = label == buckets
        counts = [
            int(its.counts[(its.values >= label) if last else (its.values == label)].sum()) for its in each
        ]
        lines.append(
            f"    {label:03d} (us):\t "
            + " ".join(map(str, counts))
            + (" (including overflows)" if last else "")
        )
    figures: dict[str, list[int] | list[str]] = {
        "Minimum": [its.min for its in each], "Average": [f"{its.mean:.3f}" for its in each],
        "Maximum": [its.max for its in each], "Max-Min": [its.max - its.min for its in each],
    }  # fmt: skip
    lines += [f"     {key}:\t " + " ".join(map(str, row)) + " (us)" for key, row in figures.items()]
    lines.append("    Duration:\t " + " ".join("1.007" for _ in each) + " (sec)")
    rows += range(begin, len(lines))
    made = Made(
        "oslat",
        "oslat.txt",
        "\n".join([*lines, "", ""]).encode(),
        {"gap_ns": _oslat_truth(each, buckets, 0.001)},
        rows=tuple(rows),
        columns=_core_dropped,
    )
    return stated_other(in_a_log(made, chance), other_unit)


def _list_of(cpus: int) -> str:
    return "0" if cpus == 1 else f"0-{cpus - 1}"


def _core_dropped(made: Made, chance: Random) -> bytes:
    """The first core's column of some lines: of the buckets, or of everything."""
    lines = made.text.split("\n")
    rows = made.rows if chance.random() < 0.5 else made.rows[1:]
    for row in rows:
        before, colon, after = lines[row].partition(":\t ")
        lines[row] = before + colon + after.partition(" ")[2]
    return "\n".join(lines).encode()


def oslat_json(chance: Random, other_unit: bool = False) -> Made:
    """`other_unit`: oslat has none; a file of nanoseconds would look like this."""
    each, buckets = _oslat_threads(chance)
    true = _oslat_truth(each, buckets, 1e-6)
    if other_unit:
        each, buckets = [Samples(its.values * 1000, its.counts) for its in each], buckets * 1000
    found = {}
    for number, its in enumerate(each):
        bins: dict[str, int] = {}
        for value, count in zip(np.minimum(its.values, buckets).tolist(), its.counts.tolist(), strict=True):
            bins[str(value)] = bins.get(str(value), 0) + count
        found[str(number)] = {
            "cpu": number, "freq": 2100, "min": its.min, "avg": round(its.mean, 6), "max": its.max, "duration": 1.005,
            "histogram": bins,
        }  # fmt: skip
    value = {
        "file_version": 1,
        "cmdline:": f"oslat -D 1 -b {buckets} --json=o.json",
        "return_code": 0,
        "num_threads": len(each),
        "thread": found,
    }
    text = json.dumps(value, indent=2) + "\n"
    return Made(
        "oslat-json",
        "o.json",
        text.encode(),
        {"gap_ns": true},
        rows=json_rows(text),
        columns=member_dropped,
    )


def linuxcnc(chance: Random, other_unit: bool = False) -> Made:
    names = ["base", "servo"][: int(chance.integers(1, 3))]
    lines, found = [], {}
    frames = int(chance.integers(1, 4))
    extremes = {
        name: (chance.integers(1, 99_999, frames).cumsum(), chance.integers(1, 99_999, frames).cumsum())
        for name in names
    }
    for frame in range(frames):
        for name in names:
            low, high = (int(each[frame]) for each in extremes[name])
            figures = f"min:{-low / 1000:8.3f} uS max:{high / 1000:8.3f} uS sdev:{1.5:8.3f} uS"
            lines.append(f"{10 * (frame + 1):5d} secs  {name:>5} {figures}")
            found[f"{name}_jitter_ns"] = Truth(None, -low, high, None)
    data = "\n".join([*lines, ""]).encode()
    made = Made("linuxcnc", "latency.txt", data, found, rows=tuple(range(len(lines))), columns=token_dropped)
    return stated_other(in_a_log(made, chance), other_unit)


FORMATS = (
    Format(
        "jitterdebugger",
        jitterdebugger,
        "r r re rn r r",
        (File("jitterdebugger.json", 3984, 19, (1994 * 42.32 + 1990 * 46.46) / 3984, 1414, digit=0.01),),
    ),
    Format(
        "jitterdebugger-raw",
        jitterdebugger_raw,
        "rn r re r r rn",
        (File("jitterdebugger.raw", 100, 21, 37.12, 76, digit=0.01),),
    ),
    Format(
        "rteval",
        rteval,
        "r r re r re r",
        (File("rteval.xml", 800, 2, (5.6575 + 5.64) / 2, 22, digit=0.0001),),
    ),
    Format(
        "hwlatdetect",
        hwlatdetect,
        "r r re r re r",
        (File("hwlatdetect.txt", 4, 0, 213 / 4, 187, "inner_ns"),),
        ("inner_ns", "outer_ns"),
        wakes=False,
    ),
    Format(
        "oslat",
        oslat,
        "re r re r r r",
        (
            File("oslat-2.4.txt", 16852981, 1, None, 8065, "gap_ns"),
            File("oslat-2.10.txt", 14790188, 0, 1.034, 8113, "gap_ns", 0.001),
        ),
        ("gap_ns",),
        wakes=False,
    ),
    Format(
        "oslat-json",
        oslat_json,
        "r r re n re r",
        (File("oslat-2.4.json", 17253830, 1, None, 20077, "gap_ns"),),
        ("gap_ns",),
        wakes=False,
    ),
    Format(
        "linuxcnc",
        linuxcnc,
        "ren r re r re r",
        (
            File("linuxcnc.txt", None, -11.211, None, 14.902, "base_jitter_ns"),
            File("linuxcnc.txt", None, -15.5, None, 23.004, "servo_jitter_ns"),
        ),
        ("base_jitter_ns", "servo_jitter_ns"),
    ),
)
