"""The command that imports."""
