"""The commands of verdicts."""
