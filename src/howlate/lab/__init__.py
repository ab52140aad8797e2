"""The lab: kernels that can be had, guests made of them, and what was measured in them (docs/lab/)."""
