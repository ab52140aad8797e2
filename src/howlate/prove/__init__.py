"""How late a single release can be in the lab: searched and bounded (docs/lab/prove.md)."""
