"""The first screen of a run, and its one line for scripts (docs/first-screen.md)."""
