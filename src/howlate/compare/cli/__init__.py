"""The commands of comparisons."""
