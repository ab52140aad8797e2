"""Turns a study into its cells: changes, checks, matrix, order, resume. Pure: no file and no process."""
