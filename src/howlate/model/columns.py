"""The columns of a test's samples: which of them are measured, what they are called. No test is named here: a column
is known by its own name, which the stream's header gives."""

from __future__ import annotations

from collections.abc import Iterable

LATENCY, RESPONSE = "latency_ns", "response_ns"
RELEASE = "release"
"""The column that activations have, and data points have not."""
RELEASE_NS = "release_ns"
TIMES = (RELEASE_NS, "time_ns")
"""When a row was due or taken, as an offset from t0: not measured, but what the rest is drawn against."""
INDICES = (RELEASE, "index")
"""Which row it is, by thread."""
SAMPLES = "samples"
"""In a histogram's rows: how many samples a row stands for."""
FLAGS = "flags"
WARM_UP, SWITCHED_OUT = 1, 2
"""The bits of `flags`: outside the statistics; the kernel took the CPU away within the sample. The probe's, which
says them in `howlate-probe list --json`."""

TITLES = {
    LATENCY: "Wake-up latency",
    RESPONSE: "Response time",
    "irq_latency_ns": "Interrupt latency",
    "wake_latency_ns": "Wake-up latency",
}


def measured(columns: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Of (name, type) those that statistics are made of: whole numbers of 64 bits whose name ends in _ns."""
    return tuple(n for n, kind in columns if kind == "i64" and n.endswith("_ns") and n not in TIMES)


def column_title(column: str) -> str:
    """A column as a heading: "Wake-up latency", "cs1"."""
    return TITLES.get(column) or column.removesuffix("_ns").replace("_", " ")


def column_words(column: str) -> str:
    """A column inside a sentence: "wake-up latency", "cs1"."""
    known = TITLES.get(column)
    return known[:1].lower() + known[1:] if known else column_title(column)


def things(column: str, count: int = 2) -> str:
    """The unit being counted: wake-ups or data points."""
    one = "wake-up" if column in (LATENCY, RESPONSE) else "data point"
    return one if count == 1 else f"{one}s"
