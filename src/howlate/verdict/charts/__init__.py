"""The charts of verdicts."""
