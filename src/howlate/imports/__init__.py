"""Measurements of other programs, and those made by hand, as runs (docs/import.md)."""
