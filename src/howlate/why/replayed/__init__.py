"""Why samples of the lab were late, by every instruction (docs/why.md)."""
