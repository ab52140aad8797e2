"""Formats that the published studies print."""
