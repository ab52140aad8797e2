"""The kernel's own tracer `function_graph`: what its buffer says of how long each function was executed itself.

Each call costs the tracer's own instructions. They are taken off: of each pair of kinds of neighbouring events (a
call or a return, and the next) the shortest distance in the whole buffer is what the tracer itself took.
"""

import re
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np
from msgspec import Struct

from howlate.replay.symbols import Symbols

PAGE, HEAD = 4096, 16
_COMMIT = (1 << 20) - 1
_LAST_DATA, _PADDING, _EXTEND, _STAMP = 28, 29, 30, 31
_DELTA = 27
SLEEP = re.compile("sys_clock_nanosleep$")
FEW = 200
UNKNOWN = ""
"""Whatever called the first function that the tracer sees: a program, or code that it must not see."""


class Event(Struct, frozen=True):
    """A call or a return."""

    pid: int
    is_call: bool
    function: int
    before_ns: int
    """When the tracer began with it, and when it was done."""
    after_ns: int


class Traced(Struct, frozen=True):
    """From the timer's release to the end of the sleeping task's system call."""

    own_ns: Mapping[str, int]
    """By function, without the tracer."""
    whole_ns: int
    """Without the tracer."""
    calls: Mapping[str, int]
    """How often which function was called."""


def events(files: Mapping[str, bytes]) -> Iterator[Event]:
    """All that is in the buffer."""
    kinds = {_format(files[name].decode())[0]: name for name in ("entry", "exit")}
    fields = {name: _format(files[name].decode())[1] for name in ("entry", "exit")}
    for at_ns, data in _records(files["events"]):
        name = kinds.get(struct.unpack_from("<H", data)[0])
        if name is None:
            continue
        values = {key: _number(data, *place) for key, place in fields[name].items()}
        if name == "entry":
            yield Event(values["common_pid"], True, values["func"], at_ns, at_ns)
        else:
            yield Event(values["common_pid"], False, values["func"], values["rettime"], at_ns)


def _format(text: str) -> tuple[int, dict[str, tuple[int, int]]]:
    number = re.search(r"^ID: (\d+)", text, re.MULTILINE)
    assert number is not None, text
    places = re.findall(r"(\w+);\s+offset:(\d+);\s+size:(\d+);", text)
    return int(number[1]), {name: (int(offset), int(size)) for name, offset, size in places}


def _number(data: bytes, offset: int, size: int) -> int:
    return int.from_bytes(data[offset : offset + size], "little")


def _records(buffer: bytes) -> Iterator[tuple[int, bytes]]:
    """Each record of the ring buffer, and its time."""
    for page in range(0, len(buffer) - PAGE + 1, PAGE):
        at_ns, commit = struct.unpack_from("<QQ", buffer, page)
        at, end = page + HEAD, page + HEAD + (commit & _COMMIT)
        while at < end:
            word, more = struct.unpack_from("<II", buffer, at)
            kind, delta = word & 31, word >> 5
            if kind == _PADDING and delta == 0:
                break
            at_ns += delta
            if kind == _EXTEND:
                at_ns += more << _DELTA
            elif kind == _STAMP:
                at_ns = (more << _DELTA) + delta
            size = 4 * kind if 0 < kind <= _LAST_DATA else 4 if kind >= _EXTEND else more
            start = at + (4 if 0 < kind <= _LAST_DATA else 8)
            if kind <= _LAST_DATA:
                yield at_ns, buffer[start : at + 4 + size]
            at += 4 + size


def _costs_ns(found: Sequence[Event]) -> Counter[tuple[bool, bool]]:
    """Of each pair of kinds the shortest distance, but for a few: an interrupt can come amid the tracer."""
    distances: dict[tuple[bool, bool], list[int]] = {}
    for one, other in pairwise(found):
        if one.pid == other.pid:
            distances.setdefault((one.is_call, other.is_call), []).append(other.before_ns - one.after_ns)
    return Counter({pair: sorted(each)[len(each) // FEW] for pair, each in distances.items()})


def traced(files: Mapping[str, bytes], symbols: Symbols, latencies_ns: Sequence[int]) -> list[Traced]:
    """The last releases of a task that sleeps in `clock_nanosleep`, with these latencies, as far as the buffer
    reaches back."""
    found = list(events(files))
    indices = symbols.indices(np.array([each.function for each in found], dtype=np.uint64))
    names = [symbols.name(int(index)) for index in indices]
    ends = [at for at, each in enumerate(found) if not each.is_call and SLEEP.search(names[at])]
    task = Counter(found[at].pid for at in ends).most_common(1)[0][0]
    ends = [at for at in ends if found[at].pid == task]
    count = min(len(ends), len(latencies_ns)) - 1  # the buffer may begin amid the first of them
    stretches = [
        (found[at].before_ns - latency_ns, found[at].before_ns)
        for at, latency_ns in zip(ends[-count:], latencies_ns[-count:], strict=True)
    ]
    return list(_divided(found, names, stretches))


def _divided(
    found: Sequence[Event], names: Sequence[str], stretches: Sequence[tuple[int, int]]
) -> Iterator[Traced]:
    cost_ns = _costs_ns(found)
    stacks: dict[int, list[str]] = {}
    waiting = iter([*stretches, (1 << 62, 1 << 62)])
    begin_ns, end_ns = next(waiting)
    own: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for at, (one, other) in enumerate(pairwise(found)):
        stack = stacks.setdefault(one.pid, [])
        if one.is_call:
            stack.append(names[at])
        elif stack:
            stack.pop()
        if other.before_ns > begin_ns:
            ns = other.before_ns - max(one.after_ns, begin_ns) - cost_ns[one.is_call, other.is_call]
            own[stack[-1] if stack else UNKNOWN] += max(0, ns)
            if one.is_call and one.after_ns >= begin_ns:
                calls[names[at]] += 1
        if other.before_ns >= end_ns:
            yield Traced(own, own.total(), calls)
            begin_ns, end_ns = next(waiting)
            own, calls = Counter(), Counter()
