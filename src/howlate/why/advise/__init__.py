"""What each knob of a machine buys (docs/advise.md)."""
