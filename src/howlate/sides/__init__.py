"""Runs beside each other: joined, paired, and the ratios of one side to another."""
