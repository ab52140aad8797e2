"""The lines of source at which the time of a latency was spent, where debug information is given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping

import numpy as np
from msgspec.structs import replace

from howlate.model.cause import Lateness
from howlate.replay.execution import Execution

Lines = Callable[[Collection[int]], Mapping[int, str]]
"""A line for each address that has one."""


def with_places(lateness: Lateness, execution: Execution, release_ns: int, lines: Lines) -> Lateness:
    """The same with the line of each function, and of each part's, at which most of its own time was spent; of a
    function without any, where it begins. The release is an instant of the machine's clock."""
    times_ns = np.clip(execution.times_ns - release_ns, 0, lateness.latency_ns)
    spent_ns = np.diff(times_ns)
    names = execution.symbols.names
    starts = dict(zip(names, execution.symbols.starts.tolist(), strict=True))
    callers = {name for stack, _ns in lateness.stacks for name in stack if name in starts}
    distinct = np.unique(execution.addresses[spent_ns > 0]).tolist()
    found = lines({*distinct, *(starts[name] for name in callers)})

    def most_in(from_ns: int, to_ns: int) -> dict[str, str]:
        """By function, in this part of the time."""
        within = slice(*np.searchsorted(times_ns, (from_ns, to_ns)).tolist())
        counted: dict[str, Counter[str]] = {}
        for address, function, ns in zip(
            execution.addresses[within].tolist(),
            execution.functions[within].tolist(),
            spent_ns[within].tolist(),
            strict=True,
        ):
            if ns and address in found:
                counted.setdefault(execution.symbols.name(function), Counter())[found[address]] += ns
        return {name: each.most_common(1)[0][0] for name, each in counted.items()}

    beginnings = {name: found[starts[name]] for name in callers if starts[name] in found}
    parts = tuple(
        replace(part, place=most_in(part.from_ns, part.from_ns + part.ns).get(part.function, ""))
        for part in lateness.parts
    )
    return replace(lateness, parts=parts, places={**beginnings, **most_in(0, lateness.latency_ns)})
