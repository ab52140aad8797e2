"""Files: the probe's stream, run folders, Parquet, summaries, export. The only place that opens them."""
