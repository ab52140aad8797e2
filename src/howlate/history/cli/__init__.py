"""The commands of many runs."""
