"""PASS, FAIL or INCONCLUSIVE: what a run allows one to promise (docs/verdict.md)."""
