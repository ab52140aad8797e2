"""What a searched landscape states, with what that does not cover in the same sentence (docs/lab/prove.md). Pure."""

from __future__ import annotations

from typing import Any

from howlate.prove.proof import Proof
from howlate.words.say import english, to_json
from howlate.words.statement import Statement, message

CLAIM = message(
    "proof.claim-of-phase",
    "Only for this phase of the load against the tick, not for other phases, loads or hardware, and for {release}: "
    "{claim}",
)
RELEASE = message("proof.release", "a single release")
ARMED = message("proof.release-armed", "a single release that is armed at least {ahead_ns:exact} ahead")


def claim_of(proof: Proof) -> Statement:
    """The sentence of a searched landscape, inside what it is about."""
    ahead_ns = least_ahead_ns(proof)
    release = RELEASE() if ahead_ns is None else ARMED(ahead_ns=ahead_ns)
    return CLAIM(release=release, claim=proof.sentence())


def least_ahead_ns(proof: Proof) -> int | None:
    """How long before its release a timer was armed at least; None where that was not measured everywhere."""
    measured = [witness.ahead_ns for witness in proof.witnesses]
    known = [ahead_ns for ahead_ns in measured if ahead_ns is not None]
    return min(known) if known and len(known) == len(measured) else None


def claim_to_json(proof: Proof) -> dict[str, Any]:
    """A searched landscape for `--json`, with that sentence."""
    claim = claim_of(proof)
    said = {"sentence": english(claim), "statement": to_json(claim)}
    return {**proof.to_json(), "armed_ahead_ns": least_ahead_ns(proof), **said}
