"""What are the values of a run, for a program or a notebook? `howlate.load(RUN)` (docs/build-on-it.md)."""
