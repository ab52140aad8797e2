"""Files: the probe's stream, run folders, Parquet, summaries, export. Only this room opens them."""
