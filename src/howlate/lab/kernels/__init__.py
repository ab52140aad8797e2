"""Kernels: their names, files, configurations, modules."""
