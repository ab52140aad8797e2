"""Pure functions on arrays: no file, no process. Each has its formula, its source and a literal test
(docs/statistics.md)."""
