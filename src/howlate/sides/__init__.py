"""Several runs: joined, paired, and the ratios of one side to another."""
