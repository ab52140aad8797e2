"""What hwlatdetect prints: how it looked, and each gap that it found, with the time of day."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from howlate.imports.formats._foreign import Foreign, Raw, Rows, importer
from howlate.imports.formats._text import MOST, UNITS, Line, cut, log_head, log_lines
from howlate.model.knowledge import Knowledge
from howlate.model.summary import WATCHED
from howlate.store.ingest import ACTIVATIONS
from howlate.store.stream import StreamColumn, StreamTable

_BEGINS = "hwlatdetect:  test duration "
_SAMPLE = re.compile(
    r"ts: ([0-9]{1,11})\.([0-9]{1,9}), inner:([0-9]{1,12}), outer:([0-9]{1,12})"
    r"(?:, cpu:([0-9]{1,5}))?"
)
_OLD_SAMPLE = re.compile(r"([0-9]{1,11})\.([0-9]{10})\t([0-9]{1,12})\t([0-9]{1,12})")
"""The form of rt-tests before 1.0: nanoseconds with ten digits."""
_NUMBERS = {
    "Latency threshold": "threshold",
    "Sample window": "window",
    "Sample width": "width",
    "Samples recorded": "recorded",
    "Samples exceeding threshold": "exceeding",
    "SMIs during run": "smi",
}
_COLUMNS = tuple(StreamColumn(name, "i64") for name in ("index", "time_ns", "inner_ns", "outer_ns"))
Sample = tuple[int, int, int]
"""Time, inner and outer gap, in nanoseconds."""


def recognises(path: Path) -> bool:
    return _BEGINS in log_head(path)


def read_file(path: Path, mapping: Mapping[str, str]) -> Foreign:
    numbers, samples, largest, last = _read(path)
    if last is None or "recorded" not in numbers or "duration" not in numbers or not last.ended:
        raise cut(path, last.number if last else 1, '"Samples recorded" or the end of a line is missing')
    contradictions = []
    if numbers["recorded"] != len(samples):
        contradictions.append(
            f"{path}, line {last.number}: {len(samples)} samples are listed, and {numbers['recorded']} were recorded"
        )
    listed = max((max(inner, outer) for _, inner, outer in samples), default=0)
    if listed != largest * 1000 and samples:
        contradictions.append(
            f"{path}, line {last.number}: the largest gap listed is {listed / 1000:g} us, and {largest} us is stated"
        )
    return Foreign(
        path,
        "hwlatdetect",
        ("inner_ns", "outer_ns"),
        raw=_raw(samples),
        known=Knowledge(resolution_ns=1000, threshold_ns=_threshold_ns(numbers)),
        parameters={
            name: f"{numbers[name]}us" for name in ("threshold", "window", "width") if numbers.get(name)
        },
        seconds=float(numbers["duration"]),
        contradictions=contradictions,
        stop_reason="duration",
        outcomes=_outcomes(numbers, len(samples)),
    )


def _read(path: Path) -> tuple[dict[str, int], list[Sample], int, Line | None]:
    numbers: dict[str, int] = {}
    samples: list[Sample] = []
    largest, line = 0, None
    for line in log_lines(path):
        text = line.text.strip()
        name, _, rest = text.partition(":")
        rest = rest.strip()
        if text.startswith("ts:") or _OLD_SAMPLE.fullmatch(text):
            samples.append(_sample(line, text, samples))
        elif text.startswith(_BEGINS):
            if "duration" in numbers:
                raise line.second()
            numbers["duration"] = line.whole(text.removeprefix(_BEGINS).removesuffix(" seconds"))
        elif name in _NUMBERS:
            if _NUMBERS[name] in numbers:
                raise line.wrong(f'"{name}" is given twice')
            numbers[_NUMBERS[name]] = line.whole(rest.removesuffix("us"))
        elif name == "Max Latency" and rest != "Below threshold":
            largest = line.whole(rest.removesuffix("us"))
    return numbers, samples, largest, line


def _sample(line: Line, text: str, before: Sequence[Sample]) -> Sample:
    match = _OLD_SAMPLE.fullmatch(text)
    if match is None:
        match = _SAMPLE.fullmatch(text)
        if match is None:
            raise line.wrong(f'"{text[:60]}" is not a sample')
        nanoseconds = int(match[2].ljust(9, "0"))
    else:
        nanoseconds = int(match[2])
    inner, outer = int(match[3]), int(match[4])
    time_ns = int(match[1]) * UNITS["s"] + nanoseconds
    if nanoseconds >= UNITS["s"] or time_ns >= MOST or (before and time_ns < before[-1][0]):
        raise line.wrong("its time is before that of the sample above it, or no time")
    return time_ns, inner * 1000, outer * 1000


def _raw(samples: Sequence[Sample]) -> Raw:
    table = StreamTable(0, ACTIVATIONS, _COLUMNS, None, 0)
    begin = samples[0][0] if samples else 0

    def rows() -> Iterator[tuple[int, Rows]]:
        values = np.array(samples, dtype=np.int64).reshape(-1, 3)
        index = np.arange(len(samples), dtype=np.int64)
        yield (
            0,
            {
                "index": index,
                "time_ns": values[:, 0] - begin,
                "inner_ns": values[:, 1],
                "outer_ns": values[:, 2],
            },
        )

    return Raw((table,), rows, {0: len(samples)})


def _threshold_ns(numbers: Mapping[str, int]) -> int | None:
    return numbers["threshold"] * UNITS["us"] if "threshold" in numbers else None


def _outcomes(numbers: Mapping[str, int], gaps: int) -> dict[str, int | float]:
    """For how long it looked is a share of the test: it rests between two windows."""
    window, width = numbers.get("window", 0), numbers.get("width", 0)
    watched = (
        {WATCHED: numbers["duration"] * UNITS["s"] * width // window} if window and width <= window else {}
    )
    return {"gaps": gaps, **watched, **({"smi": numbers["smi"]} if "smi" in numbers else {})}


IMPORTER = importer("hwlatdetect", "what hwlatdetect prints", recognises, read_file)
