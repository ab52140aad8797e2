"""Signals, outputs and paths: what howlate has of the operating system."""
