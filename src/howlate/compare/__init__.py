"""What differs between runs, and whether that can be shown (docs/compare.md)."""
