"""NMIs, as far as events show them: each handler says at its end how long it took. The kernel counts an NMI as a hard
interrupt in an event's flags, though no interrupt is being handled. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from howlate.model.cause import CausePart
from howlate.model.trace import TraceEvent, TraceNames

NMI_FLAG = 0x40
"""Of an event's flags: it was in an NMI; as in the kernel's TRACE_FLAG_NMI."""
_HANDLER = "nmi_handler"


def is_in_nmi(event: TraceEvent) -> bool:
    """Whether an event was in an NMI, so that its other flags are not of what the CPU was executing."""
    return event.kind == _HANDLER or bool(event.flags & NMI_FLAG)


def nmis_of(
    events: Sequence[TraceEvent], names: TraceNames, release_ns: int
) -> list[tuple[int, int, str, int]]:
    """From and to, since the release, the handler and the CPU of each NMI. A handler did not begin before the last
    event of its CPU outside of NMIs, whatever it says."""
    found: list[tuple[int, int, str, int]] = []
    last_ns: dict[int, int] = {}
    for event in events:
        if event.kind == _HANDLER:
            from_ns = max(event.time_ns - event.b, last_ns.get(event.cpu, event.time_ns - event.b))
            to_ns = event.time_ns - release_ns
            found.append((from_ns - release_ns, to_ns, names.function(event.a), event.cpu))
        elif not is_in_nmi(event):
            last_ns[event.cpu] = event.time_ns
    return found


def nmi_ns(nmis: Sequence[tuple[int, int, str]], part: CausePart) -> int:
    to_ns = part.from_ns + part.ns
    return sum(max(0, min(until, to_ns) - max(since, part.from_ns)) for since, until, _name in nmis)
