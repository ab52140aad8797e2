"""The formats of causes."""
