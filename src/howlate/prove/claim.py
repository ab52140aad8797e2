"""What a searched landscape states, with what that does not cover in the same sentence (docs/lab/prove.md). Pure."""

from __future__ import annotations

from typing import Any

from howlate.prove.proof import Proof
from howlate.words.say import english, to_json
from howlate.words.statement import Statement, rule

COVERED = "Only for this phase of the load against the tick, not for other phases, other loads or hardware, "
CLAIM = rule("proof.claim", COVERED + "and for a single release: {claim}")
CLAIM_ARMED = rule(
    "proof.claim-armed",
    COVERED + "and for a single release, which is armed at least {ahead_ns:exact} ahead: {claim}",
)


def claim_of(proof: Proof) -> Statement:
    """The sentence of a searched landscape, inside what it is about."""
    ahead_ns = least_ahead_ns(proof)
    if ahead_ns is None:
        return CLAIM(claim=proof.sentence())
    return CLAIM_ARMED(ahead_ns=ahead_ns, claim=proof.sentence())


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
