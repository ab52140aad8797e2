"""PASS, FAIL or INCONCLUSIVE: what a run allows one to promise (docs/verdict.md)."""

MOST_ROUNDS = 1_000
