"""The latest releases of a searched landscape that were late for a cause of their own (docs/lab/prove.md). Pure."""

from __future__ import annotations

from msgspec import Struct

from howlate.model.cause import Lateness
from howlate.prove.landscape import Probed, wait_together
from howlate.prove.proof import Proof


class LateRelease(Struct, frozen=True):
    """A probe, and where its time went."""

    probe: Probed
    why: Lateness


def latest_of(proof: Proof, most: int) -> list[Probed]:
    """The latest probes, the found one first. Releases that wait together wait for the same: of those only the latest
    one counts, which is one tooth of the landscape."""
    inside = (probe for probe in proof.probes if proof.window.holds(probe.at_ns))
    chosen = [proof.latest]
    for probe in sorted(inside, key=lambda probe: (-probe.latency_ns, probe.at_ns)):
        if len(chosen) >= most:
            break
        if not any(wait_together(min(probe, other), max(probe, other)) for other in chosen):
            chosen.append(probe)
    return chosen
