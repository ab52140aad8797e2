"""Why samples were late, by the kernel's own events (docs/why.md); below it: the lab's replay, advise, calibrate."""
